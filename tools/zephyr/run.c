/*
 * Runs one of Zephyr's own tests of file systems on the glue, on a simulated NOR chip:
 *
 *     run TEST    a name of the table below
 *
 * tools/zephyr-tests.sh builds it with Zephyr's subsys/fs/fs.c and the tests of a checkout. A test
 * that the checkout lacks has no entry.
 */

#include "chip.h"

#include "steadyfs_zephyr.h"

#include <stdio.h>
#include <string.h>

#define MOUNT_POINT "/sml"

/* Volumes on one chip: only one of them is mounted at a time. The tests of FAT use the second. */
static struct steadyfs_zephyr volume;
struct steadyfs_zephyr fat_fs;

#ifndef FATFS_MNTP
#define FATFS_MNTP "/RAM:" /* test_fat.h has another one for the tests of FAT */
#endif
static struct fs_mount_t fat_mount = {
    .type = STEADYFS_ZEPHYR_TYPE,
    .mnt_point = FATFS_MNTP,
    .fs_data = &fat_fs,
};
static struct fs_mount_t mount = {
    .type = STEADYFS_ZEPHYR_TYPE,
    .mnt_point = MOUNT_POINT,
    .fs_data = &volume,
    .storage_dev = &volume,
};

/* Tests in tests/subsys/fs/common. They take their mount and names from these variables. */
struct fs_mount_t *fs_basic_test_mp = &mount;
struct fs_mount_t *fs_dirops_test_mp = &mount;
struct fs_mount_t *mount_flags_mp = &mount;
const char *mount_flags_mnt_point_str = MOUNT_POINT;
struct fs_mount_t *fs_mkfs_mp = &mount;
const int fs_mkfs_type = STEADYFS_ZEPHYR_TYPE;
uintptr_t fs_mkfs_dev_id = (uintptr_t)&volume;
int fs_mkfs_flags;
const char *some_file_path = MOUNT_POINT "/some";
const char *other_dir_path = MOUNT_POINT "/other";
const char *test_fs_open_flags_file_path = MOUNT_POINT "/the_file.txt";

/* The other tests of the checkout, if it has them. */
#define OPTIONAL __attribute__((weak))
OPTIONAL void test_fs_basic(void);
OPTIONAL void test_fs_dirops(void);
OPTIONAL void test_fs_mkfs_simple(void);
OPTIONAL void test_fs_mkfs_ops(void);
OPTIONAL void test_fs_mount_flags(void);
OPTIONAL void test_fs_open_flags(void);
OPTIONAL void test_fat_file(void);
OPTIONAL void test_fat_dir(void);
OPTIONAL void test_fat_fs(void);
OPTIONAL void test_fat_rename(void);
OPTIONAL void fat_fs_basic_test_fat_mount_rd_only(void);

/* Of the tests of FAT. */
struct fs_file_t filep;
const char test_str[] = "hello world!";

int check_file_dir_exists(const char *path)
{
    struct fs_dirent entry;
    return fs_stat(path, &entry) == 0;
}

/* The chip is new in each run. */
int wipe_partition(void)
{
    return 0;
}

static int open_flags(void)
{
    if (fs_mount(&mount) != 0)
        return 1;
    test_fs_open_flags();
    return fs_unmount(&mount);
}

/* Zephyr's own mount for these tests requires a disk, so this is another one. */
static int fat(void)
{
    fs_file_t_init(&filep);
    if (fs_mount(&fat_mount) != 0)
        return 1;
    test_fat_file();
    test_fat_dir();
    test_fat_fs();
    test_fat_rename();
    return fs_unmount(&fat_mount);
}

static const struct {
    const char *name;
    void (*test)(void);
    int (*with)(void); /* calls the test, if it needs more */
} tests[] = {
    {"basic", test_fs_basic, NULL},
    {"dirops", test_fs_dirops, NULL},
    {"mkfs_simple", test_fs_mkfs_simple, NULL},
    {"mkfs_ops", test_fs_mkfs_ops, NULL},
    {"mount_flags", test_fs_mount_flags, NULL},
    {"open_flags", test_fs_open_flags, open_flags},
    {"fat", test_fat_file, fat},
    {"fat_read_only", fat_fs_basic_test_fat_mount_rd_only, NULL},
};

static int run(size_t at)
{
    static uint8_t memory[8192];
    static struct power power = {.random = 1};
    struct nor_chip chip;
    steadyfs_nor nor;
    int result = 0;
    nor_new(&chip, &power, 4096, 256, &nor);
    volume.config = (steadyfs_config){.nor = &nor, .memory = memory, .memory_bytes = sizeof memory};
    fat_fs.config = volume.config;
    if (steadyfs_zephyr_register() != 0)
        return 1;
    if (tests[at].with != NULL)
        result = tests[at].with();
    else
        tests[at].test();
    nor_free(&chip);
    return result;
}

int main(int count, char **arguments)
{
    for (size_t at = 0; at < sizeof tests / sizeof *tests; at++) {
        if (count == 1 && tests[at].test != NULL)
            puts(tests[at].name);
        else if (count == 2 && strcmp(arguments[1], tests[at].name) == 0 && tests[at].test != NULL)
            return run(at);
    }
    return count == 1 ? 0 : 2;
}
