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

int main(void)
{
    static uint8_t memory[8192];
    static steadyfs_t fs;
    static steadyfs_vfs vfs;
    struct power power = {.random = 1};
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
    EXPECT(steadyfs_unmount(&fs) == 0);
    nor_free(&chip);
    printf("the table of calls does what newlib asks\n");
    return 0;
}
