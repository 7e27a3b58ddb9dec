/*
 * Tests every call of the header: its results, its refusals, and its bound. Uses three volumes on
 * three media at once.
 */

#include "chip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(value, call) expect((int64_t)(value), (int64_t)(call), #call, __LINE__)
#define CREATE (STEADYFS_O_RDWR | STEADYFS_O_CREAT)

static void expect(int64_t expected, int64_t found, const char *call, int line)
{
    if (expected != found) {
        fprintf(stderr, "line %d: %s is %ld, not %ld: %s\n", line, call, (long)found, (long)expected,
                steadyfs_error_string((int)found));
        exit(1);
    }
}

static void *lend(steadyfs_config *config)
{
    ptrdiff_t bytes = steadyfs_memory_bytes(config);
    EXPECT(1, bytes > 0);
    config->memory_bytes = (size_t)bytes;
    return config->memory = need(config->memory_bytes);
}

/* ---- Refused configurations ---- */

static int never_called(void *context, uint32_t page, uint8_t *tag)
{
    (void)context, (void)page, (void)tag;
    abort();
}

static void refuse_configurations(const steadyfs_nor *good_nor, const steadyfs_nand *good_nand, const steadyfs_sectors *good_card)
{
    steadyfs_nor nor = *good_nor;
    steadyfs_nand nand = *good_nand;
    steadyfs_sectors card = *good_card;
    steadyfs_config config = {.nor = &nor};
    steadyfs_settings settings;
    steadyfs_t fs;
    uint8_t little[64];

    EXPECT(STEADYFS_ERR_INVAL, steadyfs_memory_bytes(NULL));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_mount(&fs, NULL));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_mount(NULL, &config));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_format(NULL, &config));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_mount((steadyfs_t *)((char *)&fs + 1), &config));
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_mount(&fs, &config));
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_format(&fs, &config));
    config.memory = little;
    config.memory_bytes = sizeof little;
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_format(&fs, &config));
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_mount(&fs, &config));
    config.commit_on = 1 << 13;
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_mount(&fs, &config));
    EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_commit(&fs));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_settings_of(&config, NULL));

    config = (steadyfs_config){0};
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_memory_bytes(&config));
    config = (steadyfs_config){.nor = &nor, .nand = &nand};
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_memory_bytes(&config));
    config = (steadyfs_config){.nor = &nor};
    nor.program = NULL;
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_memory_bytes(&config));
    nor = *good_nor;
    nor.erase_bytes = 0;
    EXPECT(STEADYFS_ERR_CONFIG_BLOCKS, steadyfs_memory_bytes(&config));
    nor.erase_bytes = 4000;
    EXPECT(STEADYFS_ERR_CONFIG_BLOCKS, steadyfs_memory_bytes(&config));
    nor.erase_bytes = 4096;
    nor.erase_count = 0;
    EXPECT(STEADYFS_ERR_CONFIG_BLOCKS, steadyfs_memory_bytes(&config));
    nor.erase_count = 3;
    EXPECT(STEADYFS_ERR_CONFIG_TOO_FEW_BLOCKS, steadyfs_memory_bytes(&config));
    nor.erase_count = 1u << 31;
    EXPECT(STEADYFS_ERR_CONFIG_BLOCKS, steadyfs_memory_bytes(&config));
    nor = *good_nor;
    nor.program_page_bytes = 0;
    EXPECT(STEADYFS_ERR_CONFIG_PAGE_BYTES, steadyfs_memory_bytes(&config));
    nor = *good_nor;
    config.settings.group_sectors = 3;
    EXPECT(STEADYFS_ERR_CONFIG_BLOCKS, steadyfs_memory_bytes(&config));
    /*
     * The default groups fit the usual settings. Other settings may need larger groups; the error
     * texts mention this.
     */
    nor.erase_count = 512;
    config.settings = (steadyfs_settings){.pages_per_logical_page = 8};
    EXPECT(STEADYFS_ERR_CONFIG_UNIT_PAGES, steadyfs_memory_bytes(&config));
    EXPECT(1, strstr(steadyfs_error_string(STEADYFS_ERR_CONFIG_UNIT_PAGES), "group_sectors") != NULL);
    config.settings.group_sectors = 8;
    EXPECT(1, steadyfs_memory_bytes(&config) > 0);
    config.settings = (steadyfs_settings){.overlay_entries = 1000};
    EXPECT(STEADYFS_ERR_CONFIG_BLOCK_TOO_SMALL, steadyfs_memory_bytes(&config));
    EXPECT(1, strstr(steadyfs_error_string(STEADYFS_ERR_CONFIG_BLOCK_TOO_SMALL), "group_sectors") != NULL);
    config.settings.group_sectors = 8;
    EXPECT(1, steadyfs_memory_bytes(&config) > 0);
    /* Times from which no bound can be computed. */
    config.settings = (steadyfs_settings){0};
    nor = *good_nor;
    nor.erase_ns = nor.program_ns = UINT64_MAX;
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_memory_bytes(&config));
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_mount(&fs, &config));
    nor.erase_ns = nor.program_ns = 100000000000u;
    EXPECT(1, steadyfs_memory_bytes(&config) > 0);
    nor = *good_nor;
    config = (steadyfs_config){.nand = &nand};
    nand.timing.copy_ns = 100000000001u;
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_memory_bytes(&config));
    nand = *good_nand;
    config = (steadyfs_config){.sectors = &card};
    card.flush_ns = UINT64_MAX;
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_memory_bytes(&config));
    card = *good_card;

    config = (steadyfs_config){.nand = &nand};
    nand.page_bytes = 1000;
    EXPECT(STEADYFS_ERR_CONFIG_PAGE_BYTES, steadyfs_memory_bytes(&config));
    nand = *good_nand;
    nand.pages_per_block = 0;
    EXPECT(STEADYFS_ERR_CONFIG_BLOCKS, steadyfs_memory_bytes(&config));
    nand.pages_per_block = 4096;
    nand.block_count = 1 << 20;
    EXPECT(STEADYFS_ERR_CONFIG_BLOCKS, steadyfs_memory_bytes(&config));
    nand = *good_nand;
    nand.read_tag = NULL;
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_memory_bytes(&config));
    nand.read_tag = never_called;
    EXPECT(1, steadyfs_memory_bytes(&config) > 0);
    config.settings.pages_per_logical_page = 3;
    EXPECT(STEADYFS_ERR_CONFIG_UNIT_PAGES, steadyfs_memory_bytes(&config));
    config.settings = (steadyfs_settings){.transaction_pages = 1};
    EXPECT(STEADYFS_ERR_CONFIG_TRANSACTION_PAGES, steadyfs_memory_bytes(&config));
    config.settings = (steadyfs_settings){.overlay_entries = 20};
    EXPECT(STEADYFS_ERR_CONFIG_OVERLAY_ENTRIES, steadyfs_memory_bytes(&config));
    config.settings = (steadyfs_settings){.checkpoint_programs = 1};
    EXPECT(STEADYFS_ERR_CONFIG_CHECKPOINT_PROGRAMS, steadyfs_memory_bytes(&config));
    config.settings = (steadyfs_settings){.wear_spread = 1};
    EXPECT(STEADYFS_ERR_CONFIG_WEAR_SPREAD, steadyfs_memory_bytes(&config));
    config.settings = (steadyfs_settings){.files_max = 1u << 31};
    EXPECT(STEADYFS_ERR_CONFIG_FILES, steadyfs_memory_bytes(&config));
    config.settings = (steadyfs_settings){.streams = 5};
    EXPECT(STEADYFS_ERR_CONFIG_STREAMS, steadyfs_memory_bytes(&config));
    config.settings = (steadyfs_settings){.move_group = 2};
    EXPECT(STEADYFS_ERR_CONFIG_MOVE_GROUP, steadyfs_memory_bytes(&config));
    config.settings = (steadyfs_settings){.bad_blocks_max = 60};
    EXPECT(STEADYFS_ERR_CONFIG_TOO_FEW_BLOCKS, steadyfs_memory_bytes(&config));

    /*
     * Each open file beyond eight takes twelve bytes. steadyfs_settings_of returns the settings
     * with their defaults.
     */
    config.settings = (steadyfs_settings){0};
    {
        ptrdiff_t bytes = steadyfs_memory_bytes(&config);
        config.settings.open_files = 20;
        EXPECT(bytes + 12 * 12, steadyfs_memory_bytes(&config));
    }
    EXPECT(0, steadyfs_settings_of(&config, &settings));
    EXPECT(32, settings.wear_spread);
    EXPECT(20, settings.open_files);
    EXPECT(1, settings.pages_per_logical_page > 0 && settings.files_max > 0);
    {
        ptrdiff_t bytes = steadyfs_memory_bytes(&config);
        config.settings = settings;
        EXPECT(bytes, steadyfs_memory_bytes(&config));
    }
    /* Settings for a given amount of memory: the settings above, if they just fit. */
    {
        steadyfs_config some = config;
        some.settings = (steadyfs_settings){0};
        ptrdiff_t bytes = steadyfs_memory_bytes(&some);
        EXPECT(0, steadyfs_settings_for(&some, (size_t)bytes, &some.settings));
        EXPECT(bytes, steadyfs_memory_bytes(&some));
        some.settings = (steadyfs_settings){0};
        EXPECT(0, steadyfs_settings_for(&some, (size_t)bytes - 1, &some.settings));
        EXPECT(1, steadyfs_memory_bytes(&some) < bytes);
        EXPECT(STEADYFS_ERR_INVAL, steadyfs_settings_for(&config, 0, NULL));
    }
    EXPECT(2 * steadyfs_cache_bytes(&config, 1), steadyfs_cache_bytes(&config, 2));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_cache_bytes(&config, (size_t)-1));
    EXPECT(2 * steadyfs_read_cache_bytes(&config, 2), steadyfs_read_cache_bytes(&config, 1) + steadyfs_read_cache_bytes(&config, 3));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_read_cache_bytes(&config, (size_t)-1));

    config = (steadyfs_config){.sectors = &card};
    card.page_bytes = 256;
    EXPECT(STEADYFS_ERR_CONFIG_PAGE_BYTES, steadyfs_memory_bytes(&config));
    card = *good_card;
    card.first = card.sector_count;
    EXPECT(STEADYFS_ERR_CONFIG_BLOCKS, steadyfs_memory_bytes(&config));
    card = *good_card;
    card.block_sectors = 3;
    EXPECT(STEADYFS_ERR_CONFIG_BLOCKS, steadyfs_memory_bytes(&config));
    card = *good_card;
    card.tags = STEADYFS_TAGS_WITHIN + 1;
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_memory_bytes(&config));
    card = *good_card;
    card.read = NULL;
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_memory_bytes(&config));
}

