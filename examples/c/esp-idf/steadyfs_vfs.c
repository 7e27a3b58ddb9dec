#include "steadyfs_vfs.h"

#include "esp_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Returns -1 and sets errno if a call failed. Otherwise returns the result of the call. */
static int64_t told(int64_t result)
{
    if (result >= 0)
        return result;
    if (result <= STEADYFS_ERR_DRIVER && result >= STEADYFS_ERR_CONFIG) {
        errno = EINVAL;
        return -1;
    }
    switch (result) {
    case STEADYFS_ERR_NOENT: errno = ENOENT; break;
    case STEADYFS_ERR_EXIST: errno = EEXIST; break;
    case STEADYFS_ERR_NOTDIR: errno = ENOTDIR; break;
    case STEADYFS_ERR_ISDIR: errno = EISDIR; break;
    case STEADYFS_ERR_NOTEMPTY: errno = ENOTEMPTY; break;
    case STEADYFS_ERR_BADF: case STEADYFS_ERR_STALE: errno = EBADF; break;
    case STEADYFS_ERR_NOTREADABLE: case STEADYFS_ERR_NOTWRITABLE: errno = EBADF; break;
    case STEADYFS_ERR_FBIG: errno = EFBIG; break;
    case STEADYFS_ERR_INVAL: case STEADYFS_ERR_NOTUTF8: case STEADYFS_ERR_INTOITSELF: errno = EINVAL; break;
    case STEADYFS_ERR_NOSPC: case STEADYFS_ERR_TOOMANYFILES: errno = ENOSPC; break;
    case STEADYFS_ERR_NOMEM: errno = ENOMEM; break;
    case STEADYFS_ERR_NAMETOOLONG: errno = ENAMETOOLONG; break;
    case STEADYFS_ERR_BUSY: errno = EBUSY; break;
    case STEADYFS_ERR_READONLY: errno = EROFS; break;
    case STEADYFS_ERR_TOOMANYOPEN: errno = ENFILE; break;
    case STEADYFS_ERR_TRANSACTION: errno = ENOBUFS; break;
    case STEADYFS_ERR_UNSUPPORTED: errno = ENOTSUP; break;
    case STEADYFS_ERR_NOTMOUNTED: case STEADYFS_ERR_NOTFORMATTED: errno = ENODEV; break;
    case STEADYFS_ERR_ISALINK: errno = ELOOP; break;
    default: errno = EIO; break;
    }
    return -1;
}

/* As `told`, for a position or a size. ESP-IDF's off_t can have 32 bits. */
static off_t told_offset(int64_t result)
{
    off_t offset = (off_t)told(result);
    if (result < 0 || offset == result)
        return offset;
    errno = EOVERFLOW;
    return -1;
}

/* Returns the open file for a descriptor, or NULL. */
static steadyfs_file_t *file_of(steadyfs_vfs *vfs, int fd)
{
    if (fd < 0 || fd >= STEADYFS_VFS_FILES || !vfs->used[fd]) {
        errno = EBADF;
        return NULL;
    }
    return &vfs->files[fd];
}

static int vfs_open(void *ctx, const char *path, int flags, int mode)
{
    steadyfs_vfs *vfs = ctx;
    int wanted = 0, fd = 0;
    (void)mode;
    switch (flags & O_ACCMODE) {
    case O_RDONLY: wanted = STEADYFS_O_RDONLY; break;
    case O_WRONLY: wanted = STEADYFS_O_WRONLY; break;
    default: wanted = STEADYFS_O_RDWR; break;
    }
    wanted |= (flags & O_CREAT ? STEADYFS_O_CREAT : 0) | (flags & O_EXCL ? STEADYFS_O_EXCL : 0) | (flags & O_TRUNC ? STEADYFS_O_TRUNC : 0) |
              (flags & O_APPEND ? STEADYFS_O_APPEND : 0) | (flags & O_SYNC ? STEADYFS_O_DURABLE : 0);
    while (fd < STEADYFS_VFS_FILES && vfs->used[fd])
        fd++;
    if (fd == STEADYFS_VFS_FILES) {
        errno = ENFILE;
        return -1;
    }
    /* SteadyFS creates with write access. A descriptor for reading is opened afterwards. */
    memset(&vfs->files[fd], 0, sizeof vfs->files[fd]);
    if (wanted & STEADYFS_O_CREAT && !(wanted & STEADYFS_O_WRONLY)) {
        int create = (wanted & ~STEADYFS_O_RDONLY) | STEADYFS_O_WRONLY;
        if (told(steadyfs_file_open(vfs->fs, &vfs->files[fd], path, create)) < 0 ||
            told(steadyfs_file_close(vfs->fs, &vfs->files[fd])) < 0)
            return -1;
        wanted = STEADYFS_O_RDONLY;
    }
    memset(&vfs->files[fd], 0, sizeof vfs->files[fd]);
    if (told(steadyfs_file_open(vfs->fs, &vfs->files[fd], path, wanted)) < 0)
        return -1;
    vfs->used[fd] = true;
    return fd;
}

