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

static struct steadyfs_zephyr volume;
static struct power power = {.random = 1};
static struct fs_mount_t mount = {
    .type = STEADYFS_ZEPHYR_TYPE, .mnt_point = "/data", .fs_data = &volume, .mountp_len = 5,
};

/* Opens a file with these flags, makes an access and closes it. Returns the access's result. */
static ssize_t open_and(char access, const char *path, fs_mode_t flags)
{
    struct fs_file_t file = {.mp = &mount};
    char byte = 'x';
    ssize_t result = registered->open(&file, path, flags);
    if (result != 0)
        return result;
    result = access == 'r' ? registered->read(&file, &byte, 1) : registered->write(&file, &byte, 1);
    EXPECT(registered->close(&file) == 0);
    return result;
}

/* Zephyr allows reads with FS_O_READ only, and writes with FS_O_WRITE only. */
static void flags_give_access(void)
{
    EXPECT(open_and('r', "/data/flags", 0) == -ENOENT);
    EXPECT(open_and('w', "/data/flags", FS_O_CREATE) == -EACCES);
    EXPECT(open_and('w', "/data/flags", FS_O_CREATE | FS_O_READ) == -EACCES);
    EXPECT(open_and('r', "/data/flags", FS_O_CREATE | FS_O_READ) == 0);
    EXPECT(open_and('w', "/data/flags", FS_O_APPEND) == -EACCES);
    EXPECT(open_and('w', "/data/flags", FS_O_APPEND | FS_O_WRITE) == 1);
    EXPECT(open_and('r', "/data/flags", FS_O_WRITE) == -EACCES);
    EXPECT(open_and('r', "/data/flags", 0) == -EACCES);
    EXPECT(open_and('r', "/data/flags", FS_O_READ) == 1);
}

/* An open without FS_O_TRUNC keeps the contents. Zephyr before 3.7 has no FS_O_TRUNC. */
static void open_keeps_the_contents_without_truncate(void)
{
    struct fs_dirent entry;
    EXPECT(open_and('w', "/data/kept", FS_O_WRITE | FS_O_CREATE) == 1);
    EXPECT(open_and('w', "/data/kept", FS_O_WRITE | FS_O_CREATE | FS_O_APPEND) == 1);
    EXPECT(open_and('w', "/data/kept", FS_O_WRITE | FS_O_CREATE) == 1);
    EXPECT(registered->stat(&mount, "/data/kept", &entry) == 0 && entry.size == 2);
#ifdef FS_O_TRUNC
    EXPECT(open_and('r', "/data/kept", FS_O_READ | FS_O_TRUNC) == -EACCES);
    EXPECT(open_and('w', "/data/kept", FS_O_WRITE | FS_O_TRUNC) == 1);
    EXPECT(registered->stat(&mount, "/data/kept", &entry) == 0 && entry.size == 1);
#endif
}

/* A name behind MAX_FILE_NAME is an error, never a name that is cut. */
static void long_names_are_refused(void)
{
    struct fs_dir_t dir = {.mp = &mount};
    struct fs_dirent entry;
    EXPECT(open_and('w', "/data/abcdefghijkl", FS_O_WRITE | FS_O_CREATE) == 1);
    EXPECT(open_and('w', "/data/abcdefghijklm", FS_O_WRITE | FS_O_CREATE) == -ENAMETOOLONG);
    EXPECT(registered->mkdir(&mount, "/data/abcdefghijklm/") == -ENAMETOOLONG);
    EXPECT(registered->rename(&mount, "/data/kept", "/data/abcdefghijklm") == -ENAMETOOLONG);
    EXPECT(registered->stat(&mount, "/data/abcdefghijkl", &entry) == 0);
    EXPECT(strcmp(entry.name, "abcdefghijkl") == 0);

    /* The volume can have such a name from another program. */
    EXPECT(registered->mkdir(&mount, "/data/names") == 0);
    EXPECT(steadyfs_mkdir(&volume.fs, "/names/abcdefghijklm") == 0);
    EXPECT(registered->stat(&mount, "/data/names/abcdefghijklm", &entry) == -ENAMETOOLONG);
    EXPECT(registered->opendir(&dir, "/data/names") == 0);
    EXPECT(registered->readdir(&dir, &entry) == -ENAMETOOLONG);
    EXPECT(registered->readdir(&dir, &entry) == 0 && entry.name[0] == 0);
    EXPECT(registered->closedir(&dir) == 0);
    EXPECT(registered->closedir(&dir) == 0 && registered->readdir(&dir, &entry) == -EBADF);
    EXPECT(registered->stat(&mount, "/data/names", &entry) == 0 && entry.size == 0);
    EXPECT(registered->unlink(&mount, "/data/names/abcdefghijklm") == 0);
    EXPECT(registered->unlink(&mount, "/data/names") == 0);
}

/*
 * The chip fails during a close. Zephyr passes a file again after a close that failed, and a mount
 * after an unmount that failed.
 */