/* ---- Calls ---- */

struct seen {
    steadyfs_t *fs;
    unsigned events[6];
};

static void changed(void *context, int event, uint32_t inode)
{
    struct seen *seen = context;
    (void)inode;
    seen->events[event]++;
    /* This callback runs inside a call of the volume, so the volume accepts no other call. */
    EXPECT(STEADYFS_ERR_BUSY, steadyfs_commit(seen->fs));
}

static void report(void *context, const steadyfs_finding *finding)
{
    (void)context;
    fprintf(stderr, "finding %d of inode %u\n", finding->kind, (unsigned)finding->inode);
    exit(1);
}

static void use_files(steadyfs_t *fs, steadyfs_t *other)
{
    steadyfs_file_t file, again, closed = {0};
    steadyfs_info info;
    char bytes[16];
    static uint8_t large[10000], found[10000];

    EXPECT(STEADYFS_ERR_NOENT, steadyfs_file_open(fs, &file, "a", STEADYFS_O_RDONLY));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_file_open(fs, &file, NULL, CREATE));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_file_open(fs, NULL, "a", CREATE));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_file_open(fs, &file, "a", 0));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_file_open(fs, &file, "a", CREATE | 0x4000));
    EXPECT(STEADYFS_ERR_NOTUTF8, steadyfs_file_open(fs, &file, "a\xFF", CREATE));
    EXPECT(STEADYFS_ERR_NOTWRITABLE, steadyfs_file_open(fs, &file, "a", STEADYFS_O_RDONLY | STEADYFS_O_CREAT));
    EXPECT(STEADYFS_ERR_NOTDIR, (EXPECT(0, steadyfs_file_open(fs, &file, "a", CREATE)), steadyfs_mkdir(fs, "a/b")));
    EXPECT(STEADYFS_ERR_EXIST, steadyfs_file_open(fs, &again, "a", CREATE | STEADYFS_O_EXCL));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_file_size(fs, &again));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_file_size(fs, &closed));
    EXPECT(steadyfs_has_changes(other) < 0 ? STEADYFS_ERR_NOTMOUNTED : STEADYFS_ERR_BADF, steadyfs_file_size(other, &file));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_file_size(fs, NULL));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_file_write(fs, &file, NULL, 1));
    EXPECT(0, steadyfs_file_write(fs, &file, NULL, 0));
    EXPECT(5, steadyfs_file_write(fs, &file, "hello", 5));
    EXPECT(5, steadyfs_file_tell(fs, &file));
    EXPECT(0, steadyfs_file_read(fs, &file, bytes, sizeof bytes));
    EXPECT(0, steadyfs_file_rewind(fs, &file));
    EXPECT(5, steadyfs_file_read(fs, &file, bytes, sizeof bytes));
    EXPECT(0, memcmp(bytes, "hello", 5));
    EXPECT(3, steadyfs_file_seek(fs, &file, -2, STEADYFS_SEEK_END));
    EXPECT(2, steadyfs_file_seek(fs, &file, -1, STEADYFS_SEEK_CUR));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_file_seek(fs, &file, -3, STEADYFS_SEEK_CUR));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_file_seek(fs, &file, 0, 3));
    EXPECT(STEADYFS_ERR_FBIG, steadyfs_file_seek(fs, &file, INT64_MAX, STEADYFS_SEEK_SET));
    EXPECT(2, steadyfs_file_tell(fs, &file));
    EXPECT(10, steadyfs_file_seek(fs, &file, 10, STEADYFS_SEEK_SET));
    EXPECT(1, steadyfs_file_write(fs, &file, "!", 1));
    EXPECT(11, steadyfs_file_size(fs, &file));
    EXPECT(0, steadyfs_file_rewind(fs, &file));
    EXPECT(11, steadyfs_file_read(fs, &file, bytes, sizeof bytes));
    EXPECT(0, memcmp(bytes, "hello\0\0\0\0\0!", 11));
    EXPECT(0, steadyfs_file_truncate(fs, &file, 2));
    EXPECT(2, steadyfs_file_size(fs, &file));
    EXPECT(0, steadyfs_file_sync(fs, &file));
    EXPECT(0, steadyfs_has_changes(fs));
    EXPECT(1, steadyfs_file_reserve(fs, &file, 0, 20000) > 0);
    EXPECT(0, steadyfs_stat(fs, "/a", &info));
    EXPECT(info.inode, steadyfs_file_inode(fs, &file));
    EXPECT(2, info.size);
    EXPECT(STEADYFS_TYPE_REG, info.type);
    EXPECT(0, strcmp("a", info.name));
    EXPECT(0, steadyfs_file_close(fs, &file));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_file_close(fs, &file));

    /*
     * A handle for reading does not write. A handle for writing does not read. A handle that
     * appends does so from any position.
     */
    EXPECT(0, steadyfs_file_open_inode(fs, &file, info.inode, STEADYFS_O_RDONLY));
    EXPECT(STEADYFS_ERR_NOTWRITABLE, steadyfs_file_write(fs, &file, "x", 1));
    EXPECT(STEADYFS_ERR_NOTWRITABLE, steadyfs_file_truncate(fs, &file, 0));
    EXPECT(0, steadyfs_file_close(fs, &file));
    EXPECT(0, steadyfs_file_open(fs, &file, "a", STEADYFS_O_WRONLY | STEADYFS_O_APPEND));
    EXPECT(STEADYFS_ERR_NOTREADABLE, steadyfs_file_read(fs, &file, bytes, 1));
    EXPECT(0, steadyfs_file_rewind(fs, &file));
    EXPECT(1, steadyfs_file_write(fs, &file, "y", 1));
    EXPECT(3, steadyfs_file_tell(fs, &file));
    EXPECT(0, steadyfs_file_close(fs, &file));

    /* A file of several pages, removed while it is open. */
    for (size_t at = 0; at < sizeof large; at++)
        large[at] = (uint8_t)(at * 31 + at / 256);
    EXPECT(0, steadyfs_file_open(fs, &file, "large", CREATE | STEADYFS_O_TRUNC | 3 * STEADYFS_O_STREAM));
    EXPECT(sizeof large, steadyfs_file_write(fs, &file, large, sizeof large));
    EXPECT(0, steadyfs_remove(fs, "large"));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_stat(fs, "large", &info));
    EXPECT(0, steadyfs_file_rewind(fs, &file));
    EXPECT(sizeof large, steadyfs_file_read(fs, &file, found, sizeof found));
    EXPECT(0, memcmp(found, large, sizeof large));
    EXPECT(0, steadyfs_file_close(fs, &file));

    /* As many open files as the volume has room for. */
    static steadyfs_file_t files[9];
    char name[8] = "f0";
    for (int at = 0; at < 8; at++, name[1]++)
        EXPECT(0, steadyfs_file_open(fs, &files[at], name, CREATE));
    EXPECT(STEADYFS_ERR_TOOMANYOPEN, steadyfs_file_open(fs, &files[8], name, CREATE));
    EXPECT(0, steadyfs_file_close(fs, &files[0]));
    EXPECT(0, steadyfs_file_close_all(fs));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_file_write(fs, &files[1], "x", 1));
    EXPECT(0, steadyfs_file_open(fs, &files[8], name, CREATE));
    EXPECT(0, steadyfs_file_close(fs, &files[8]));
    EXPECT(0, steadyfs_remove(fs, name));
    for (int at = 0; at < 8; at++) {
        name[1]--;
        EXPECT(0, steadyfs_remove(fs, name));
    }
}

