/*
 * Tests the shim in esp-idf/ on the host: makes calls through ESP-IDF's table of calls to a
 * volume on a simulated chip.
 */

#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700

#include "chip.h"

#include "esp-idf/steadyfs_vfs.c"

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(is)                                                       \
    do {                                                                 \
        if (!(is)) {                                                     \
            fprintf(stderr, "line %d: not %s, errno %d\n", __LINE__, #is, errno); \
            exit(1);                                                     \
        }                                                                \
    } while (0)

static const esp_vfs_t *registered;
static void *context;

/* Stands for ESP-IDF's function. */
esp_err_t esp_vfs_register(const char *base_path, const esp_vfs_t *table, void *ctx)
{
    EXPECT(strcmp(base_path, "/data") == 0);
    registered = table;
    context = ctx;
    return ESP_OK;
}

static struct power power = {.random = 1};

/* ESP-IDF passes each call on, after a failed one too. */
static void failed_close_can_be_repeated(steadyfs_t *fs, const steadyfs_config *config)
{
    char byte;
    int fd = registered->open_p(context, "/failed", O_RDWR | O_CREAT, 0);
    EXPECT(fd >= 0 && registered->write_p(context, fd, "x", 1) == 1);
    power.is_off = true;
    EXPECT(registered->close_p(context, fd) == -1 && errno == EIO);
    EXPECT(registered->close_p(context, fd) == -1 && errno == EBADF);
    EXPECT(registered->read_p(context, fd, &byte, 1) == -1 && errno == EBADF);
    power.is_off = false;
    EXPECT(steadyfs_unmount(fs) != 0 && steadyfs_mount(fs, config) == 0);
    EXPECT(registered->open_p(context, "/", O_RDONLY, 0) == -1 && errno == EISDIR);
}

/* A name of 255 bytes is returned whole, a longer one is refused. */
static void names_are_whole_or_refused(void)
{
    char path[258];
    DIR *dir;
    struct dirent *entry;
    int fd;
    memset(path, 'n', sizeof path);
    path[0] = '/';
    path[257] = 0;
    EXPECT(registered->open_p(context, path, O_RDWR | O_CREAT, 0) == -1 && errno == ENAMETOOLONG);
    path[256] = 0;
    fd = registered->open_p(context, path, O_RDWR | O_CREAT, 0);
    EXPECT(fd >= 0 && registered->close_p(context, fd) == 0);
    dir = registered->opendir_p(context, "/");
    EXPECT(dir != NULL && (entry = registered->readdir_p(context, dir)) != NULL);
    EXPECT(strcmp(entry->d_name, path + 1) == 0 && registered->telldir_p(context, dir) == 1);
    EXPECT(registered->readdir_p(context, dir) == NULL);
    registered->seekdir_p(context, dir, 0);
    EXPECT(registered->readdir_p(context, dir) != NULL);
    EXPECT(registered->closedir_p(context, dir) == 0 && registered->unlink_p(context, path) == 0);
}

/* An open without O_TRUNC keeps the contents. O_CREAT needs no write access. */
static void flags_and_sizes(void)
{
    struct stat st;
    int fd = registered->open_p(context, "/kept", O_RDONLY | O_CREAT | O_EXCL, 0);
    EXPECT(fd >= 0 && registered->write_p(context, fd, "x", 1) == -1 && errno == EBADF);
    EXPECT(registered->lseek_p(context, fd, 0, 3) == -1 && errno == EINVAL);
    EXPECT(registered->close_p(context, fd) == 0);
    EXPECT(registered->open_p(context, "/kept", O_RDONLY | O_CREAT | O_EXCL, 0) == -1);
    EXPECT(errno == EEXIST && registered->truncate_p(context, "/kept", 9) == 0);
    fd = registered->open_p(context, "/kept", O_WRONLY | O_CREAT, 0);
    EXPECT(registered->write_p(context, fd, "x", 1) == 1);
    EXPECT(registered->fstat_p(context, fd, &st) == 0 && st.st_size == 9);
    EXPECT(registered->ftruncate_p(context, fd, -1) == -1 && errno == EINVAL);
    EXPECT(registered->ftruncate_p(context, fd, 1) == 0 && registered->close_p(context, fd) == 0);
    EXPECT(registered->stat_p(context, "/kept", &st) == 0 && st.st_size == 1);
    fd = registered->open_p(context, "/kept", O_WRONLY | O_TRUNC, 0);
    EXPECT(registered->close_p(context, fd) == 0);
    EXPECT(registered->stat_p(context, "/kept", &st) == 0 && st.st_size == 0);
    EXPECT(registered->truncate_p(context, "/none", 0) == -1 && errno == ENOENT);
    EXPECT(registered->access_p(context, "/kept", R_OK) == 0);
    EXPECT(registered->unlink_p(context, "/kept") == 0);
    EXPECT(registered->access_p(context, "/kept", R_OK) == -1 && errno == ENOENT);
}

int main(void)
{
    static uint8_t memory[8192];
    static steadyfs_t fs;
    static steadyfs_vfs vfs;
    struct nor_chip chip;
    steadyfs_nor nor;
    struct stat st;
    char found[16] = {0};
    DIR *dir;
    struct dirent *entry;
    int fd, count = 0;

    nor_new(&chip, &power, 4096, 256, &nor);
    const steadyfs_config config = {.nor = &nor, .memory = memory, .memory_bytes = sizeof memory};
    EXPECT(steadyfs_format(&fs, &config) == 0 && steadyfs_mount(&fs, &config) == 0);
    EXPECT(steadyfs_vfs_register(&vfs, &fs, "/data") == ESP_OK && registered->flags == ESP_VFS_FLAG_CONTEXT_PTR);

    EXPECT(registered->open_p(context, "/log", O_RDONLY, 0) == -1 && errno == ENOENT);
    fd = registered->open_p(context, "/log", O_RDWR | O_CREAT, 0);
    EXPECT(fd >= 0 && registered->write_p(context, fd, "21.5 degrees\n", 13) == 13);
    EXPECT(registered->lseek_p(context, fd, -8, SEEK_END) == 5 && registered->read_p(context, fd, found, 16) == 8);
    EXPECT(memcmp(found, "degrees\n", 8) == 0 && registered->fsync_p(context, fd) == 0);
    EXPECT(registered->fstat_p(context, fd, &st) == 0 && st.st_size == 13 && registered->close_p(context, fd) == 0);
    EXPECT(registered->read_p(context, fd, found, 1) == -1 && errno == EBADF);
    EXPECT(registered->mkdir_p(context, "/old", 0) == 0 && registered->rename_p(context, "/log", "/old/log") == 0);
    EXPECT(registered->stat_p(context, "/old", &st) == 0 && S_ISDIR(st.st_mode));
    EXPECT(registered->rmdir_p(context, "/old") == -1 && errno == ENOTEMPTY);
    dir = registered->opendir_p(context, "/old");
    EXPECT(dir != NULL);
    while ((entry = registered->readdir_p(context, dir)) != NULL)
        count += strcmp(entry->d_name, "log") == 0 && entry->d_type == DT_REG;
    EXPECT(count == 1 && registered->closedir_p(context, dir) == 0);
    for (fd = 0; fd < STEADYFS_VFS_FILES; fd++)
        EXPECT(registered->open_p(context, "/old/log", O_RDONLY, 0) == fd);
    EXPECT(registered->open_p(context, "/old/log", O_RDONLY, 0) == -1 && errno == ENFILE);
    for (fd = 0; fd < STEADYFS_VFS_FILES; fd++)
        EXPECT(registered->close_p(context, fd) == 0);
    EXPECT(registered->unlink_p(context, "/old/log") == 0 && registered->rmdir_p(context, "/old") == 0);
    flags_and_sizes();
    names_are_whole_or_refused();
    failed_close_can_be_repeated(&fs, &config);
    EXPECT(steadyfs_unmount(&fs) == 0);
    nor_free(&chip);
    printf("the table of calls does what newlib asks\n");
    return 0;
}
