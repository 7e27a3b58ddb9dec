#include "steadyfs_zephyr.h"

#include <zephyr/fs/fs_sys.h>

#include <errno.h>
#include <string.h>

/* Returns Zephyr's error for an error of SteadyFS. A result without an error stays. */
static int told(int64_t result)
{
    switch (result) {
    case STEADYFS_ERR_NOENT: return -ENOENT;
    case STEADYFS_ERR_EXIST: return -EEXIST;
    case STEADYFS_ERR_NOTDIR: return -ENOTDIR;
    case STEADYFS_ERR_ISDIR: return -EISDIR;
    case STEADYFS_ERR_NOTEMPTY: return -ENOTEMPTY;
    case STEADYFS_ERR_BADF: case STEADYFS_ERR_NOTREADABLE: case STEADYFS_ERR_NOTWRITABLE: return -EBADF;
    case STEADYFS_ERR_FBIG: return -EFBIG;
    case STEADYFS_ERR_INVAL: case STEADYFS_ERR_NOTUTF8: case STEADYFS_ERR_INTOITSELF: return -EINVAL;
    case STEADYFS_ERR_NOSPC: case STEADYFS_ERR_TOOMANYFILES: return -ENOSPC;
    case STEADYFS_ERR_NOMEM: return -ENOMEM;
    case STEADYFS_ERR_NAMETOOLONG: return -ENAMETOOLONG;
    case STEADYFS_ERR_BUSY: return -EBUSY;
    case STEADYFS_ERR_READONLY: return -EROFS;
    case STEADYFS_ERR_TOOMANYOPEN: return -ENFILE;
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
    return fs_impl_strip_prefix(path, mount);
}

static int glue_open(struct fs_file_t *file, const char *path, fs_mode_t flags)
{
    struct steadyfs_zephyr *volume = volume_of(file->mp);
    int wanted = (flags & FS_O_READ ? STEADYFS_O_RDONLY : 0) | (flags & FS_O_WRITE ? STEADYFS_O_WRONLY : 0), error;
    /* Zephyr creates files with any access, and appends with FS_O_APPEND alone. */
    if (flags & (FS_O_CREATE | FS_O_APPEND | FS_O_TRUNC))
        wanted |= STEADYFS_O_WRONLY;
    wanted |= (flags & FS_O_CREATE ? STEADYFS_O_CREAT : 0) | (flags & FS_O_APPEND ? STEADYFS_O_APPEND : 0) | (flags & FS_O_TRUNC ? STEADYFS_O_TRUNC : 0);
    for (size_t at = 0; at < STEADYFS_ZEPHYR_FILES; at++) {
        if (volume->used[at])
            continue;
        memset(&volume->files[at], 0, sizeof volume->files[at]);
        error = told(steadyfs_file_open(&volume->fs, &volume->files[at], path_of(file->mp, path), wanted));
        volume->used[at] = error == 0;
        file->filep = error == 0 ? &volume->files[at] : NULL;
        return error;
    }
    return -ENFILE;
}

static ssize_t glue_read(struct fs_file_t *file, void *data, size_t size)
{
    return told(steadyfs_file_read(&volume_of(file->mp)->fs, file->filep, data, size));
}

static ssize_t glue_write(struct fs_file_t *file, const void *data, size_t size)
{
    return told(steadyfs_file_write(&volume_of(file->mp)->fs, file->filep, data, size));
}

static int glue_lseek(struct fs_file_t *file, off_t offset, int whence)
{
    int from = whence == FS_SEEK_SET ? STEADYFS_SEEK_SET : whence == FS_SEEK_CUR ? STEADYFS_SEEK_CUR : STEADYFS_SEEK_END;
    int64_t place = steadyfs_file_seek(&volume_of(file->mp)->fs, file->filep, offset, from);
    return place < 0 ? told(place) : 0;
}

static off_t glue_tell(struct fs_file_t *file)
{
    int64_t place = steadyfs_file_tell(&volume_of(file->mp)->fs, file->filep);
    return place < 0 ? told(place) : (off_t)place;
}

static int glue_truncate(struct fs_file_t *file, off_t size)
{
    return size < 0 ? -EINVAL : told(steadyfs_file_truncate(&volume_of(file->mp)->fs, file->filep, (uint64_t)size));
}

static int glue_sync(struct fs_file_t *file)
{
    return told(steadyfs_file_sync(&volume_of(file->mp)->fs, file->filep));
}

static int glue_close(struct fs_file_t *file)
{
    struct steadyfs_zephyr *volume = volume_of(file->mp);
    steadyfs_file_t *handle = file->filep;
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

static void describe(const steadyfs_info *info, struct fs_dirent *entry)
{
    entry->type = info->type == STEADYFS_TYPE_DIR ? FS_DIR_ENTRY_DIR : FS_DIR_ENTRY_FILE;
    entry->size = (size_t)info->size;
    strncpy(entry->name, info->name, sizeof entry->name - 1);
    entry->name[sizeof entry->name - 1] = 0;
}

static int glue_readdir(struct fs_dir_t *dir, struct fs_dirent *entry)
{
    steadyfs_info info;
    int there = told(steadyfs_dir_read(&volume_of(dir->mp)->fs, dir->dirp, &info));
    if (there > 0)
        describe(&info, entry);
    else
        entry->name[0] = 0; /* the end */
    return there < 0 ? there : 0;
}

static int glue_closedir(struct fs_dir_t *dir)
{
    struct steadyfs_zephyr *volume = volume_of(dir->mp);
    steadyfs_dir_t *handle = dir->dirp;
    volume->dirs_used[handle - volume->dirs] = false;
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
    memset(&volume->fs, 0, sizeof volume->fs);
    volume->config.read_only = (mount->flags & FS_MOUNT_FLAG_READ_ONLY) != 0;
    error = steadyfs_mount(&volume->fs, &volume->config);
    if (error == STEADYFS_ERR_NOTFORMATTED && !(mount->flags & (FS_MOUNT_FLAG_NO_FORMAT | FS_MOUNT_FLAG_READ_ONLY))) {
        error = steadyfs_format(&volume->fs, &volume->config);
        if (error == 0)
            error = steadyfs_mount(&volume->fs, &volume->config);
    }
    return told(error);
}

static int glue_unmount(struct fs_mount_t *mount)
{
    return told(steadyfs_unmount(&volume_of(mount)->fs));
}

static int glue_unlink(struct fs_mount_t *mount, const char *path)
{
    return told(steadyfs_remove(&volume_of(mount)->fs, path_of(mount, path)));
}

static int glue_rename(struct fs_mount_t *mount, const char *from, const char *to)
{
    return told(steadyfs_rename(&volume_of(mount)->fs, path_of(mount, from), path_of(mount, to)));
}

static int glue_mkdir(struct fs_mount_t *mount, const char *path)
{
    return told(steadyfs_mkdir(&volume_of(mount)->fs, path_of(mount, path)));
}

static int glue_stat(struct fs_mount_t *mount, const char *path, struct fs_dirent *entry)
{
    steadyfs_info info;
    int error = told(steadyfs_stat(&volume_of(mount)->fs, path_of(mount, path), &info));
    if (error == 0)
        describe(&info, entry);
    return error;
}

static int glue_statvfs(struct fs_mount_t *mount, const char *path, struct fs_statvfs *stat)
{
    steadyfs_fsinfo info;
    int64_t free_bytes = steadyfs_fs_free(&volume_of(mount)->fs);
    int error = told(free_bytes < 0 ? (int)free_bytes : steadyfs_fs_stat(&volume_of(mount)->fs, &info));
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
    };
    return fs_register(STEADYFS_ZEPHYR_TYPE, &glue);
}