static void use_names(steadyfs_t *fs)
{
    steadyfs_info info;
    steadyfs_dir_t dir, none = {{0}};
    steadyfs_file_t file;
    steadyfs_permissions permissions = {.mode = 0640, .uid = 7, .gid = 9};
    char text[300];
    bool listed[20] = {false};
    int64_t middle = 0;
    unsigned after = 0;

    memset(text, 'n', sizeof text);
    text[299] = 0;
    EXPECT(STEADYFS_ERR_NAMETOOLONG, steadyfs_mkdir(fs, text));
    text[255] = 0;
    EXPECT(0, steadyfs_mkdir(fs, text));
    EXPECT(0, steadyfs_stat(fs, text, &info));
    EXPECT(0, strcmp(text, info.name));
    EXPECT(0, steadyfs_remove(fs, text));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_mkdir(fs, NULL));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_stat(fs, "/", NULL));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rename(fs, "a", NULL));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rename(fs, "a", "/"));
    EXPECT(0, steadyfs_mkdir(fs, "dir"));
    EXPECT(STEADYFS_ERR_EXIST, steadyfs_mkdir(fs, "dir"));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_mkdir(fs, "none/dir"));
    EXPECT(STEADYFS_ERR_ISDIR, steadyfs_file_open(fs, &file, "dir", STEADYFS_O_RDONLY));
    for (int at = 0; at < 20; at++) {
        snprintf(text, sizeof text, "dir/%d", at);
        EXPECT(0, steadyfs_file_open(fs, &file, text, CREATE));
        EXPECT(0, steadyfs_file_close(fs, &file));
    }
    EXPECT(STEADYFS_ERR_NOTEMPTY, steadyfs_remove(fs, "dir"));
    EXPECT(STEADYFS_ERR_INTOITSELF, steadyfs_rename(fs, "dir", "dir/dir"));
    EXPECT(0, steadyfs_rename(fs, "dir/7", "dir/6"));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_rename(fs, "dir/7", "dir/8"));
    EXPECT(STEADYFS_ERR_INTOITSELF, steadyfs_exchange(fs, "dir", "dir/6"));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_exchange(fs, "dir/6", "dir/7"));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_exchange(fs, "dir/6", NULL));
    EXPECT(0, steadyfs_exchange(fs, "dir", "a"));
    EXPECT(0, steadyfs_stat(fs, "a/6", &info));
    EXPECT(0, steadyfs_exchange(fs, "dir", "a"));
    EXPECT(0, steadyfs_stat(fs, "dir/", &info));
    EXPECT(STEADYFS_TYPE_DIR, info.type);
    EXPECT(19, info.size);
    EXPECT(0, steadyfs_stat(fs, "", &info));
    EXPECT(0, strcmp("/", info.name));

    EXPECT(STEADYFS_ERR_NOTDIR, steadyfs_dir_open(fs, &dir, "a"));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_dir_read(fs, &dir, &info));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_dir_read(fs, &none, &info));
    EXPECT(0, steadyfs_dir_open(fs, &dir, "dir"));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_dir_read(fs, &dir, NULL));
    for (int count = 0; count < 19; count++) {
        if (count == 10)
            middle = steadyfs_dir_tell(fs, &dir);
        EXPECT(1, steadyfs_dir_read(fs, &dir, &info));
        EXPECT(false, listed[atoi(info.name)]);
        listed[atoi(info.name)] = true;
    }
    EXPECT(false, listed[7]);
    EXPECT(0, steadyfs_dir_read(fs, &dir, &info));
    EXPECT(0, steadyfs_dir_read(fs, &dir, &info));
    EXPECT(0, steadyfs_dir_seek(fs, &dir, middle));
    while (steadyfs_dir_read(fs, &dir, &info) == 1)
        after++;
    EXPECT(9, after);
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_dir_seek(fs, &dir, -1));
    EXPECT(0, steadyfs_dir_rewind(fs, &dir));
    EXPECT(1, steadyfs_dir_read(fs, &dir, &info));
    EXPECT(0, steadyfs_dir_close(fs, &dir));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_dir_close(fs, &dir));

    EXPECT(STEADYFS_ERR_NOATTR, steadyfs_getattr(fs, "a", "k", text, sizeof text));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_getattr(fs, "none", "k", text, sizeof text));
    EXPECT(0, steadyfs_setattr(fs, "a", "k", "value", 5));
    EXPECT(0, steadyfs_setattr(fs, "a", "empty", NULL, 0));
    EXPECT(0, steadyfs_getattr(fs, "a", "empty", NULL, 0));
    EXPECT(5, steadyfs_getattr(fs, "a", "k", text, 2));
    EXPECT(5, steadyfs_getattr(fs, "a", "k", text, sizeof text));
    EXPECT(0, memcmp(text, "value", 5));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_setattr(fs, "a", "", "v", 1));
    EXPECT(STEADYFS_ERR_ATTRIBUTES, steadyfs_setattr(fs, "a", "long", text, sizeof text));
    EXPECT(0, steadyfs_removeattr(fs, "a", "k"));
    EXPECT(STEADYFS_ERR_NOATTR, steadyfs_removeattr(fs, "a", "k"));

    EXPECT(0, steadyfs_symlink(fs, "dir/6", "link"));
    EXPECT(5, steadyfs_readlink(fs, "link", text, sizeof text));
    EXPECT(0, memcmp(text, "dir/6", 5));
    EXPECT(STEADYFS_ERR_NOTALINK, steadyfs_readlink(fs, "a", text, sizeof text));
    EXPECT(STEADYFS_ERR_ISALINK, steadyfs_file_open(fs, &file, "link", STEADYFS_O_RDONLY));
    EXPECT(0, steadyfs_stat(fs, "link", &info));
    EXPECT(STEADYFS_TYPE_LINK, info.type);

    EXPECT(0, steadyfs_getpermissions(fs, "a", &permissions));
    EXPECT(0, permissions.mode);
    permissions = (steadyfs_permissions){.mode = 0640, .uid = 7, .gid = 9};
    EXPECT(0, steadyfs_setpermissions(fs, "a", &permissions));
    permissions = (steadyfs_permissions){0};
    EXPECT(1, steadyfs_getpermissions(fs, "a", &permissions));
    EXPECT(0640, permissions.mode);
    EXPECT(9, permissions.gid);
}