/* The descriptor is closed even after an error. ESP-IDF frees it too. */
static int vfs_close(void *ctx, int fd)
{
    steadyfs_vfs *vfs = ctx;
    steadyfs_file_t *file = file_of(vfs, fd);
    if (file == NULL)
        return -1;
    vfs->used[fd] = false;
    return (int)told(steadyfs_file_close(vfs->fs, file));
}

static ssize_t vfs_read(void *ctx, int fd, void *data, size_t size)
{
    steadyfs_vfs *vfs = ctx;
    steadyfs_file_t *file = file_of(vfs, fd);
    return file == NULL ? -1 : (ssize_t)told(steadyfs_file_read(vfs->fs, file, data, size));
}

static ssize_t vfs_write(void *ctx, int fd, const void *data, size_t size)
{
    steadyfs_vfs *vfs = ctx;
    steadyfs_file_t *file = file_of(vfs, fd);
    return file == NULL ? -1 : (ssize_t)told(steadyfs_file_write(vfs->fs, file, data, size));
}

static off_t vfs_lseek(void *ctx, int fd, off_t offset, int whence)
{
    steadyfs_vfs *vfs = ctx;
    steadyfs_file_t *file = file_of(vfs, fd);
    int from = whence == SEEK_SET   ? STEADYFS_SEEK_SET
               : whence == SEEK_CUR ? STEADYFS_SEEK_CUR
               : whence == SEEK_END ? STEADYFS_SEEK_END
                                    : -1;
    return file == NULL ? -1 : told_offset(steadyfs_file_seek(vfs->fs, file, offset, from));
}

static int vfs_fsync(void *ctx, int fd)
{
    steadyfs_vfs *vfs = ctx;
    steadyfs_file_t *file = file_of(vfs, fd);
    return file == NULL ? -1 : (int)told(steadyfs_file_sync(vfs->fs, file));
}

static int vfs_fstat(void *ctx, int fd, struct stat *st)
{
    steadyfs_vfs *vfs = ctx;
    steadyfs_file_t *file = file_of(vfs, fd);
    off_t size;
    if (file == NULL || (size = told_offset(steadyfs_file_size(vfs->fs, file))) < 0)
        return -1;
    memset(st, 0, sizeof *st);
    st->st_mode = S_IFREG | 0644;
    st->st_size = size;
    return 0;
}

#ifdef CONFIG_VFS_SUPPORT_DIR

static int vfs_stat(void *ctx, const char *path, struct stat *st)
{
    steadyfs_vfs *vfs = ctx;
    steadyfs_info info;
    off_t size;
    if (told(steadyfs_stat(vfs->fs, path, &info)) < 0)
        return -1;
    if ((size = told_offset((int64_t)info.size)) < 0)
        return -1;
    memset(st, 0, sizeof *st);
    st->st_ino = info.inode;
    st->st_mode = info.type == STEADYFS_TYPE_DIR ? S_IFDIR | 0755 : S_IFREG | 0644;
    st->st_size = size;
    st->st_mtime = (time_t)(info.modified_ns / 1000000000u);
    return 0;
}

/* Permissions are not checked: everything that exists is accessible. */
static int vfs_access(void *ctx, const char *path, int mode)
{
    steadyfs_info info;
    (void)mode;
    return (int)told(steadyfs_stat(((steadyfs_vfs *)ctx)->fs, path, &info));
}

static int vfs_ftruncate(void *ctx, int fd, off_t size)
{
    steadyfs_vfs *vfs = ctx;
    steadyfs_file_t *file = file_of(vfs, fd);
    if (file == NULL)
        return -1;
    return (int)told(size < 0 ? STEADYFS_ERR_INVAL
                              : steadyfs_file_truncate(vfs->fs, file, (uint64_t)size));
}

