/*
 * SteadyFS as a file system of Zephyr: fs_open, fs_read and the others. README.md describes the
 * module.
 *
 * Tested on the host with stub headers (stub/) and Zephyr's own tests (tools/zephyr-tests.sh), and
 * in QEMU (app/), not on a board. Zephyr holds one lock around mounts, but none around calls on files.
 * So only one task at a time may use the volume.
 *
 * Without the module, set CONFIG_FILE_SYSTEM_MAX_FILE_NAME, such as 255. Zephyr's default for file
 * systems of others is MAX_FILE_NAME 12. The glue creates no longer names, and cannot list them:
 * -ENAMETOOLONG.
 *
 *     static struct steadyfs_zephyr volume = {
 *         .config = {.nor = &nor, .memory = memory, .memory_bytes = sizeof memory}};
 *     static struct fs_mount_t data = {
 *         .type = STEADYFS_ZEPHYR_TYPE, .mnt_point = "/data", .fs_data = &volume};
 *     steadyfs_zephyr_register(); fs_mount(&data);
 */

#ifndef STEADYFS_ZEPHYR_H
#define STEADYFS_ZEPHYR_H

#include "steadyfs.h"
#include <zephyr/fs/fs.h>

/* Define another number if another file system from outside of Zephyr has this one. */
#ifndef STEADYFS_ZEPHYR_TYPE
#define STEADYFS_ZEPHYR_TYPE FS_TYPE_EXTERNAL_BASE
#endif
#define STEADYFS_ZEPHYR_FILES 8

/* The contents of a mount's `fs_data`: the configuration, the volume, and room for open files. */
struct steadyfs_zephyr {
    steadyfs_config config;
    steadyfs_t fs;
    steadyfs_file_t files[STEADYFS_ZEPHYR_FILES];
    bool used[STEADYFS_ZEPHYR_FILES];
    steadyfs_dir_t dirs[2];
    bool dirs_used[2];
};

int steadyfs_zephyr_register(void);

#endif
