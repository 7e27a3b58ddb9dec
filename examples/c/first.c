/*
 * From a chip to a first file: the program of docs/guide/getting-started.md. The chip here is
 * simulated. On a board, the callbacks are your driver's.
 */

#include "chip.h"

#include <stdio.h>
#include <string.h>

static steadyfs_nor nor;       /* callbacks, sizes and longest times of the chip */
static uint8_t memory[2851];   /* what steadyfs_memory_bytes says for this chip */
static steadyfs_t fs;

/* Mounts the volume. Formats it first if the chip has none. */
static int start(void)
{
    const steadyfs_config config = {.nor = &nor, .memory = memory, .memory_bytes = sizeof memory};
    int error = steadyfs_mount(&fs, &config);
    if (error == STEADYFS_ERR_NOTFORMATTED && (error = steadyfs_format(&fs, &config)) == 0)
        error = steadyfs_mount(&fs, &config);
    return error;
}

/* Appends a line to the log. */
static int log_line(const char *line)
{
    steadyfs_file_t file;
    int error = steadyfs_file_open(&fs, &file, "log", STEADYFS_O_RDWR | STEADYFS_O_CREAT | STEADYFS_O_APPEND | STEADYFS_O_DURABLE);
    if (error == 0 && (error = (int)steadyfs_file_write(&fs, &file, line, (uint32_t)strlen(line))) >= 0)
        error = steadyfs_file_close(&fs, &file);
    return error < 0 ? error : 0;
}

/* Prints the longest time of a line. */
static int print_bound(uint32_t bytes)
{
    steadyfs_file_t file;
    steadyfs_cost cost;
    int error = steadyfs_file_open(&fs, &file, "log", STEADYFS_O_RDWR | STEADYFS_O_DURABLE);
    if (error == 0 && (error = steadyfs_bound_file_write(&fs, &file, bytes, &cost)) == 0) {
        printf("a line takes at most %lu us\n", (unsigned long)(cost.time_ns / 1000));
        error = steadyfs_file_close(&fs, &file);
    }
    return error;
}

int main(void)
{
    struct power power = {.random = 1};
    struct nor_chip chip;
    steadyfs_info info;
    int error;

    nor_new(&chip, &power, 4096, 256, &nor);
    error = start();
    if (error == 0)
        error = log_line("21.5 degrees\n");
    if (error == 0)
        error = print_bound(13);
    if (error < 0) {
        printf("%s\n", steadyfs_error_string(error));
        return 1;
    }
    /* Power fails somewhere in the next program. */
    power.cut_at = power.operations + 1;
    if (log_line("21.6 degrees\n") == 0)
        return 1;
    power.is_off = false;
    power.cut_at = 0;

    memset(&fs, 0, sizeof fs); /* the board starts again */
    error = start();
    if (error == 0)
        error = steadyfs_stat(&fs, "log", &info);
    if (error < 0 || (info.size != 13 && info.size != 26))
        return 1;
    printf("the log has %lu bytes: all that was acknowledged\n", (unsigned long)info.size);
    error = steadyfs_unmount(&fs); /* before power is switched off: the next mount need not search */
    nor_free(&chip);
    return error < 0;
}
