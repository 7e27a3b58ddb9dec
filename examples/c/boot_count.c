/*
 * Counts boots in a file: the task of the example in littlefs's README, with the calls of
 * SteadyFS. Each call of `boot` is a boot of a board, whose chip keeps its data. One boot loses
 * power while it closes the file: the count is then the old or the new one.
 */

#include "chip.h"

#include <stdio.h>
#include <string.h>

static steadyfs_nor nor;     /* callbacks, sizes and longest times of the chip */
static uint8_t memory[4096]; /* steadyfs_memory_bytes returns the needed size */
static struct power power = {.random = 1};

/* Mounts the volume, adds 1 to the count in its file, and returns the count or an error. */
static int64_t boot(void)
{
    const steadyfs_config config = {.nor = &nor, .memory = memory, .memory_bytes = sizeof memory};
    steadyfs_t fs = {0};
    steadyfs_file_t file;
    uint32_t boot_count = 0;

    /* Format only a chip without a volume: this happens at the first boot. */
    int error = steadyfs_mount(&fs, &config);
    if (error == STEADYFS_ERR_NOTFORMATTED && (error = steadyfs_format(&fs, &config)) == 0)
        error = steadyfs_mount(&fs, &config);
    if (error == 0)
        error = steadyfs_file_open(&fs, &file, "boot_count", STEADYFS_O_RDWR | STEADYFS_O_CREAT);
    /* A new file has no bytes: the count stays 0. */
    if (error == 0)
        error = (int)steadyfs_file_read(&fs, &file, &boot_count, sizeof boot_count);
    if (error >= 0) {
        boot_count++;
        error = (int)steadyfs_file_rewind(&fs, &file);
    }
    if (error == 0)
        error = (int)steadyfs_file_write(&fs, &file, &boot_count, sizeof boot_count);
    if (error >= 0)
        error = steadyfs_file_close(&fs, &file); /* the count is on the chip when it returns */
    if (error == 0)
        error = steadyfs_unmount(&fs);
    return error < 0 ? error : (int64_t)boot_count;
}

int main(void)
{
    struct nor_chip chip;
    int64_t count = 0;
    nor_new(&chip, &power, 4096, 256, &nor);
    for (int boots = 0; boots < 3; boots++) {
        count = boot();
        if (count < 0) {
            printf("%s\n", steadyfs_error_string((int)count));
            return 1;
        }
        printf("boot_count: %ld\n", (long)count);
    }

    power.cut_at = power.operations + 1;
    if (boot() >= 0)
        return 1;
    power.is_off = false;
    power.cut_at = 0;
    count = boot();
    printf("boot_count: %ld, after a boot without power for its write\n", (long)count);
    nor_free(&chip);
    return count == 4 || count == 5 ? 0 : 1;
}
