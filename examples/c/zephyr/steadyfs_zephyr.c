#include "steadyfs_zephyr.h"

#include <zephyr/fs/fs_sys.h>
#include <zephyr/sys/util.h> /* BIT, which fs.h needs */

#include <errno.h>
#include <stdint.h>
#include <string.h>

/* Returns Zephyr's error for an error of SteadyFS. A result without an error stays. */
static int told(int64_t result)
{
    if (result <= STEADYFS_ERR_DRIVER && result >= STEADYFS_ERR_CONFIG)
        return -EINVAL;
    switch (result) {
    case STEADYFS_ERR_NOENT: return -ENOENT;
    case STEADYFS_ERR_EXIST: return -EEXIST;
    case STEADYFS_ERR_NOTDIR: return -ENOTDIR;
    case STEADYFS_ERR_ISDIR: return -EISDIR;
    case STEADYFS_ERR_NOTEMPTY: return -ENOTEMPTY;
    case STEADYFS_ERR_BADF: case STEADYFS_ERR_STALE: return -EBADF;
    case STEADYFS_ERR_NOTREADABLE: case STEADYFS_ERR_NOTWRITABLE: return -EACCES;
    case STEADYFS_ERR_FBIG: return -EFBIG;
    case STEADYFS_ERR_INVAL: case STEADYFS_ERR_NOTUTF8: return -EINVAL;
    case STEADYFS_ERR_INTOITSELF: case STEADYFS_ERR_ISALINK: return -EINVAL;
    case STEADYFS_ERR_NOSPC: case STEADYFS_ERR_TOOMANYFILES: return -ENOSPC;
    case STEADYFS_ERR_NOMEM: return -ENOMEM;
    case STEADYFS_ERR_NAMETOOLONG: return -ENAMETOOLONG;
    case STEADYFS_ERR_BUSY: return -EBUSY;
    case STEADYFS_ERR_READONLY: return -EROFS;
    case STEADYFS_ERR_TOOMANYOPEN: return -ENFILE;
    case STEADYFS_ERR_TRANSACTION: return -ENOBUFS;
    case STEADYFS_ERR_UNSUPPORTED: return -ENOTSUP;
    case STEADYFS_ERR_NOTMOUNTED: case STEADYFS_ERR_NOTFORMATTED: return -ENODEV;
    default: return result < 0 ? -EIO : (int)result;
    }
}

static struct steadyfs_zephyr *volume_of(const struct fs_mount_t *mount)
{
    return mount->fs_data;
}

/* Returns a path without its mount point. The result is at least "/". */
static const char *path_of(const struct fs_mount_t *mount, const char *path)
{
    path += mount->mountp_len;
    return path[0] == 0 ? "/" : path;
}

static bool is_mounted(struct steadyfs_zephyr *volume)
{
    return steadyfs_has_changes(&volume->fs) >= 0;
}

/* Refuses to create a name that fs_readdir could not return: see MAX_FILE_NAME in the header. */
static int check_name(const char *path)
{
    size_t end = strlen(path), start;
    while (end > 0 && path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && path[start - 1] != '/'; start--)
        ;
    return end - start <= MAX_FILE_NAME ? 0 : -ENAMETOOLONG;
}

/*
 * Returns 0 if the file is open with this access. `filep` is NULL after a close that failed.
 * Zephyr still passes such a file to the glue.
 */
static int check_file(const struct fs_file_t *file, fs_mode_t access)
{
    if (file->filep == NULL)
        return -EBADF;
    return (file->flags & access) == access ? 0 : -EACCES;
}

static int glue_open(struct fs_file_t *file, const char *path, fs_mode_t flags)
{
    struct steadyfs_zephyr *volume = volume_of(file->mp);
    const char *name = path_of(file->mp, path);
    int wanted = flags & FS_O_READ ? STEADYFS_O_RDONLY : 0, error = 0;
    if (flags & FS_O_WRITE)
        wanted |= STEADYFS_O_WRONLY | (flags & FS_O_APPEND ? STEADYFS_O_APPEND : 0);
#ifdef FS_O_TRUNC /* since Zephyr 3.7 */
    if ((flags & FS_O_TRUNC) && !(flags & FS_O_WRITE))
        return -EACCES;
    wanted |= flags & FS_O_TRUNC ? STEADYFS_O_TRUNC : 0;
#endif
    /* Zephyr opens and creates files with any access, or none. `check_file` refuses the rest. */
    if (flags & FS_O_CREATE) {
        wanted |= STEADYFS_O_WRONLY | STEADYFS_O_CREAT;
        error = check_name(name);
    } else if (wanted == 0) {
        wanted = STEADYFS_O_RDONLY;
    }
    if (error != 0)
        return error;
    for (size_t at = 0; at < STEADYFS_ZEPHYR_FILES; at++) {
        if (volume->used[at])
            continue;
        memset(&volume->files[at], 0, sizeof volume->files[at]);
        error = told(steadyfs_file_open(&volume->fs, &volume->files[at], name, wanted));
        volume->used[at] = error == 0;
        file->filep = error == 0 ? &volume->files[at] : NULL;
        file->flags = flags;
        return error;
    }
    return -ENFILE;
}