static void use_transactions(steadyfs_t *fs)
{
    steadyfs_file_t file;
    steadyfs_info info;

    EXPECT(0, steadyfs_set_commit_on(fs, STEADYFS_COMMIT_MANUAL));
    EXPECT(0, steadyfs_commit(fs));
    EXPECT(0, steadyfs_has_changes(fs));
    EXPECT(0, steadyfs_file_open(fs, &file, "undone", CREATE));
    EXPECT(1, steadyfs_has_changes(fs));
    EXPECT(0, steadyfs_sync(fs));
    EXPECT(1, steadyfs_has_changes(fs));
    EXPECT(0, steadyfs_rollback(fs));
    EXPECT(STEADYFS_ERR_STALE, steadyfs_file_size(fs, &file));
    EXPECT(0, steadyfs_file_close(fs, &file));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_stat(fs, "undone", &info));

    int64_t room = steadyfs_transaction_room(fs);
    static const uint8_t zeros[1 << 20];
    EXPECT(1, room > 0 && room < (int64_t)sizeof zeros);
    EXPECT(0, steadyfs_file_open(fs, &file, "undone", CREATE));
    EXPECT(1, steadyfs_transaction_room(fs) <= room);
    room = steadyfs_transaction_room(fs);
    EXPECT(room, steadyfs_file_write(fs, &file, zeros, (uint32_t)room));
    EXPECT(1, steadyfs_transaction_room(fs) < room);
    EXPECT(0, steadyfs_rollback(fs));
    EXPECT(0, steadyfs_file_close(fs, &file));

    EXPECT(0, steadyfs_set_commit_on(fs, STEADYFS_COMMIT_TIMED));
    EXPECT(0, steadyfs_set_time(fs, 1000));
    EXPECT(0, steadyfs_mkdir(fs, "timed"));
    EXPECT(1000 + 1000000000, steadyfs_poll(fs, 2000));
    EXPECT(0, steadyfs_poll(fs, 1000 + 1000000000));
    EXPECT(0, steadyfs_has_changes(fs));
    EXPECT(0, steadyfs_stat(fs, "timed", &info));
    EXPECT(1000, info.modified_ns);
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_set_commit_on(fs, 1 << 14));
    EXPECT(0, steadyfs_set_commit_on(fs, 0));
}

