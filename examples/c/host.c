/* The functions that the simulated chips need, on a host. */

#include "chip.h"

#include <stdio.h>
#include <stdlib.h>

void misuse(const char *what, uint32_t where)
{
    fprintf(stderr, "misuse of the chip: %s at %u\n", what, (unsigned)where);
    abort();
}

void *need(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return memory;
}

void nor_free(struct nor_chip *chip)
{
    free(chip->bytes);
    free(chip->written);
}

void nand_free(struct nand_chip *chip)
{
    free(chip->data);
    free(chip->tags);
    free(chip->written);
    free(chip->next);
}

void card_free(struct card *card)
{
    free(card->bytes);
}
