/*
 * Simulated chips in RAM, for the programs in this folder. They are strict: a mistake of a driver
 * or of the file system aborts.
 */

#ifndef CHIP_H
#define CHIP_H

#include "steadyfs.h"

#if __STDC_HOSTED__
#include <string.h>
#else
/* Without a C library, steadyfs contains these functions. */
void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *one, const void *other, size_t bytes);
#endif

/*
 * The power supply. Power fails in the program or erase number `cut_at`, counted from 1; 0:
 * never.
 */
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
    uint8_t *written; /* for each byte: 1 if it was programmed since the last erase */
};

struct nand_chip {
    struct power *power;
    uint32_t page_bytes, pages_per_block, block_count;
    uint8_t *data, *tags;
    uint8_t *written;    /* for each page: 1 if it was programmed since the last erase */
    uint32_t *next;      /* for each block: the first page that may be programmed */
    uint32_t bad_block;  /* a factory-bad block */
    uint32_t programs;   /* number of programs so far */
    uint32_t fails_at;   /* the number of the program that fails, counted from 1; its block goes bad; 0: none fails */
    uint32_t gone_bad;   /* the block that went bad; is_marked after it is marked */
    bool is_marked;
};

struct card {
    struct power *power;
    uint32_t sector_count;
    uint8_t *bytes;
};

uint32_t random_number(uint32_t *state);

/* Fills in the driver of an existing chip: `driver->context` is the chip. */
void nor_attach(struct nor_chip *chip, struct power *power, struct steadyfs_nor *driver);
void nand_attach(struct nand_chip *chip, struct power *power, struct steadyfs_nand *driver);

/* Creates an erased chip, and the driver for it. */
void nor_new(struct nor_chip *chip, struct power *power, uint32_t erase_bytes, uint32_t erase_count, struct steadyfs_nor *driver);
void nand_new(struct nand_chip *chip, struct power *power, uint32_t page_bytes, uint32_t pages_per_block, uint32_t block_count,
              struct steadyfs_nand *driver);
void card_new(struct card *card, struct power *power, uint32_t sector_count, struct steadyfs_sectors *driver);

/* Copies the contents of a chip to another chip of the same size. */
void nor_copy(struct nor_chip *to, const struct nor_chip *from);
void nand_copy(struct nand_chip *to, const struct nand_chip *from);
void card_copy(struct card *to, const struct card *from);

void nor_free(struct nor_chip *chip);
void nand_free(struct nand_chip *chip);
void card_free(struct card *card);

/*
 * The platform provides these functions: host.c, or a board. `need` returns memory or ends the
 * program. `misuse` ends a program that misuses a chip.
 */
void *need(size_t bytes);
void misuse(const char *what, uint32_t where);

#endif