static void use_volume(steadyfs_t *fs, const steadyfs_config *config)
{
    steadyfs_fsinfo info;
    steadyfs_health_info health;
    steadyfs_checked checked;
    size_t bytes = (size_t)steadyfs_check_bytes(config);
    void *scratch = need(bytes);
    int rounds = 0;

    EXPECT(0, steadyfs_fs_stat(fs, &info));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_fs_stat(fs, NULL));
    EXPECT(info.used_bytes, steadyfs_fs_size(fs));
    EXPECT(1, info.usable_bytes > info.used_bytes && info.used_bytes > 0 && info.name_max == 255 && info.file_max > 100000);
    EXPECT(info.block_count, info.usable_bytes / info.block_size);
    EXPECT(1, steadyfs_fs_available(fs) > 0 && (uint64_t)steadyfs_fs_available(fs) < info.usable_bytes);
    EXPECT(1, steadyfs_fs_free(fs) > steadyfs_fs_available(fs) && (uint64_t)steadyfs_fs_free(fs) <= info.usable_bytes);
    while (steadyfs_fs_gc(fs, 1000000000000, 4096) == 0 && rounds < 100)
        rounds++;
    EXPECT(1, rounds < 100);
    EXPECT(0, steadyfs_fs_gc(fs, 0, 1 << 30));
    EXPECT(1, steadyfs_fs_scrub(fs, 1000000000000));
    EXPECT(0, steadyfs_health(fs, &health));
    EXPECT(1, (health.erases_total > 0 || config->sectors) && !health.read_only && health.reads > 0 && health.blocks > 0);
    EXPECT(STEADYFS_DAMAGE_NONE, steadyfs_damage(fs));
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_fs_check(fs, scratch, bytes - 1, false, report, NULL, &checked));
    EXPECT(0, steadyfs_fs_check(fs, scratch, bytes, true, report, NULL, &checked));
    EXPECT(0, checked.findings);
    EXPECT(1, checked.files >= 20 && checked.directories >= 3);
    EXPECT(0, steadyfs_fs_check(fs, scratch, bytes, false, NULL, NULL, NULL));
    EXPECT(0, steadyfs_fs_repair(fs, scratch, bytes, report, NULL, &checked));
    free(scratch);
}

/* Checks that the programs and erases of a call stay within its bound. */
#define BOUNDED(power, cost, call)                                                            \
    do {                                                                                      \
        uint64_t before = (power)->operations;                                                \
        EXPECT(1, (call) >= 0);                                                               \
        EXPECT(1, (power)->operations - before <= (uint64_t)factor * ((cost)->programs + (cost)->copies + (cost)->erases)); \
    } while (0)

/* `factor`: the largest number of operations of the chip for one program or erase. */
static void keep_bounds(steadyfs_t *fs, struct power *power, unsigned factor)
{
    steadyfs_cost cost, whole;
    steadyfs_file_t file;
    static uint8_t bytes[9000];
    char name[32], other[32];

    EXPECT(STEADYFS_ERR_INVAL, steadyfs_bound_commit(fs, NULL));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_bound_stat(fs, NULL, &cost));
    for (int round = 0; round < 40; round++) {
        snprintf(name, sizeof name, "bound%d", round % 7);
        snprintf(other, sizeof other, "moved%d", round % 5);
        memset(bytes, round, sizeof bytes);
        EXPECT(0, steadyfs_bound_file_open(fs, name, CREATE | STEADYFS_O_TRUNC | STEADYFS_O_DURABLE, &cost));
        BOUNDED(power, &cost, steadyfs_file_open(fs, &file, name, CREATE | STEADYFS_O_TRUNC | STEADYFS_O_DURABLE));
        EXPECT(0, steadyfs_bound_file_write(fs, &file, 100, &cost));
        EXPECT(1, cost.programs > 0 && cost.time_ns > 0);
        BOUNDED(power, &cost, steadyfs_file_write(fs, &file, bytes, 100));
        EXPECT(0, steadyfs_bound_file_write(fs, &file, sizeof bytes, &whole));
        EXPECT(1, whole.time_ns > cost.time_ns);
        BOUNDED(power, &whole, steadyfs_file_write(fs, &file, bytes, sizeof bytes));
        EXPECT(0, steadyfs_bound_overwrite(fs, &cost));
        {
            uint64_t one, many;
            EXPECT(0, steadyfs_bound_overwrites(fs, 1, &one));
            EXPECT(0, steadyfs_bound_overwrites(fs, 16, &many));
            EXPECT(1, one > 0 && one <= cost.time_ns && one < many);
            EXPECT(STEADYFS_ERR_INVAL, steadyfs_bound_overwrites(fs, 1, NULL));
        }
        EXPECT(1, cost.erases <= 2);
        EXPECT(0, steadyfs_bound_file_truncate(fs, &cost));
        BOUNDED(power, &cost, steadyfs_file_truncate(fs, &file, 4000));
        EXPECT(0, steadyfs_bound_file_close(fs, &cost));
        BOUNDED(power, &cost, steadyfs_file_close(fs, &file));
        EXPECT(0, steadyfs_bound_setattr(fs, name, &cost));
        BOUNDED(power, &cost, steadyfs_setattr(fs, name, "k", bytes, 30));
        EXPECT(0, steadyfs_bound_rename(fs, name, other, &cost));
        BOUNDED(power, &cost, steadyfs_rename(fs, name, other));
        EXPECT(0, steadyfs_bound_mkdir(fs, name, &cost));
        BOUNDED(power, &cost, steadyfs_mkdir(fs, name));
        EXPECT(0, steadyfs_bound_exchange(fs, name, other, &cost));
        BOUNDED(power, &cost, steadyfs_exchange(fs, name, other));
        BOUNDED(power, &cost, steadyfs_exchange(fs, name, other));
        EXPECT(0, steadyfs_bound_remove(fs, name, &cost));
        BOUNDED(power, &cost, steadyfs_remove(fs, name));
        EXPECT(0, steadyfs_bound_commit(fs, &cost));
        BOUNDED(power, &cost, steadyfs_commit(fs));
        /* Calls that only read program nothing. */
        EXPECT(0, steadyfs_bound_file_read(fs, 5000, &cost));
        EXPECT(0, cost.programs + cost.erases);
        EXPECT(0, steadyfs_bound_getattr(fs, other, &cost));
        EXPECT(0, steadyfs_bound_dir_read(fs, &whole));
        EXPECT(1, cost.reads > 0 && whole.reads > 0);
        EXPECT(0, steadyfs_bound_stat(fs, other, &cost));
        EXPECT(0, cost.programs + cost.erases);
    }
    EXPECT(0, steadyfs_bound_file_read(fs, (size_t)-1, &cost));
    EXPECT(0, steadyfs_bound_rollback(fs, &cost));
    EXPECT(1, cost.reads > 0 && cost.programs + cost.erases == 0);
    EXPECT(0, steadyfs_bound_mount(fs, &whole));
    EXPECT(0, steadyfs_bound_clean_mount(fs, &cost));
    EXPECT(1, cost.reads > 0 && cost.reads < whole.reads && cost.programs + cost.erases == 0);
    EXPECT(0, steadyfs_bound_unmount(fs, &cost));
}

