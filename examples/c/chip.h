/* Simulated chips in RAM, for the programs beside. They are strict: a driver's mistake, or one of the file system, aborts. */

#ifndef CHIP_H
#define CHIP_H

#include "steadyfs.h"

#if __STDC_HOSTED__
#include <string.h>
#else
/* Without a C library these come with steadyfs. */
void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *one, const void *other, size_t bytes);
#endif

/* Power, which fails in the program or erase with this number, counted from 1; 0: never. */
struct power {
    uint64_t operations;
    uint64_t cut_at;
    bool is_off;
    uint32_t random;
};

struct nor_chip {
    struct power *power;
    uint32_t erase_bytes, erase_count;
    uint8_t *bytes;
    uint8_t *written; /* a flag for each byte: it was programmed since the last erase */
};

struct nand_chip {
    struct power *power;
    uint32_t page_bytes, pages_per_block, block_count;
    uint8_t *data, *tags;
    uint8_t *written;    /* a flag for each page: it was programmed since the last erase */
    uint32_t *next;      /* for each block: the first page that may be programmed */
    uint32_t bad_block;  /* one that the maker marked bad */
    uint32_t programs;   /* how many there were */
    uint32_t fails_at;   /* the program with this number, counted from 1, fails, and its block is bad; 0: none does */
    uint32_t gone_bad;   /* that block, as is marked then */
    bool is_marked;
};

struct card {
    struct power *power;
    uint32_t sector_count;
    uint8_t *bytes;
};

uint32_t random_number(uint32_t *state);

/* Make the driver of a chip that is there: `driver->context` is the chip. */
void nor_attach(struct nor_chip *chip, struct power *power, struct steadyfs_nor *driver);
void nand_attach(struct nand_chip *chip, struct power *power, struct steadyfs_nand *driver);

/* Each makes an erased chip, and the driver for it. */
void nor_new(struct nor_chip *chip, struct power *power, uint32_t erase_bytes, uint32_t erase_count, struct steadyfs_nor *driver);
void nand_new(struct nand_chip *chip, struct power *power, uint32_t page_bytes, uint32_t pages_per_block, uint32_t block_count,
              struct steadyfs_nand *driver);
void card_new(struct card *card, struct power *power, uint32_t sector_count, struct steadyfs_sectors *driver);

/* Makes a chip hold what another one of its size holds. */
void nor_copy(struct nor_chip *to, const struct nor_chip *from);
void nand_copy(struct nand_chip *to, const struct nand_chip *from);
void card_copy(struct card *to, const struct card *from);

void nor_free(struct nor_chip *chip);
void nand_free(struct nand_chip *chip);
void card_free(struct card *card);

/* What the place offers where the chips are: host.c, or a board. Memory, or an end; and the end of a program that misuses a chip. */
void *need(size_t bytes);
void misuse(const char *what, uint32_t where);

#endif
