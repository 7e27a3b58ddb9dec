/*
 * Formats a NOR and a NAND chip, mounts both at once, and logs to both. Prints the longest time
 * of each call, and reads the logs back.
 */

#include "chip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS 200
#define RECORD_BYTES 24

/* Ends the program if a call fails. */
#define TRY(call) try_it((int64_t)(call), #call)

static int64_t try_it(int64_t result, const char *call)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", call, steadyfs_error_string((int)result));
        exit(1);
    }
    return result;
}

static void print_bound(const char *call, const steadyfs_cost *cost)
{
    printf("  %-26s at most %4u reads, %2u programs, %u erases, %7.1f ms\n", call, (unsigned)(cost->reads + cost->tag_reads),
           (unsigned)(cost->programs + cost->copies), (unsigned)cost->erases, (double)cost->time_ns / 1e6);
}

static void make_record(char record[RECORD_BYTES + 1], unsigned number)
{
    snprintf(record, RECORD_BYTES + 1, "%06u %4.1f degrees    \n", number % 1000000, 20 + number % 50 / 10.0);
}

/* Gives memory to a volume, formats it if the chip has none, and mounts it. */
static void *start(steadyfs_t *fs, steadyfs_config *config, const char *name)
{
    int error;
    config->memory_bytes = (size_t)TRY(steadyfs_memory_bytes(config));
    config->memory = need(config->memory_bytes); /* on a microcontroller: a static array */
    error = steadyfs_mount(fs, config);
    if (error == STEADYFS_ERR_NOTFORMATTED) {
        TRY(steadyfs_format(fs, config));
        error = steadyfs_mount(fs, config);
    }
    TRY(error);
    printf("%s: %u bytes of RAM beside the %u of steadyfs_t\n", name, (unsigned)config->memory_bytes, (unsigned)sizeof *fs);
    return config->memory;
}

static void print_bounds(steadyfs_t *fs, steadyfs_file_t *file)
{
    steadyfs_cost cost;
    TRY(steadyfs_bound_file_open(fs, "data/log", STEADYFS_O_RDWR | STEADYFS_O_CREAT, &cost));
    print_bound("open, perhaps create", &cost);
    TRY(steadyfs_bound_file_write(fs, file, RECORD_BYTES, &cost));
    print_bound("write of a record, durable", &cost);
    TRY(steadyfs_bound_file_read(fs, 4096, &cost));
    print_bound("read of 4 KiB", &cost);
    TRY(steadyfs_bound_rename(fs, "data/log", "data/log.1", &cost));
    print_bound("rename", &cost);
    TRY(steadyfs_bound_mount(fs, &cost));
    print_bound("mount after a power cut", &cost);
}

static void use(steadyfs_t *fs)
{
    steadyfs_file_t file;
    steadyfs_dir_t dir;
    steadyfs_info info;
    char record[RECORD_BYTES + 1], found[RECORD_BYTES];
    const int flags = STEADYFS_O_RDWR | STEADYFS_O_CREAT | STEADYFS_O_APPEND | STEADYFS_O_DURABLE;

    TRY(steadyfs_mkdir(fs, "data"));
    TRY(steadyfs_file_open(fs, &file, "data/log", flags));
    for (unsigned number = 0; number < RECORDS; number++) {
        make_record(record, number);
        TRY(steadyfs_file_write(fs, &file, record, RECORD_BYTES)); /* on the chip when it returns */
    }
    print_bounds(fs, &file);
    TRY(steadyfs_file_rewind(fs, &file));
    for (unsigned number = 0; number < RECORDS; number++) {
        make_record(record, number);
        if (TRY(steadyfs_file_read(fs, &file, found, RECORD_BYTES)) != RECORD_BYTES || memcmp(found, record, RECORD_BYTES) != 0) {
            fprintf(stderr, "record %u is not what was written\n", number);
            exit(1);
        }
    }
    TRY(steadyfs_file_close(fs, &file));
    TRY(steadyfs_setattr(fs, "data/log", "unit", "degrees", 7));
    TRY(steadyfs_rename(fs, "data/log", "data/log.1"));
    TRY(steadyfs_dir_open(fs, &dir, "data"));
    while (TRY(steadyfs_dir_read(fs, &dir, &info)))
        printf("  %s: %lu bytes\n", info.name, (unsigned long)info.size);
    TRY(steadyfs_dir_close(fs, &dir));
}

int main(void)
{
    struct power power = {.random = 1};
    struct nor_chip nor_chip;
    struct nand_chip nand_chip;
    steadyfs_nor nor;
    steadyfs_nand nand;
    steadyfs_t on_nor = {0}, on_nand = {0};
    steadyfs_config nor_config = {.nor = &nor}, nand_config = {.nand = &nand};
    void *memories[2];

    nor_new(&nor_chip, &power, 4096, 256, &nor);
    nand_new(&nand_chip, &power, 2048, 64, 64, &nand);
    memories[0] = start(&on_nor, &nor_config, "1 MiB of NOR");
    memories[1] = start(&on_nand, &nand_config, "8 MiB of NAND");
    printf("on NOR\n");
    use(&on_nor);
    printf("on NAND\n");
    use(&on_nand);
    TRY(steadyfs_unmount(&on_nor));
    TRY(steadyfs_unmount(&on_nand));

    /* The written data is there after a mount. */
    for (int which = 0; which < 2; which++) {
        steadyfs_t *fs = which ? &on_nand : &on_nor;
        steadyfs_info info;
        char unit[16];
        TRY(steadyfs_mount(fs, which ? &nand_config : &nor_config));
        TRY(steadyfs_stat(fs, "data/log.1", &info));
        if (info.size != RECORDS * RECORD_BYTES || TRY(steadyfs_getattr(fs, "data/log.1", "unit", unit, sizeof unit)) != 7) {
            fprintf(stderr, "the log is not there\n");
            return 1;
        }
        TRY(steadyfs_unmount(fs));
        free(memories[which]);
    }
    nor_free(&nor_chip);
    nand_free(&nand_chip);
    printf("all records are there\n");
    return 0;
}
