/* The parts of ESP-IDF's esp_vfs.h that the shim needs, so that it compiles without ESP-IDF. */
#ifndef STUB_ESP_VFS_H
#define STUB_ESP_VFS_H
#include "esp_err.h"
#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#define CONFIG_VFS_SUPPORT_DIR 1 /* of sdkconfig.h */
#define ESP_VFS_FLAG_CONTEXT_PTR 1

typedef struct {
    int flags;
    ssize_t (*write_p)(void *ctx, int fd, const void *data, size_t size);
    off_t (*lseek_p)(void *ctx, int fd, off_t offset, int whence);
    ssize_t (*read_p)(void *ctx, int fd, void *data, size_t size);
    int (*open_p)(void *ctx, const char *path, int flags, int mode);
    int (*close_p)(void *ctx, int fd);
    int (*fstat_p)(void *ctx, int fd, struct stat *st);
    int (*stat_p)(void *ctx, const char *path, struct stat *st);
    int (*unlink_p)(void *ctx, const char *path);
    int (*rename_p)(void *ctx, const char *from, const char *to);
    DIR *(*opendir_p)(void *ctx, const char *path);
    struct dirent *(*readdir_p)(void *ctx, DIR *dir);
    long (*telldir_p)(void *ctx, DIR *dir);
    void (*seekdir_p)(void *ctx, DIR *dir, long place);
    int (*closedir_p)(void *ctx, DIR *dir);
    int (*mkdir_p)(void *ctx, const char *path, mode_t mode);
    int (*rmdir_p)(void *ctx, const char *path);
    int (*access_p)(void *ctx, const char *path, int mode);
    int (*truncate_p)(void *ctx, const char *path, off_t size);
    int (*ftruncate_p)(void *ctx, int fd, off_t size);
    int (*fsync_p)(void *ctx, int fd);
} esp_vfs_t;

esp_err_t esp_vfs_register(const char *base_path, const esp_vfs_t *vfs, void *ctx);
#endif
