/*
 * Tests the glue in zephyr/ on the host: makes calls through Zephyr's table of calls to a volume
 * on a simulated chip.
 */

#define _POSIX_C_SOURCE 200809L

#include "chip.h"

#include "zephyr/steadyfs_zephyr.c"

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(is)                                               \
    do {                                                         \
        if (!(is)) {                                             \
            fprintf(stderr, "line %d: not %s\n", __LINE__, #is); \
            exit(1);                                             \
        }                                                        \
    } while (0)

static const struct fs_file_system_t *registered;

/* Stands for Zephyr's functions. */
int fs_register(int type, const struct fs_file_system_t *fs)
{
    registered = fs;
    return type == STEADYFS_ZEPHYR_TYPE ? 0 : -EINVAL;
}

const char *fs_impl_strip_prefix(const char *path, const struct fs_mount_t *mount)
{
    return path[mount->mountp_len] == 0 ? "/" : path + mount->mountp_len;
}

int main(void)
{
    static uint8_t memory[8192];
    static struct steadyfs_zephyr volume;
    struct power power = {.random = 1};
    struct nor_chip chip;
    steadyfs_nor nor;
    struct fs_mount_t mount = {.type = STEADYFS_ZEPHYR_TYPE, .mnt_point = "/data", .fs_data = &volume, .mountp_len = 5, .flags = FS_MOUNT_FLAG_NO_FORMAT};
    struct fs_file_t file = {.mp = &mount};
    struct fs_dir_t dir = {.mp = &mount};
    struct fs_dirent entry;
    struct fs_statvfs stat;
    char found[16] = {0};
    static const char piece[4096] = {1};
    size_t written = 0;

    nor_new(&chip, &power, 4096, 256, &nor);
    volume.config = (steadyfs_config){.nor = &nor, .memory = memory, .memory_bytes = sizeof memory};
    EXPECT(steadyfs_zephyr_register() == 0);
    EXPECT(registered->mount(&mount) == -EIO); /* the chip is blank, and the mount must not format it */
    mount.flags = 0;
    EXPECT(registered->mount(&mount) == 0);
    EXPECT(registered->open(&file, "/data/log", FS_O_READ) == -ENOENT);
    EXPECT(registered->open(&file, "/data/log", FS_O_READ | FS_O_WRITE | FS_O_CREATE) == 0);
    EXPECT(registered->write(&file, "21.5 degrees\n", 13) == 13 && registered->tell(&file) == 13);
    EXPECT(registered->lseek(&file, -8, FS_SEEK_END) == 0 && registered->read(&file, found, 16) == 8);
    EXPECT(memcmp(found, "degrees\n", 8) == 0 && registered->truncate(&file, 4) == 0 && registered->sync(&file) == 0);
    EXPECT(registered->close(&file) == 0 && registered->mkdir(&mount, "/data/old") == 0);
    EXPECT(registered->rename(&mount, "/data/log", "/data/old/log") == 0);
    EXPECT(registered->stat(&mount, "/data/old/log", &entry) == 0 && entry.size == 4 && entry.type == FS_DIR_ENTRY_FILE);
    EXPECT(registered->opendir(&dir, "/data/old") == 0 && registered->readdir(&dir, &entry) == 0 && strcmp(entry.name, "log") == 0);
    EXPECT(registered->readdir(&dir, &entry) == 0 && entry.name[0] == 0 && registered->closedir(&dir) == 0);
    EXPECT(registered->unlink(&mount, "/data/old") == -ENOTEMPTY && registered->unlink(&mount, "/data/old/log") == 0);
    EXPECT(registered->statvfs(&mount, "/data", &stat) == 0 && stat.f_bfree > 100 && stat.f_bfree <= stat.f_blocks);
    /* After a removal from a full volume, a write finds room, so statvfs must report this room. */
    EXPECT(registered->open(&file, "/data/large", FS_O_WRITE | FS_O_CREATE) == 0);
    while (registered->write(&file, piece, sizeof piece) > 0)
        written += sizeof piece;
    EXPECT(registered->close(&file) == 0 && registered->unlink(&mount, "/data/large") == 0);
    EXPECT(registered->statvfs(&mount, "/data", &stat) == 0 && stat.f_bfree * stat.f_frsize >= written);
    EXPECT(registered->unmount(&mount) == 0 && registered->mount(&mount) == 0);
    EXPECT(registered->stat(&mount, "/data/old", &entry) == 0 && entry.type == FS_DIR_ENTRY_DIR);
    EXPECT(registered->unmount(&mount) == 0);
    nor_free(&chip);
    printf("the table of calls does what Zephyr asks\n");
    return 0;
}