static ssize_t glue_read(struct fs_file_t *file, void *data, size_t size)
{
    int error = check_file(file, FS_O_READ);
    if (error != 0)
        return error;
    return told(steadyfs_file_read(&volume_of(file->mp)->fs, file->filep, data, size));
}

static ssize_t glue_write(struct fs_file_t *file, const void *data, size_t size)
{
    int error = check_file(file, FS_O_WRITE);
    if (error != 0)
        return error;
    return told(steadyfs_file_write(&volume_of(file->mp)->fs, file->filep, data, size));
}

static int glue_lseek(struct fs_file_t *file, off_t offset, int whence)
{
    int from = whence == FS_SEEK_SET   ? STEADYFS_SEEK_SET
               : whence == FS_SEEK_CUR ? STEADYFS_SEEK_CUR
               : whence == FS_SEEK_END ? STEADYFS_SEEK_END
                                       : -1;
    int error = check_file(file, 0);
    if (error != 0)
        return error;
    int64_t place = steadyfs_file_seek(&volume_of(file->mp)->fs, file->filep, offset, from);
    return place < 0 ? told(place) : 0;
}

static off_t glue_tell(struct fs_file_t *file)
{
    int error = check_file(file, 0);
    if (error != 0)
        return error;
    int64_t place = steadyfs_file_tell(&volume_of(file->mp)->fs, file->filep);
    if (place < 0)
        return told(place);
    return (off_t)place == place ? (off_t)place : -EOVERFLOW;
}

static int glue_truncate(struct fs_file_t *file, off_t size)
{
    int error = size < 0 ? -EINVAL : check_file(file, FS_O_WRITE);
    if (error != 0)
        return error;
    return told(steadyfs_file_truncate(&volume_of(file->mp)->fs, file->filep, (uint64_t)size));
}

static int glue_sync(struct fs_file_t *file)
{
    int error = check_file(file, 0);
    if (error != 0)
        return error;
    return told(steadyfs_file_sync(&volume_of(file->mp)->fs, file->filep));
}

/*
 * The file is closed even after an error. Then Zephyr keeps `file` as an open file, so the program
 * can close it again. This second close has nothing to do: it frees `file` for another open.
 */
static int glue_close(struct fs_file_t *file)
{
    struct steadyfs_zephyr *volume = volume_of(file->mp);
    steadyfs_file_t *handle = file->filep;
    if (handle == NULL)
        return 0;
    volume->used[handle - volume->files] = false;
    file->filep = NULL;
    return told(steadyfs_file_close(&volume->fs, handle));
}

static int glue_opendir(struct fs_dir_t *dir, const char *path)
{
    struct steadyfs_zephyr *volume = volume_of(dir->mp);
    for (size_t at = 0; at < sizeof volume->dirs / sizeof *volume->dirs; at++) {
        if (volume->dirs_used[at])
            continue;
        memset(&volume->dirs[at], 0, sizeof volume->dirs[at]);
        int error = told(steadyfs_dir_open(&volume->fs, &volume->dirs[at], path_of(dir->mp, path)));
        volume->dirs_used[at] = error == 0;
        dir->dirp = error == 0 ? &volume->dirs[at] : NULL;
        return error;
    }
    return -ENFILE;
}

/* Returns -ENAMETOOLONG for a name that MAX_FILE_NAME would cut. */
static int describe(const steadyfs_info *info, struct fs_dirent *entry)
{
    size_t bytes = strlen(info->name) + 1;
    if (bytes > sizeof entry->name)
        return -ENAMETOOLONG;
    memcpy(entry->name, info->name, bytes);
    entry->type = info->type == STEADYFS_TYPE_DIR ? FS_DIR_ENTRY_DIR : FS_DIR_ENTRY_FILE;
    entry->size = info->type == STEADYFS_TYPE_DIR ? 0 : (size_t)info->size;
    return info->type == STEADYFS_TYPE_DIR || entry->size == info->size ? 0 : -EOVERFLOW;
}

static int glue_readdir(struct fs_dir_t *dir, struct fs_dirent *entry)
{
    steadyfs_info info;
    int there = -EBADF;
    if (dir->dirp != NULL)
        there = told(steadyfs_dir_read(&volume_of(dir->mp)->fs, dir->dirp, &info));
    if (there > 0)
        return describe(&info, entry);
    entry->name[0] = 0; /* the end */
    return there;
}

static int glue_closedir(struct fs_dir_t *dir)
{
    struct steadyfs_zephyr *volume = volume_of(dir->mp);
    steadyfs_dir_t *handle = dir->dirp;
    if (handle == NULL)
        return 0; /* as in glue_close */
    volume->dirs_used[handle - volume->dirs] = false;
    dir->dirp = NULL;
    return told(steadyfs_dir_close(&volume->fs, handle));
}

/*
 * Formats a blank chip, unless the mount forbids it. After any other error the chip may have a
 * volume.
 */