/* Tests compressed files, and plain files through the same calls. */
static void use_packed(steadyfs_t *fs, struct power *power, unsigned factor)
{
    enum { CHUNK = 4096, LINES = 900 };
    static const char line[] = "21.5 degrees\n";
    static char text[20000], again[20000];
    ptrdiff_t reads = steadyfs_packed_memory_bytes(CHUNK, STEADYFS_O_RDONLY);
    ptrdiff_t writes = steadyfs_packed_memory_bytes(CHUNK, STEADYFS_O_RDWR);
    void *memory = need((size_t)writes), *other = need((size_t)reads);
    size_t bytes = 0;
    steadyfs_packed_t file, none = {{0}, {0}};
    steadyfs_file_t stored;
    steadyfs_cost cost;
    steadyfs_info info;

    EXPECT(4144, reads);
    EXPECT(1, writes > reads);
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_packed_memory_bytes(5000, STEADYFS_O_RDWR));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_packed_size(fs, &none));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_packed_open(fs, &file, "packed", STEADYFS_O_RDWR, CHUNK, memory, (size_t)writes));
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_packed_open(fs, &file, "packed", CREATE, CHUNK, memory, (size_t)reads));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_stat(fs, "packed", &info));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_packed_open(fs, &file, "packed", CREATE, 5000, memory, (size_t)writes));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_packed_open(fs, &file, "packed", CREATE, CHUNK, NULL, (size_t)writes));
    EXPECT(0, steadyfs_packed_open(fs, &file, "packed", CREATE | STEADYFS_O_APPEND | STEADYFS_O_DURABLE, CHUNK, memory, (size_t)writes));
    EXPECT(CHUNK, steadyfs_packed_chunk_bytes(fs, &file));
    for (int count = 0; count < LINES; count++) {
        EXPECT(0, steadyfs_bound_packed_write(fs, &file, 13, &cost));
        BOUNDED(power, &cost, steadyfs_packed_write(fs, &file, line, 13));
        memcpy(text + bytes, line, 13);
        bytes += 13;
    }
    EXPECT(0, steadyfs_has_changes(fs));
    EXPECT(bytes, steadyfs_packed_size(fs, &file));
    EXPECT(0, steadyfs_packed_close(fs, &file));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_packed_close(fs, &file));
    EXPECT(STEADYFS_ERR_EXIST, steadyfs_packed_open(fs, &file, "packed", CREATE | STEADYFS_O_EXCL, CHUNK, memory, (size_t)writes));

    /* A new file of a directory without a rule is plain, and as durable. */
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_packed_open(fs, &file, "none/plain", CREATE, 0, memory, (size_t)writes));
    EXPECT(0, steadyfs_packed_open(fs, &file, "/plain", CREATE | STEADYFS_O_DURABLE, 0, memory, (size_t)writes));
    EXPECT(13, steadyfs_packed_write(fs, &file, line, 13));
    EXPECT(0, steadyfs_has_changes(fs));
    EXPECT(0, steadyfs_packed_close(fs, &file));
    EXPECT(0, steadyfs_remove(fs, "plain"));

    /* The stored size is smaller. A reader with too little memory is refused. */
    EXPECT(0, steadyfs_stat(fs, "packed", &info));
    EXPECT(1, info.size > 0);
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_packed_open(fs, &file, "packed", STEADYFS_O_RDONLY, 0, other, (size_t)reads - 1));
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_packed_open(fs, &file, "packed", STEADYFS_O_RDWR, 0, other, (size_t)reads));
    EXPECT(0, steadyfs_packed_open(fs, &file, "packed", STEADYFS_O_RDONLY, 0, other, (size_t)reads));
    EXPECT(bytes, steadyfs_packed_read(fs, &file, again, sizeof again));
    EXPECT(0, memcmp(text, again, bytes));
    EXPECT(13 * 500, steadyfs_packed_seek(fs, &file, 13 * 500, STEADYFS_SEEK_SET));
    EXPECT(0, steadyfs_bound_packed_read(fs, &file, 13, &cost));
    EXPECT(1, cost.reads > 0 && cost.programs == 0);
    EXPECT(13, steadyfs_packed_read(fs, &file, again, 13));
    EXPECT(0, memcmp(line, again, 13));
    EXPECT(bytes, steadyfs_packed_seek(fs, &file, 0, STEADYFS_SEEK_END));
    EXPECT(0, steadyfs_packed_read(fs, &file, again, 13));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_packed_seek(fs, &file, 0, 9));
    EXPECT(STEADYFS_ERR_NOTWRITABLE, steadyfs_packed_write(fs, &file, line, 13));
    EXPECT(STEADYFS_ERR_NOTWRITABLE, steadyfs_packed_truncate(fs, &file, 0));
    EXPECT(0, steadyfs_packed_close(fs, &file));

    /* Overwrites the middle, truncates, and writes behind the end. */
    EXPECT(0, steadyfs_packed_open(fs, &file, "packed", STEADYFS_O_RDWR, 0, memory, (size_t)writes));
    memset(text + 4000, '#', 5000);
    EXPECT(4000, steadyfs_packed_seek(fs, &file, 4000, STEADYFS_SEEK_SET));
    EXPECT(0, steadyfs_bound_packed_write(fs, &file, 5000, &cost));
    BOUNDED(power, &cost, steadyfs_packed_write(fs, &file, text + 4000, 5000));
    EXPECT(0, steadyfs_bound_packed_truncate(fs, &file, &cost));
    BOUNDED(power, &cost, steadyfs_packed_truncate(fs, &file, 6000));
    memset(text + 6000, 0, 2000);
    memcpy(text + 8000, line, 13);
    EXPECT(8000, steadyfs_packed_seek(fs, &file, 2000, STEADYFS_SEEK_END));
    EXPECT(0, steadyfs_bound_packed_write(fs, &file, 13, &cost));
    BOUNDED(power, &cost, steadyfs_packed_write(fs, &file, line, 13));
    EXPECT(0, steadyfs_packed_seek(fs, &file, 0, STEADYFS_SEEK_SET));
    EXPECT(8013, steadyfs_packed_read(fs, &file, again, sizeof again));
    EXPECT(0, memcmp(text, again, 8013));
    EXPECT(0, steadyfs_packed_close(fs, &file));
    EXPECT(0, steadyfs_packed_open(fs, &file, "packed", STEADYFS_O_WRONLY | STEADYFS_O_TRUNC, 0, memory, (size_t)writes));
    EXPECT(0, steadyfs_packed_size(fs, &file));
    EXPECT(STEADYFS_ERR_NOTREADABLE, steadyfs_packed_read(fs, &file, again, 1));
    EXPECT(0, steadyfs_packed_close(fs, &file));

    /*
     * A plain file is read and written as usual. The attribute of a directory decides if a new
     * file in it is compressed.
     */
    EXPECT(0, steadyfs_file_open(fs, &stored, "plain", CREATE));
    EXPECT(13, steadyfs_file_write(fs, &stored, line, 13));
    EXPECT(0, steadyfs_file_close(fs, &stored));
    EXPECT(0, steadyfs_packed_open(fs, &file, "plain", STEADYFS_O_RDWR | STEADYFS_O_APPEND, CHUNK, NULL, 0));
    EXPECT(0, steadyfs_packed_chunk_bytes(fs, &file));
    EXPECT(0, steadyfs_bound_packed_write(fs, &file, 13, &cost));
    BOUNDED(power, &cost, steadyfs_packed_write(fs, &file, line, 13));
    EXPECT(26, steadyfs_packed_size(fs, &file));
    EXPECT(0, steadyfs_bound_packed_read(fs, &file, 13, &cost));
    EXPECT(0, steadyfs_bound_packed_truncate(fs, &file, &cost));
    BOUNDED(power, &cost, steadyfs_packed_truncate(fs, &file, 5));
    EXPECT(0, steadyfs_packed_close(fs, &file));
    EXPECT(0, steadyfs_mkdir(fs, "ruled"));
    EXPECT(0, steadyfs_packed_open(fs, &file, "ruled/not", CREATE, 0, NULL, 0));
    EXPECT(0, steadyfs_packed_chunk_bytes(fs, &file));
    EXPECT(0, steadyfs_packed_close(fs, &file));
    EXPECT(0, steadyfs_setattr(fs, "ruled", "steadyfs.compress", "lz4/4KiB", 8));
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_packed_open(fs, &file, "ruled/yes", CREATE, 0, NULL, 0));
    EXPECT(0, steadyfs_packed_open(fs, &file, "ruled/yes", CREATE, 0, memory, (size_t)writes));
    EXPECT(CHUNK, steadyfs_packed_chunk_bytes(fs, &file));
    EXPECT(0, steadyfs_packed_close(fs, &file));
    free(memory);
    free(other);
}

