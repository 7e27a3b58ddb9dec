/*
 * A mounted volume as a part of ESP-IDF's file tree: open, read and write of newlib, and stdio
 * above it.
 *
 * Tested on the host with stub headers (stub/), and compiled against ESP-IDF
 * (tools/zephyr-esp.sh), not run on a board. It takes one task at a time: if several tasks use the
 * volume, put a mutex around it.
 */

#ifndef STEADYFS_VFS_H
#define STEADYFS_VFS_H

#include "steadyfs.h"
#include "esp_err.h"
#include <dirent.h>

#define STEADYFS_VFS_FILES 8

/* An open directory. ESP-IDF's part comes first. */
struct steadyfs_vfs_dir {
    DIR dir;
    bool used;
    steadyfs_dir_t handle;
    long place; /* number of entries that were read */
    struct dirent entry;
};

/* The state of a mount point. It must stay in memory as long as the volume is mounted. */
typedef struct steadyfs_vfs {
    steadyfs_t *fs;
    steadyfs_file_t files[STEADYFS_VFS_FILES];
    bool used[STEADYFS_VFS_FILES];
    struct steadyfs_vfs_dir dirs[2];
} steadyfs_vfs;

/* Registers a mounted volume at `base_path`, such as "/data". */
esp_err_t steadyfs_vfs_register(steadyfs_vfs *vfs, steadyfs_t *fs, const char *base_path);

#endif