static int glue_mount(struct fs_mount_t *mount)
{
    struct steadyfs_zephyr *volume = volume_of(mount);
    int error;
    if (is_mounted(volume))
        return -EBUSY;
    memset(&volume->fs, 0, sizeof volume->fs);
    volume->config.read_only = (mount->flags & FS_MOUNT_FLAG_READ_ONLY) != 0;
    error = steadyfs_mount(&volume->fs, &volume->config);
    if (error == STEADYFS_ERR_NOTFORMATTED && !(mount->flags & FS_MOUNT_FLAG_NO_FORMAT)) {
        if (volume->config.read_only)
            return -EROFS;
        error = steadyfs_format(&volume->fs, &volume->config);
        if (error == 0)
            error = steadyfs_mount(&volume->fs, &volume->config);
    }
    return told(error);
}

/*
 * The volume is unmounted even after an error. Then Zephyr keeps the mount, so the program can
 * unmount it again. This second call has nothing to do: it frees the mount point.
 */
static int glue_unmount(struct fs_mount_t *mount)
{
    int error = steadyfs_unmount(&volume_of(mount)->fs);
    return error == STEADYFS_ERR_NOTMOUNTED ? 0 : told(error);
}

#ifdef CONFIG_FILE_SYSTEM_MKFS
/* The caller passes a struct steadyfs_zephyr as `config`, or as `device` if `config` is NULL. */
static int glue_mkfs(uintptr_t device, void *config, int flags)
{
    struct steadyfs_zephyr *volume = config != NULL ? config : (void *)device;
    (void)flags;
    if (volume == NULL)
        return -EINVAL;
    if (is_mounted(volume))
        return -EBUSY;
    memset(&volume->fs, 0, sizeof volume->fs);
    return told(steadyfs_format(&volume->fs, &volume->config));
}
#endif

static int glue_unlink(struct fs_mount_t *mount, const char *path)
{
    return told(steadyfs_remove(&volume_of(mount)->fs, path_of(mount, path)));
}

/* Returns true if one path is a directory, and the other one is something else. */
static bool kinds_differ(steadyfs_t *fs, const char *from, const char *to)
{
    steadyfs_info one, other;
    return steadyfs_stat(fs, from, &one) == 0 && steadyfs_stat(fs, to, &other) == 0 &&
           (one.type == STEADYFS_TYPE_DIR) != (other.type == STEADYFS_TYPE_DIR);
}

/*
 * Replaces `to` in one step. Zephyr also allows to replace an empty directory by a file, and a file
 * by a directory. Then `to` is removed first.
 */
static int glue_rename(struct fs_mount_t *mount, const char *from, const char *to)
{
    steadyfs_t *fs = &volume_of(mount)->fs;
    int error = check_name(path_of(mount, to));
    if (error != 0)
        return error;
    from = path_of(mount, from);
    to = path_of(mount, to);
    error = steadyfs_rename(fs, from, to);
    if ((error == STEADYFS_ERR_ISDIR || error == STEADYFS_ERR_NOTDIR) &&
        kinds_differ(fs, from, to)) {
        error = steadyfs_remove(fs, to);
        if (error == 0)
            error = steadyfs_rename(fs, from, to);
    }
    return told(error);
}

static int glue_mkdir(struct fs_mount_t *mount, const char *path)
{
    int error = check_name(path_of(mount, path));
    if (error != 0)
        return error;
    return told(steadyfs_mkdir(&volume_of(mount)->fs, path_of(mount, path)));
}

static int glue_stat(struct fs_mount_t *mount, const char *path, struct fs_dirent *entry)
{
    steadyfs_info info;
    int error = told(steadyfs_stat(&volume_of(mount)->fs, path_of(mount, path), &info));
    return error == 0 ? describe(&info, entry) : error;
}

static int glue_statvfs(struct fs_mount_t *mount, const char *path, struct fs_statvfs *stat)
{
    steadyfs_fsinfo info;
    int64_t free_bytes = steadyfs_fs_free(&volume_of(mount)->fs);
    int error = told(free_bytes < 0 ? free_bytes : steadyfs_fs_stat(&volume_of(mount)->fs, &info));
    (void)path;
    if (error == 0) {
        stat->f_bsize = stat->f_frsize = info.block_size;
        stat->f_blocks = (unsigned long)(info.usable_bytes / info.block_size);
        stat->f_bfree = (unsigned long)((uint64_t)free_bytes / info.block_size);
    }
    return error;
}

int steadyfs_zephyr_register(void)
{
    static const struct fs_file_system_t glue = {
        .open = glue_open,
        .read = glue_read,
        .write = glue_write,
        .lseek = glue_lseek,
        .tell = glue_tell,
        .truncate = glue_truncate,
        .sync = glue_sync,
        .close = glue_close,
        .opendir = glue_opendir,
        .readdir = glue_readdir,
        .closedir = glue_closedir,
        .mount = glue_mount,
        .unmount = glue_unmount,
        .unlink = glue_unlink,
        .rename = glue_rename,
        .mkdir = glue_mkdir,
        .stat = glue_stat,
        .statvfs = glue_statvfs,
#ifdef CONFIG_FILE_SYSTEM_MKFS
        .mkfs = glue_mkfs,
#endif
    };
    return fs_register(STEADYFS_ZEPHYR_TYPE, &glue);
}