static int vfs_truncate(void *ctx, const char *path, off_t size)
{
    int fd = vfs_open(ctx, path, O_WRONLY, 0), error;
    if (fd < 0)
        return -1;
    if (vfs_ftruncate(ctx, fd, size) == 0)
        return vfs_close(ctx, fd);
    error = errno;
    vfs_close(ctx, fd);
    errno = error;
    return -1;
}

static int vfs_unlink(void *ctx, const char *path)
{
    return (int)told(steadyfs_remove(((steadyfs_vfs *)ctx)->fs, path));
}

static int vfs_rename(void *ctx, const char *from, const char *to)
{
    return (int)told(steadyfs_rename(((steadyfs_vfs *)ctx)->fs, from, to));
}

static int vfs_mkdir(void *ctx, const char *path, mode_t mode)
{
    (void)mode;
    return (int)told(steadyfs_mkdir(((steadyfs_vfs *)ctx)->fs, path));
}

static DIR *vfs_opendir(void *ctx, const char *path)
{
    steadyfs_vfs *vfs = ctx;
    for (size_t at = 0; at < sizeof vfs->dirs / sizeof *vfs->dirs; at++) {
        struct steadyfs_vfs_dir *dir = &vfs->dirs[at];
        if (dir->used)
            continue;
        memset(dir, 0, sizeof *dir);
        if (told(steadyfs_dir_open(vfs->fs, &dir->handle, path)) < 0)
            return NULL;
        dir->used = true;
        return &dir->dir;
    }
    errno = ENFILE;
    return NULL;
}

static struct dirent *vfs_readdir(void *ctx, DIR *opened)
{
    struct steadyfs_vfs_dir *dir = (struct steadyfs_vfs_dir *)opened;
    steadyfs_info info;
    if (told(steadyfs_dir_read(((steadyfs_vfs *)ctx)->fs, &dir->handle, &info)) <= 0)
        return NULL;
    dir->entry.d_ino = info.inode;
    dir->entry.d_type = info.type == STEADYFS_TYPE_DIR ? DT_DIR : info.type == STEADYFS_TYPE_REG ? DT_REG : DT_UNKNOWN;
    if (strlen(info.name) >= sizeof dir->entry.d_name) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    strcpy(dir->entry.d_name, info.name);
    dir->place++;
    return &dir->entry;
}

/* The number of entries before the place. The volume's own places need more than a long. */
static long vfs_telldir(void *ctx, DIR *opened)
{
    (void)ctx;
    return ((struct steadyfs_vfs_dir *)opened)->place;
}

/* ESP-IDF's rewinddir goes to place 0. */
static void vfs_seekdir(void *ctx, DIR *opened, long place)
{
    struct steadyfs_vfs_dir *dir = (struct steadyfs_vfs_dir *)opened;
    if (place < dir->place) {
        told(steadyfs_dir_rewind(((steadyfs_vfs *)ctx)->fs, &dir->handle));
        dir->place = 0;
    }
    while (dir->place < place && vfs_readdir(ctx, opened) != NULL)
        ;
}

static int vfs_closedir(void *ctx, DIR *opened)
{
    struct steadyfs_vfs_dir *dir = (struct steadyfs_vfs_dir *)opened;
    dir->used = false;
    return (int)told(steadyfs_dir_close(((steadyfs_vfs *)ctx)->fs, &dir->handle));
}
#endif

esp_err_t steadyfs_vfs_register(steadyfs_vfs *vfs, steadyfs_t *fs, const char *base_path)
{
    static const esp_vfs_t table = {
        .flags = ESP_VFS_FLAG_CONTEXT_PTR,
        .write_p = vfs_write,
        .lseek_p = vfs_lseek,
        .read_p = vfs_read,
        .open_p = vfs_open,
        .close_p = vfs_close,
        .fstat_p = vfs_fstat,
        .fsync_p = vfs_fsync,
#ifdef CONFIG_VFS_SUPPORT_DIR
        .stat_p = vfs_stat,
        .access_p = vfs_access,
        .truncate_p = vfs_truncate,
        .ftruncate_p = vfs_ftruncate,
        .unlink_p = vfs_unlink,
        .rename_p = vfs_rename,
        .opendir_p = vfs_opendir,
        .readdir_p = vfs_readdir,
        .telldir_p = vfs_telldir,
        .seekdir_p = vfs_seekdir,
        .closedir_p = vfs_closedir,
        .mkdir_p = vfs_mkdir,
        .rmdir_p = vfs_unlink,
#endif
    };
    memset(vfs, 0, sizeof *vfs);
    vfs->fs = fs;
    return esp_vfs_register(base_path, &table, vfs);
}