static void all_calls(steadyfs_t *fs, steadyfs_t *other, steadyfs_config *config, struct power *power, unsigned factor)
{
    struct seen seen = {.fs = fs};
    steadyfs_observer_t observer;
    steadyfs_info info;
    steadyfs_file_t file;
    steadyfs_cost cost;
    steadyfs_t reading = {{0}, {0}};
    ptrdiff_t cache = steadyfs_cache_bytes(config, 2);

    EXPECT(STEADYFS_ERR_INVAL, steadyfs_observe(fs, NULL, changed, &seen));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_observe(fs, &observer, NULL, &seen));
    EXPECT(0, steadyfs_observe(fs, &observer, changed, &seen));
    use_files(fs, other);
    use_names(fs);
    use_transactions(fs);
    for (int event = STEADYFS_EVENT_CREATED; event <= STEADYFS_EVENT_ROLLED_BACK; event++)
        EXPECT(1, seen.events[event] > 0);
    use_volume(fs, config);
    keep_bounds(fs, power, factor);
    use_packed(fs, power, factor);
    EXPECT(0, steadyfs_file_open(fs, &file, "a", STEADYFS_O_RDONLY));
    EXPECT(0, steadyfs_bound_unmount(fs, &cost));
    BOUNDED(power, &cost, steadyfs_unmount(fs));
    EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_unmount(fs));
    EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_stat(fs, "a", &info));
    EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_file_size(fs, &file));

    /*
     * Mounts for reading, and then for writing with caches. Handles of an earlier mount are not
     * valid.
     */
    config->read_only = true;
    EXPECT(0, steadyfs_mount(&reading, config));
    EXPECT(0, steadyfs_stat(&reading, "dir/6", &info));
    EXPECT(STEADYFS_ERR_READONLY, steadyfs_mkdir(&reading, "refused"));
    EXPECT(0, steadyfs_unmount(&reading));
    config->read_only = false;
    config->trust_data = true;
    config->instruction_ps = 18056;
    config->cache_bytes = (size_t)cache;
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_mount(fs, config));
    config->cache = need(config->cache_bytes);
    config->read_cache_bytes = (size_t)steadyfs_read_cache_bytes(config, 4);
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_mount(fs, config));
    config->read_cache = need(config->read_cache_bytes);
    config->commit_on = STEADYFS_COMMIT_MANY;
    config->commit_changes = 3;
    EXPECT(0, steadyfs_mount(fs, config));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_file_size(fs, &file));
    EXPECT(0, steadyfs_mkdir(fs, "one"));
    EXPECT(0, steadyfs_mkdir(fs, "two"));
    EXPECT(1, steadyfs_has_changes(fs));
    EXPECT(0, steadyfs_mkdir(fs, "three"));
    EXPECT(0, steadyfs_has_changes(fs));
    /* The time contains the processor: the instructions of the call and of its operations. */
    EXPECT(0, steadyfs_bound_stat(fs, "one", &cost));
    EXPECT(1, cost.instructions > 0 && cost.time_ns > (uint64_t)cost.reads * 200000);
    EXPECT(0, steadyfs_unmount(fs));
    config->instruction_ps = 0;
    free(config->cache);
    free(config->read_cache);
    config->cache = config->read_cache = NULL;
    config->cache_bytes = config->read_cache_bytes = 0;
}

