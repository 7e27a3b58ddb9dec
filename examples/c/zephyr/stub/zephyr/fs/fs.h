/* The parts of Zephyr's fs.h that the glue needs, so that it compiles without Zephyr. */
#ifndef STUB_ZEPHYR_FS_H
#define STUB_ZEPHYR_FS_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint8_t fs_mode_t;
#define FS_O_READ 0x01
#define FS_O_WRITE 0x02
#define FS_O_CREATE 0x10
#define FS_O_APPEND 0x20
#ifndef STUB_ZEPHYR_BEFORE_3_7
#define FS_O_TRUNC 0x40
#endif
#define FS_SEEK_SET 0
#define FS_SEEK_CUR 1
#define FS_SEEK_END 2
#define FS_MOUNT_FLAG_NO_FORMAT BIT(0) /* of util.h, which fs.h does not include */
#define FS_MOUNT_FLAG_READ_ONLY BIT(1)
#define FS_TYPE_EXTERNAL_BASE 4
#define MAX_FILE_NAME 12 /* the default for file systems of others */

enum fs_dir_entry_type { FS_DIR_ENTRY_FILE = 0, FS_DIR_ENTRY_DIR };

struct fs_file_system_t;
struct fs_mount_t {
    int type;
    const char *mnt_point;
    void *fs_data;
    void *storage_dev;
    size_t mountp_len;
    const struct fs_file_system_t *fs;
    uint8_t flags;
};
struct fs_file_t {
    void *filep;
    const struct fs_mount_t *mp;
    fs_mode_t flags;
};
struct fs_dir_t {
    void *dirp;
    const struct fs_mount_t *mp;
};
struct fs_dirent {
    enum fs_dir_entry_type type;
    char name[MAX_FILE_NAME + 1];
    size_t size;
};
struct fs_statvfs {
    unsigned long f_bsize, f_frsize, f_blocks, f_bfree;
};
#endif
