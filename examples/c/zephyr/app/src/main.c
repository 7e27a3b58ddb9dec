/*
 * A log on a volume of SteadyFS, through Zephyr's calls. The chip is simulated in RAM: replace it
 * by your driver.
 */

#include "chip.h"

#include "steadyfs_zephyr.h"

#include <stdlib.h>
#include <string.h>
#include <zephyr/kernel.h>

static uint8_t memory[8192];
static struct power power = {.random = 1};
static struct nor_chip chip;
static steadyfs_nor nor;
static struct steadyfs_zephyr volume = {
    .config = {.nor = &nor, .memory = memory, .memory_bytes = sizeof memory},
};
static struct fs_mount_t data = {
    .type = STEADYFS_ZEPHYR_TYPE, .mnt_point = "/data", .fs_data = &volume,
};

/* For the simulated chip. */
void *need(size_t bytes)
{
    void *found = malloc(bytes);
    if (found == NULL)
        misuse("no memory", 0);
    return found;
}

void misuse(const char *what, uint32_t where)
{
    printk("misuse of the chip: %s at %u\n", what, (unsigned)where);
    k_panic();
}

static int append(const char *line)
{
    struct fs_file_t file;
    int error;
    fs_file_t_init(&file);
    error = fs_open(&file, "/data/a log with a long name", FS_O_CREATE | FS_O_WRITE | FS_O_APPEND);
    if (error != 0)
        return error;
    ssize_t written = fs_write(&file, line, strlen(line));
    error = fs_close(&file); /* durable when it returns */
    return written < 0 ? (int)written : error;
}

int main(void)
{
    struct fs_dirent entry;
    int error;
    nor_new(&chip, &power, 4096, 64, &nor);
    error = steadyfs_zephyr_register();
    /* Each line has a mount of its own. */
    for (int round = 0; error == 0 && round < 3; round++) {
        error = fs_mount(&data);
        error = error != 0 ? error : append("21.5 degrees\n");
        error = error != 0 ? error : fs_unmount(&data);
    }
    error = error != 0 ? error : fs_mount(&data);
    error = error != 0 ? error : fs_stat("/data/a log with a long name", &entry);
    if (error == 0)
        printk("%s: %u bytes\n", entry.name, (unsigned)entry.size);
    else
        printk("error %d\n", error);
    return error;
}
