/* The parts of Zephyr's fs_sys.h that the glue needs, so that it compiles without Zephyr. */
#ifndef STUB_ZEPHYR_FS_SYS_H
#define STUB_ZEPHYR_FS_SYS_H
#include <zephyr/fs/fs.h>

#define CONFIG_FILE_SYSTEM_MKFS 1

struct fs_file_system_t {
    int (*open)(struct fs_file_t *filp, const char *fs_path, fs_mode_t flags);
    ssize_t (*read)(struct fs_file_t *filp, void *dest, size_t nbytes);
    ssize_t (*write)(struct fs_file_t *filp, const void *src, size_t nbytes);
    int (*lseek)(struct fs_file_t *filp, off_t off, int whence);
    off_t (*tell)(struct fs_file_t *filp);
    int (*truncate)(struct fs_file_t *filp, off_t length);
    int (*sync)(struct fs_file_t *filp);
    int (*close)(struct fs_file_t *filp);
    int (*opendir)(struct fs_dir_t *dirp, const char *fs_path);
    int (*readdir)(struct fs_dir_t *dirp, struct fs_dirent *entry);
    int (*closedir)(struct fs_dir_t *dirp);
    int (*mount)(struct fs_mount_t *mountp);
    int (*unmount)(struct fs_mount_t *mountp);
    int (*unlink)(struct fs_mount_t *mountp, const char *name);
    int (*rename)(struct fs_mount_t *mountp, const char *from, const char *to);
    int (*mkdir)(struct fs_mount_t *mountp, const char *name);
    int (*stat)(struct fs_mount_t *mountp, const char *path, struct fs_dirent *entry);
    int (*statvfs)(struct fs_mount_t *mountp, const char *path, struct fs_statvfs *stat);
    int (*mkfs)(uintptr_t device, void *config, int flags);
};
int fs_register(int type, const struct fs_file_system_t *fs);
#endif