static void failed_close_can_be_repeated(void)
{
    struct fs_file_t file = {.mp = &mount}, others[STEADYFS_ZEPHYR_FILES];
    char byte = 'x';
    EXPECT(registered->open(&file, "/data/failed", FS_O_READ | FS_O_WRITE | FS_O_CREATE) == 0);
    EXPECT(registered->write(&file, "x", 1) == 1);
    power.is_off = true;
    EXPECT(registered->close(&file) < 0);
    EXPECT(registered->read(&file, &byte, 1) == -EBADF);
    EXPECT(registered->write(&file, "x", 1) == -EBADF);
    EXPECT(registered->lseek(&file, 0, FS_SEEK_SET) == -EBADF && registered->tell(&file) == -EBADF);
    EXPECT(registered->truncate(&file, 0) == -EBADF && registered->sync(&file) == -EBADF);
    EXPECT(registered->close(&file) == 0 && registered->close(&file) == 0);
    EXPECT(registered->unmount(&mount) < 0 && registered->unmount(&mount) == 0);
    power.is_off = false;
    EXPECT(registered->mount(&mount) == 0 && registered->mount(&mount) == -EBUSY);
    for (size_t at = 0; at < STEADYFS_ZEPHYR_FILES; at++) {
        others[at] = (struct fs_file_t){.mp = &mount};
        EXPECT(registered->open(&others[at], "/data/flags", FS_O_READ) == 0);
    }
    EXPECT(registered->open(&file, "/data/flags", FS_O_READ) == -ENFILE);
    for (size_t at = 0; at < STEADYFS_ZEPHYR_FILES; at++)
        EXPECT(registered->close(&others[at]) == 0);
}

/* Zephyr's rename removes the object at the new path, of any kind. */
static void rename_replaces_objects_of_another_kind(void)
{
    struct fs_dirent entry;
    EXPECT(open_and('w', "/data/file", FS_O_WRITE | FS_O_CREATE) == 1);
    EXPECT(registered->mkdir(&mount, "/data/dir") == 0);
    EXPECT(registered->mkdir(&mount, "/data/dir/in") == 0);
    EXPECT(registered->rename(&mount, "/data/file", "/data/dir") == -ENOTEMPTY);
    EXPECT(registered->rename(&mount, "/data/none", "/data/dir") == -ENOENT);
    EXPECT(registered->rename(&mount, "/data/file/none", "/data/dir") == -ENOTDIR);
    EXPECT(registered->stat(&mount, "/data/dir/in", &entry) == 0);
    EXPECT(registered->rename(&mount, "/data/file", "/data/dir/in") == 0);
    EXPECT(registered->stat(&mount, "/data/dir/in", &entry) == 0 && entry.size == 1);
    EXPECT(registered->rename(&mount, "/data/dir", "/data/kept") == 0);
    EXPECT(registered->stat(&mount, "/data/kept/in", &entry) == 0 && entry.size == 1);
    EXPECT(registered->unlink(&mount, "/data/kept/in") == 0);
    EXPECT(registered->unlink(&mount, "/data/kept") == 0);
}

static void mkfs_makes_an_empty_volume(void)
{
    struct fs_dirent entry;
    EXPECT(registered->mkfs(0, NULL, 0) == -EINVAL && registered->mkfs(0, &volume, 0) == -EBUSY);
    EXPECT(registered->unmount(&mount) == 0 && registered->mkfs(0, &volume, 0) == 0);
    EXPECT(registered->mount(&mount) == 0);
    EXPECT(registered->stat(&mount, "/data/kept", &entry) == -ENOENT);
    EXPECT(registered->mkdir(&mount, "/data/kept") == 0 && registered->unmount(&mount) == 0);
    EXPECT(registered->mkfs((uintptr_t)&volume, NULL, 0) == 0 && registered->mount(&mount) == 0);
    EXPECT(registered->stat(&mount, "/data/kept", &entry) == -ENOENT);
}

int main(void)
{
    static uint8_t memory[8192];
    struct nor_chip chip;
    steadyfs_nor nor;
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
    mount.flags = FS_MOUNT_FLAG_READ_ONLY;
    EXPECT(registered->mount(&mount) == -EROFS);
    mount.flags = FS_MOUNT_FLAG_NO_FORMAT;
    EXPECT(registered->mount(&mount) == -ENODEV); /* the chip is blank */
    mount.flags = 0;
    EXPECT(registered->mount(&mount) == 0);
    EXPECT(registered->open(&file, "/data/log", FS_O_READ) == -ENOENT);
    EXPECT(registered->open(&file, "/data/log", FS_O_READ | FS_O_WRITE | FS_O_CREATE) == 0);
    EXPECT(registered->write(&file, "21.5 degrees\n", 13) == 13 && registered->tell(&file) == 13);
    EXPECT(registered->lseek(&file, -8, FS_SEEK_END) == 0 && registered->read(&file, found, 16) == 8);
    EXPECT(registered->lseek(&file, 0, 3) == -EINVAL);
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
    flags_give_access();
    open_keeps_the_contents_without_truncate();
    long_names_are_refused();
    failed_close_can_be_repeated();
    rename_replaces_objects_of_another_kind();
    mkfs_makes_an_empty_volume();
    EXPECT(registered->unmount(&mount) == 0);
    nor_free(&chip);
    printf("the table of calls does what Zephyr asks\n");
    return 0;
}