/*
 * If a firmware has other numbers for the chip, it must not find the chip unformatted, and format
 * it.
 */
static void keep_division(const steadyfs_nor *nor, const steadyfs_config *config)
{
    static const uint16_t groups[] = {1, 2, 4, 8, 16};
    static steadyfs_t fs;
    steadyfs_config another = *config;
    steadyfs_settings formatted;
    steadyfs_nor coarse = *nor;
    int sectors;

    EXPECT(0, steadyfs_settings_of(config, &formatted));
    EXPECT(0, steadyfs_mount(&fs, config));
    EXPECT(0, steadyfs_mkdir(&fs, "kept"));
    EXPECT(0, steadyfs_unmount(&fs));
    for (size_t at = 0; at < sizeof groups / sizeof *groups; at++) {
        another.settings.group_sectors = groups[at];
        EXPECT(groups[at] == formatted.group_sectors ? 0 : STEADYFS_ERR_GEOMETRY, steadyfs_mount(&fs, &another));
        if (groups[at] == formatted.group_sectors)
            EXPECT(0, steadyfs_unmount(&fs));
    }
    another = *config;
    another.nor = &coarse;
    for (sectors = 2; sectors <= 4; sectors *= 2) {
        coarse.erase_bytes = nor->erase_bytes * (uint32_t)sectors;
        coarse.erase_count = nor->erase_count / (uint32_t)sectors;
        EXPECT(STEADYFS_ERR_GEOMETRY, steadyfs_mount(&fs, &another));
    }
    EXPECT(0, steadyfs_mount(&fs, config));
    EXPECT(0, steadyfs_remove(&fs, "kept"));
    EXPECT(0, steadyfs_unmount(&fs));
}

/* Bounds of the longest times do not overflow 64 bits. Bounds of zero times are zero. */
static void keep_times(const steadyfs_nor *nor, const steadyfs_config *config)
{
    static steadyfs_t fs;
    steadyfs_config another = *config;
    steadyfs_nor timed = *nor;
    steadyfs_cost cost;

    another.nor = &timed;
    timed.read_ns = timed.program_ns = timed.erase_ns = 100000000000u;
    timed.read_byte_ns = timed.program_byte_ns = UINT32_MAX;
    EXPECT(0, steadyfs_mount(&fs, &another));
    EXPECT(0, steadyfs_bound_mount(&fs, &cost));
    EXPECT(1, cost.time_ns / timed.read_ns >= cost.reads);
    EXPECT(0, steadyfs_bound_commit(&fs, &cost));
    EXPECT(1, cost.time_ns / timed.program_ns >= cost.programs);
    EXPECT(0, steadyfs_unmount(&fs));
    timed.read_ns = timed.program_ns = timed.erase_ns = 0;
    timed.read_byte_ns = timed.program_byte_ns = 0;
    EXPECT(0, steadyfs_mount(&fs, &another));
    EXPECT(0, steadyfs_bound_commit(&fs, &cost));
    EXPECT(1, cost.programs > 0 && cost.time_ns == 0);
    EXPECT(0, steadyfs_unmount(&fs));
}

int main(void)
{
    static struct power powers[3];
    static struct nor_chip nor_chip;
    static struct nand_chip nand_chip;
    static struct card card_chip;
    static steadyfs_t volumes[3];
    steadyfs_nor nor;
    steadyfs_nand nand, another;
    steadyfs_sectors card;
    steadyfs_config configs[3] = {{.nor = &nor}, {.nand = &nand}, {.sectors = &card}};
    steadyfs_config mistaken;

    for (int at = 0; at < 3; at++)
        powers[at].random = 1;
    nor_new(&nor_chip, &powers[0], 4096, 256, &nor);
    nand_new(&nand_chip, &powers[1], 2048, 64, 64, &nand);
    card_new(&card_chip, &powers[2], 32768, &card);
    refuse_configurations(&nor, &nand, &card);
    EXPECT(0, strcmp("no error", steadyfs_error_string(7)));
    EXPECT(0, strcmp("no error of SteadyFS", steadyfs_error_string(-9999)));
    EXPECT(0, strcmp("no room left on the volume", steadyfs_error_string(STEADYFS_ERR_NOSPC)));

    for (int at = 0; at < 3; at++) {
        configs[at].settings.permissions = true;
        lend(&configs[at]);
        EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_commit(&volumes[at]));
        EXPECT(STEADYFS_ERR_NOTFORMATTED, steadyfs_mount(&volumes[at], &configs[at]));
        EXPECT(0, steadyfs_format(&volumes[at], &configs[at]));
    }
    keep_division(&nor, &configs[0]);
    keep_times(&nor, &configs[0]);
    /* A chip of another shape. */
    another = nand;
    another.block_count = 32;
    mistaken = configs[1];
    mistaken.nand = &another;
    EXPECT(STEADYFS_ERR_GEOMETRY, steadyfs_mount(&volumes[1], &mistaken));

    for (int at = 0; at < 3; at++)
        EXPECT(0, steadyfs_mount(&volumes[at], &configs[at]));
    /*
     * On NOR, a program is a program of data and a program of a tag, and an erase takes each
     * sector. On a card, each is a few writes.
     */
    for (int at = 0; at < 3; at++)
        all_calls(&volumes[at], &volumes[(at + 1) % 3], &configs[at], &powers[at], at == 1 ? 1 : 4);

    /* A device that does not answer. */
    EXPECT(0, steadyfs_mount(&volumes[1], &configs[1]));
    powers[1].is_off = true;
    EXPECT(STEADYFS_ERR_IO, steadyfs_mkdir(&volumes[1], "off"));
    EXPECT(STEADYFS_ERR_IO, steadyfs_mount(&volumes[1], &configs[1]));
    powers[1].is_off = false;

    for (int at = 0; at < 3; at++)
        free(configs[at].memory);
    nor_free(&nor_chip);
    nand_free(&nand_chip);
    card_free(&card_chip);
    printf("every call does what it says\n");
    return 0;
}
