/*
 * Tests read-only images from steady pack --read-only. Mounts them from memory, NOR and NAND,
 * verifies them, and writes them to NAND around bad blocks and through power cuts.
 *
 *   rom IMAGE    crates/steadyfs-c/tests/images/site.squashfs: chunks of 4 KiB, a hash tree in
 * blocks of 1 KiB, a signature
 */

#include "chip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(value, call) expect((int64_t)(value), (int64_t)(call), #call, __LINE__)
/* Makes a call, and checks its bound. */
#define BOUNDED(cost, value, call) \
    do { \
        uint64_t before = spent_ns; \
        EXPECT(value, call); \
        EXPECT(1, spent_ns - before <= (cost)->flash_ns); \
    } while (0)

#define NOISE_BYTES 6000
#define LINES 2000
#define LINE_BYTES 11
#define PAGES 40

/* The key that verifies the image's signature, and another key. */
static const uint8_t key[32] = {
    0x87, 0x46, 0x14, 0x73, 0x47, 0x37, 0x4e, 0xfe, 0xb1, 0xa9, 0x8a, 0xac, 0x30, 0x5b, 0x7c, 0x63,
    0x41, 0x3a, 0x70, 0x24, 0x7b, 0xbb, 0xed, 0xa9, 0xbe, 0xa0, 0xed, 0x34, 0xe8, 0x22, 0xf6, 0x83,
};
static const uint8_t other_key[32] = {0x58, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66};

static const char index_html[] = "<!doctype html><title>Steady</title><p>steady as she goes</p>\n";

static uint8_t *image;
static size_t image_bytes;
static uint8_t noise[NOISE_BYTES];

static void expect(int64_t expected, int64_t found, const char *call, int line)
{
    if (expected != found) {
        fprintf(stderr, "line %d: %s is %ld, not %ld: %s\n", line, call, (long)found, (long)expected,
                steadyfs_error_string((int)found));
        exit(1);
    }
}

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");
    EXPECT(1, file != NULL);
    image = need(1 << 20);
    image_bytes = fread(image, 1, 1 << 20, file);
    fclose(file);
}

/*
 * Lends the memory that an image needs, with room for `metadata_blocks` blocks of names and
 * inodes. On NAND, steadyfs_rom_memory_bytes itself needs memory, so a page is lent first.
 */
static void lend(steadyfs_rom_config *config, size_t metadata_blocks)
{
    static uint8_t page[4096];
    ptrdiff_t bytes;
    config->memory = page;
    config->memory_bytes = sizeof page;
    bytes = steadyfs_rom_memory_bytes(config, metadata_blocks);
    EXPECT(1, bytes > 0);
    config->memory_bytes = (size_t)bytes;
    config->memory = need(config->memory_bytes);
}

/* ---- Chips that add up the time of their reads ---- */

static uint64_t spent_ns;
static steadyfs_nor bare_nor;
static steadyfs_nand bare_nand;

static int nor_read(void *context, uint32_t address, void *data, uint32_t bytes)
{
    spent_ns += bare_nor.read_ns + (uint64_t)bytes * bare_nor.read_byte_ns;
    return bare_nor.read(context, address, data, bytes);
}

static int nand_read(void *context, uint32_t page, void *data, uint8_t *tag)
{
    spent_ns += bare_nand.timing.read_ns;
    return bare_nand.read(context, page, data, tag);
}

/* ---- Contents of the image ---- */

/* Reads a file in pieces. Returns its length, or an error. */
static ptrdiff_t read_file(steadyfs_rom_t *rom, const char *path, size_t piece, uint8_t *to)
{
    steadyfs_rom_file_t file;
    ptrdiff_t done = 0, read = steadyfs_rom_file_open(rom, &file, path);
    while (read == 0 && (read = steadyfs_rom_file_read(rom, &file, to + done, piece)) > 0) {
        done += read;
        read = 0;
    }
    return read < 0 ? read : done;
}

/*
 * Reads all files and compares them. Returns 0, or an error of the image. Wrong bytes end the
 * program.
 */
static int read_all(steadyfs_rom_t *rom)
{
    static uint8_t bytes[LINES * LINE_BYTES + 4096];
    char path[32], line[16];
    ptrdiff_t read = read_file(rom, "index.html", 4096, bytes);
    if (read < 0)
        return (int)read;
    EXPECT(sizeof index_html - 1, read);
    EXPECT(0, memcmp(bytes, index_html, sizeof index_html - 1));
    if ((read = read_file(rom, "/fonts/noise.bin", 1000, bytes)) < 0)
        return (int)read;
    EXPECT(NOISE_BYTES, read);
    EXPECT(0, memcmp(bytes, noise, NOISE_BYTES));
    if ((read = read_file(rom, "lines.txt", 4097, bytes)) < 0)
        return (int)read;
    EXPECT(LINES * LINE_BYTES, read);
    for (int number = 0; number < LINES; number++) {
        sprintf(line, "line %05d\n", number);
        EXPECT(0, memcmp(bytes + number * LINE_BYTES, line, LINE_BYTES));
    }
    for (int number = 0; number < PAGES; number++) {
        sprintf(path, "pages/%02d.html", number);
        if ((read = read_file(rom, path, 5, bytes)) < 0)
            return (int)read;
        sprintf(line, "page %d\n", number);
        EXPECT(strlen(line), read);
        EXPECT(0, memcmp(bytes, line, (size_t)read));
    }
    return 0;
}

static void use_names(steadyfs_rom_t *rom)
{
    steadyfs_info info;
    steadyfs_permissions permissions;
    steadyfs_rom_dir_t dir;
    steadyfs_rom_cost cost;
    char name[32];

    EXPECT(0, steadyfs_bound_rom_stat(rom, "fonts//noise.bin", &cost));
    BOUNDED(&cost, 0, steadyfs_rom_stat(rom, "fonts//noise.bin", &info));
    EXPECT(STEADYFS_TYPE_REG, info.type);
    EXPECT(NOISE_BYTES, info.size);
    EXPECT(1700000000ll * 1000000000, info.modified_ns);
    EXPECT(0, strcmp("noise.bin", info.name));
    EXPECT(0, steadyfs_rom_stat(rom, "/", &info));
    EXPECT(STEADYFS_TYPE_DIR, info.type);
    EXPECT(0, strcmp("/", info.name));
    EXPECT(0, steadyfs_rom_getpermissions(rom, "index.html", &permissions));
    EXPECT(0644, permissions.mode);
    EXPECT(0, permissions.uid + permissions.gid);
    EXPECT(0, steadyfs_rom_stat(rom, "home", &info));
    EXPECT(STEADYFS_TYPE_LINK, info.type);
    EXPECT(10, steadyfs_rom_readlink(rom, "home", name, sizeof name));
    EXPECT(0, memcmp("index.html", name, 10));
    EXPECT(10, steadyfs_rom_readlink(rom, "home", name, 9));
    EXPECT(10, steadyfs_rom_readlink(rom, "home", NULL, 0));
    EXPECT(STEADYFS_ERR_NOTALINK, steadyfs_rom_readlink(rom, "index.html", name, sizeof name));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_rom_stat(rom, "pages/40.html", &info));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_rom_stat(rom, "pages/..", &info));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_rom_stat(rom, "\xFF", &info));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_bound_rom_stat(rom, "nothing", &cost));
    EXPECT(STEADYFS_ERR_NOTDIR, steadyfs_rom_stat(rom, "index.html/a", &info));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_stat(rom, NULL, &info));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_stat(rom, "home", NULL));

    EXPECT(0, steadyfs_rom_dir_open(rom, &dir, "pages"));
    EXPECT(0, steadyfs_bound_rom_dir_read(rom, &dir, &cost));
    for (int number = 0; number < PAGES; number++) {
        sprintf(name, "%02d.html", number);
        BOUNDED(&cost, 1, steadyfs_rom_dir_read(rom, &dir, &info));
        EXPECT(0, strcmp(name, info.name));
        EXPECT(STEADYFS_TYPE_REG, info.type);
    }
    EXPECT(0, steadyfs_rom_dir_read(rom, &dir, &info));
    EXPECT(0, steadyfs_rom_dir_read(rom, &dir, &info));
    EXPECT(0, steadyfs_rom_dir_close(rom, &dir));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_rom_dir_read(rom, &dir, &info));
    EXPECT(STEADYFS_ERR_NOTDIR, steadyfs_rom_dir_open(rom, &dir, "index.html"));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_rom_dir_open(rom, &dir, "none"));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_rom_dir_close(rom, &dir));
}

static void use_files(steadyfs_rom_t *rom, steadyfs_rom_t *other)
{
    steadyfs_rom_file_t file, again;
    steadyfs_rom_cost cost;
    uint8_t bytes[5000];

    EXPECT(0, steadyfs_bound_rom_file_open(rom, "fonts/noise.bin", &cost));
    BOUNDED(&cost, 0, steadyfs_rom_file_open(rom, &file, "fonts/noise.bin"));
    EXPECT(NOISE_BYTES, steadyfs_rom_file_size(rom, &file));
    EXPECT(0, steadyfs_bound_rom_file_read(rom, &file, sizeof bytes, &cost));
    EXPECT(1, cost.decoded_bytes > 0);
    BOUNDED(&cost, 5000, steadyfs_rom_file_read(rom, &file, bytes, sizeof bytes));
    EXPECT(5000, steadyfs_rom_file_tell(rom, &file));
    /* At the end, a read returns the remaining bytes, then none. Behind the end it returns none. */
    BOUNDED(&cost, 1000, steadyfs_rom_file_read(rom, &file, bytes, sizeof bytes));
    EXPECT(0, memcmp(bytes, noise + 5000, 1000));
    EXPECT(0, steadyfs_rom_file_read(rom, &file, bytes, sizeof bytes));
    EXPECT(NOISE_BYTES, steadyfs_rom_file_tell(rom, &file));
    EXPECT(NOISE_BYTES - 1, steadyfs_rom_file_seek(rom, &file, -1, STEADYFS_SEEK_END));
    EXPECT(1, steadyfs_rom_file_read(rom, &file, bytes, sizeof bytes));
    EXPECT(noise[NOISE_BYTES - 1], bytes[0]);
    EXPECT(NOISE_BYTES + 10, steadyfs_rom_file_seek(rom, &file, 10, STEADYFS_SEEK_CUR));
    EXPECT(0, steadyfs_rom_file_read(rom, &file, bytes, 1));
    EXPECT(INT64_MAX, steadyfs_rom_file_seek(rom, &file, INT64_MAX, STEADYFS_SEEK_SET));
    EXPECT(0, steadyfs_rom_file_read(rom, &file, bytes, 1));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_file_seek(rom, &file, 1, STEADYFS_SEEK_CUR));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_file_seek(rom, &file, -1, STEADYFS_SEEK_SET));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_file_seek(rom, &file, 0, 3));
    EXPECT(4000, steadyfs_rom_file_seek(rom, &file, 4000, STEADYFS_SEEK_SET));
    BOUNDED(&cost, 200, steadyfs_rom_file_read(rom, &file, bytes, 200));
    EXPECT(0, memcmp(bytes, noise + 4000, 200));
    EXPECT(0, steadyfs_rom_file_read(rom, &file, NULL, 0));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_file_read(rom, &file, NULL, 1));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_bound_rom_file_read(rom, &file, 1, NULL));

    /* Handles of another image, closed handles, and paths that are not files. */
    EXPECT(STEADYFS_ERR_BADF, steadyfs_rom_file_read(other, &file, bytes, 1));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_rom_file_close(other, &file));
    EXPECT(0, steadyfs_rom_file_open(rom, &again, "index.html"));
    EXPECT(0, steadyfs_rom_file_close(rom, &again));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_rom_file_close(rom, &again));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_rom_file_size(rom, &again));
    EXPECT(STEADYFS_ERR_ISDIR, steadyfs_rom_file_open(rom, &again, "fonts"));
    EXPECT(STEADYFS_ERR_ISALINK, steadyfs_rom_file_open(rom, &again, "home"));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_rom_file_open(rom, &again, "none"));
    EXPECT(STEADYFS_ERR_NOENT, steadyfs_bound_rom_file_open(rom, "none", &cost));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_rom_file_tell(rom, &again));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_file_open(rom, NULL, "index.html"));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_file_open(rom, &again, NULL));
}

/* Mounts an image, uses it, and mounts it again with memory that is a byte too small. */
static void use_image(steadyfs_rom_config config, size_t metadata_blocks)
{
    steadyfs_rom_t rom = {{0}, {0}}, other = {{0}, {0}};
    const steadyfs_rom_config in_memory = {.image = image, .image_bytes = image_bytes};
    steadyfs_rom_config beside = in_memory;
    steadyfs_rom_file_t file;
    steadyfs_info info;

    lend(&config, metadata_blocks);
    lend(&beside, 0);
    EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_rom_stat(&rom, "/", &info));
    EXPECT(0, steadyfs_rom_mount(&other, &beside));
    EXPECT(0, steadyfs_rom_mount(&rom, &config));
    EXPECT(0, read_all(&rom));
    use_names(&rom);
    use_files(&rom, &other);
    EXPECT(0, steadyfs_rom_file_open(&rom, &file, "index.html"));
    EXPECT(0, steadyfs_rom_unmount(&rom));
    EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_rom_file_size(&rom, &file));
    EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_rom_unmount(&rom));
    EXPECT(0, steadyfs_rom_mount(&rom, &config));
    EXPECT(STEADYFS_ERR_BADF, steadyfs_rom_file_size(&rom, &file));
    EXPECT(0, steadyfs_rom_unmount(&rom));
    if (metadata_blocks == 0) {
        config.memory_bytes--;
        EXPECT(STEADYFS_ERR_NOMEM, steadyfs_rom_mount(&rom, &config));
        EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_rom_stat(&rom, "/", &info));
    }
    EXPECT(0, steadyfs_rom_unmount(&other));
    free(config.memory);
    free(beside.memory);
}

/* Returns the medium's time for a repeated look-up of a name. */
static uint64_t look_again(const steadyfs_rom_config *config)
{
    steadyfs_rom_t rom;
    steadyfs_info info;
    uint64_t before;

    EXPECT(0, steadyfs_rom_mount(&rom, config));
    EXPECT(0, steadyfs_rom_stat(&rom, "pages/07.html", &info));
    before = spent_ns;
    EXPECT(0, steadyfs_rom_stat(&rom, "pages/07.html", &info));
    EXPECT(0, steadyfs_rom_unmount(&rom));
    return spent_ns - before;
}

/* Uses an image with a cache of `pieces` pieces of `piece_bytes` bytes. */
static void use_cache(steadyfs_rom_config config, size_t pieces, uint32_t piece_bytes)
{
    steadyfs_rom_t rom;
    uint64_t without;

    config.cache_piece_bytes = piece_bytes;
    config.cache_bytes = (size_t)steadyfs_rom_cache_bytes(&config, pieces);
    config.cache = need(config.cache_bytes);
    use_image(config, 0);
    lend(&config, 1);
    config.cache_bytes = 0;
    without = look_again(&config);
    config.cache_bytes = (size_t)steadyfs_rom_cache_bytes(&config, pieces);
    EXPECT(1, look_again(&config) < without || without == 0);
    config.cache_bytes = (size_t)steadyfs_rom_cache_bytes(&config, 1) - 1;
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_rom_mount(&rom, &config));
    free(config.memory);
    free(config.cache);
}

/* ---- Refusals ---- */

static steadyfs_rom_t *caller;

static int calls_back(void *context, uint32_t address, void *data, uint32_t bytes)
{
    steadyfs_info info;
    if (caller != NULL)
        EXPECT(STEADYFS_ERR_BUSY, steadyfs_rom_stat(caller, "index.html", &info));
    return nor_read(context, address, data, bytes);
}

static void refuse(const steadyfs_nor *nor, const steadyfs_nand *nand)
{
    static uint8_t memory[16384];
    steadyfs_nor lacking = *nor;
    steadyfs_rom_t rom;
    steadyfs_info info;
    steadyfs_rom_config config = {.memory = memory, .memory_bytes = sizeof memory};
    uint8_t *damaged = need(image_bytes);

    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_mount(NULL, &config));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_mount(&rom, NULL));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_mount((steadyfs_rom_t *)((char *)&rom + 1), &config));
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_rom_mount(&rom, &config));
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_rom_memory_bytes(&config, 0));
    config.nor = nor;
    config.nand = nand;
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_rom_mount(&rom, &config));
    /* Blank chips. */
    config.nand = NULL;
    EXPECT(STEADYFS_ERR_NOTFORMATTED, steadyfs_rom_mount(&rom, &config));
    config.nor_address = 0xFFFFFF00u;
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_mount(&rom, &config));
    config.nor_address = 4096;
    config.nor_bytes = nor->erase_bytes * nor->erase_count - 4095;
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_mount(&rom, &config));
    config.nor = &lacking;
    lacking.read = NULL;
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_rom_mount(&rom, &config));
    config = (steadyfs_rom_config){.nand = nand, .memory = memory, .memory_bytes = sizeof memory};
    EXPECT(STEADYFS_ERR_NOTFORMATTED, steadyfs_rom_mount(&rom, &config));
    config.memory_bytes = nand->page_bytes;
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_rom_memory_bytes(&config, 0));

    config = (steadyfs_rom_config){.image = image, .image_bytes = image_bytes};
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_rom_mount(&rom, &config));
    EXPECT(8256, steadyfs_rom_memory_bytes(&config, 0));
    EXPECT(12400, steadyfs_rom_memory_bytes(&config, 1));
    EXPECT(12400 + 8256, steadyfs_rom_memory_bytes(&config, 2));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_memory_bytes(&config, 17));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_memory_bytes(NULL, 0));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_cache_bytes(&config, 0));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_cache_bytes(&config, 65));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_cache_bytes(NULL, 1));
    EXPECT(512, steadyfs_rom_cache_bytes(&config, 2) - steadyfs_rom_cache_bytes(&config, 1));

    /* Invalid images. */
    config.memory = memory;
    config.memory_bytes = sizeof memory;
    config.image = damaged;
    config.image_bytes = 95;
    EXPECT(STEADYFS_ERR_CORRUPT, steadyfs_rom_mount(&rom, &config));
    config.image_bytes = image_bytes;
    memcpy(damaged, image, image_bytes);
    damaged[0] ^= 1;
    EXPECT(STEADYFS_ERR_NOTFORMATTED, steadyfs_rom_mount(&rom, &config));
    memcpy(damaged, image, image_bytes);
    damaged[28] = 3;
    EXPECT(STEADYFS_ERR_VERSION, steadyfs_rom_mount(&rom, &config));
    memcpy(damaged, image, image_bytes);
    damaged[20] = 6;
    EXPECT(STEADYFS_ERR_UNSUPPORTED, steadyfs_rom_mount(&rom, &config));
    /* A truncated image can be mounted. A read behind its end returns an error. */
    memcpy(damaged, image, image_bytes);
    config.image_bytes = 4096;
    EXPECT(0, steadyfs_rom_mount(&rom, &config));
    EXPECT(STEADYFS_ERR_CORRUPT, steadyfs_rom_stat(&rom, "index.html", &info));
    EXPECT(0, steadyfs_rom_unmount(&rom));
    free(damaged);
}

/* ---- Signed images ---- */

/* Tests verification. Returns true if the library verifies. */
static bool verify(void)
{
    steadyfs_rom_config config = {.image = image, .image_bytes = image_bytes};
    steadyfs_rom_t rom;
    steadyfs_rom_file_t file;
    steadyfs_rom_cost cost;
    uint8_t *changed = need(image_bytes);
    static uint8_t memory[32768], bytes[NOISE_BYTES];
    size_t at = 0, told = 0;

    config.memory = memory;
    config.memory_bytes = sizeof memory;
    config.public_key = key;
    if (steadyfs_rom_mount(&rom, &config) == STEADYFS_ERR_UNSUPPORTED) {
        EXPECT(STEADYFS_ERR_UNSUPPORTED, steadyfs_rom_memory_bytes(&config, 0));
        free(changed);
        return false;
    }
    EXPECT(0, steadyfs_rom_file_open(&rom, &file, "fonts/noise.bin"));
    EXPECT(0, steadyfs_bound_rom_file_read(&rom, &file, 1, &cost));
    EXPECT(1, cost.hashed_bytes > 0);
    EXPECT(0, steadyfs_rom_unmount(&rom));
    for (uint8_t blocks = 0; blocks <= 8; blocks++) {
        config.hash_blocks = blocks;
        use_image(config, 1);
    }
    config.hash_blocks = 9;
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_mount(&rom, &config));
    config.hash_blocks = 0;
    EXPECT(8256, steadyfs_rom_memory_bytes(&(steadyfs_rom_config){.image = image, .image_bytes = image_bytes}, 0));
    config.memory_bytes = (size_t)steadyfs_rom_memory_bytes(&config, 0);
    EXPECT(0, steadyfs_rom_mount(&rom, &config));
    EXPECT(0, read_all(&rom));
    config.memory_bytes--;
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_rom_mount(&rom, &config));
    config.memory_bytes = 100;
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_rom_mount(&rom, &config));
    config.memory_bytes = sizeof memory;
    use_cache(config, 4, 0);

    /* Another key, and an image without a signature. */
    config.public_key = other_key;
    EXPECT(STEADYFS_ERR_NOTSIGNED, steadyfs_rom_mount(&rom, &config));
    config.public_key = key;
    config.image_bytes = 16384;
    EXPECT(STEADYFS_ERR_NOTSIGNED, steadyfs_rom_mount(&rom, &config));
    config.image_bytes = image_bytes;

    /*
     * One bit of a file's content is wrong: its block is refused each time, and all other blocks
     * are read.
     */
    memcpy(changed, image, image_bytes);
    config.image = changed;
    while (memcmp(changed + at, noise, 64) != 0)
        at++;
    changed[at + 2000] ^= 0x10;
    EXPECT(0, steadyfs_rom_mount(&rom, &config));
    EXPECT(sizeof index_html - 1, read_file(&rom, "index.html", 100, bytes));
    EXPECT(STEADYFS_ERR_NOTAUTHENTIC, read_file(&rom, "fonts/noise.bin", NOISE_BYTES, bytes));
    EXPECT(STEADYFS_ERR_NOTAUTHENTIC, read_file(&rom, "fonts/noise.bin", NOISE_BYTES, bytes));
    EXPECT(0, steadyfs_rom_file_open(&rom, &file, "fonts/noise.bin"));
    EXPECT(4096, steadyfs_rom_file_seek(&rom, &file, 4096, STEADYFS_SEEK_SET));
    EXPECT(1000, steadyfs_rom_file_read(&rom, &file, bytes, 1000));
    EXPECT(0, memcmp(bytes, noise + 4096, 1000));
    EXPECT(0, steadyfs_rom_unmount(&rom));
    /* Without the key, nothing is reported. */
    config.public_key = NULL;
    EXPECT(0, steadyfs_rom_mount(&rom, &config));
    EXPECT(NOISE_BYTES, read_file(&rom, "fonts/noise.bin", NOISE_BYTES, bytes));
    EXPECT(noise[2000] ^ 0x10, bytes[2000]);
    EXPECT(0, steadyfs_rom_unmount(&rom));
    config.public_key = key;

    /*
     * One bit anywhere is wrong: a read returns an error, or the right bytes if no read needs
     * this bit.
     */
    for (at = 0; at < image_bytes; at += 61) {
        int error;
        memcpy(changed, image, image_bytes);
        changed[at] ^= (uint8_t)(1u << at % 8);
        error = steadyfs_rom_mount(&rom, &config);
        if (error == 0) {
            error = read_all(&rom);
            EXPECT(1, error == 0 || error == STEADYFS_ERR_NOTAUTHENTIC);
            EXPECT(0, steadyfs_rom_unmount(&rom));
        }
        told += error != 0;
    }
    EXPECT(1, told > image_bytes / 61 / 2);
    free(changed);
    return true;
}

/* ---- On NAND ---- */

/* Writes an image in pieces of `piece` bytes. */
static int install(const steadyfs_rom_config *config, size_t bytes, size_t piece)
{
    steadyfs_rom_install_t installing;
    int error = steadyfs_rom_install_begin(&installing, config);
    for (size_t at = 0; error == 0 && at < bytes; at += piece)
        error = steadyfs_rom_install_push(&installing, image + at, bytes - at < piece ? bytes - at : piece);
    return error != 0 ? error : steadyfs_rom_install_finish(&installing);
}

static void lend_install(steadyfs_rom_config *config)
{
    ptrdiff_t bytes = steadyfs_rom_install_bytes(config);
    EXPECT(1, bytes > 0);
    config->memory_bytes = (size_t)bytes;
    config->memory = need(config->memory_bytes);
}

static void use_nand(void)
{
    struct power power = {.random = 1};
    struct nand_chip chip;
    steadyfs_nand nand, lacking;
    steadyfs_rom_install_t installing = {{0}, {0}};
    steadyfs_rom_t rom;
    steadyfs_rom_config config = {.nand = &nand}, writing = {.nand = &nand};

    /* Blocks of 2 KiB, so that the image takes ten. */
    nand_new(&chip, &power, 512, 4, 32, &nand);
    bare_nand = nand;
    nand.read = nand_read;
    chip.bad_block = 1;
    refuse(&bare_nor, &nand);
    EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_rom_install_push(&installing, image, 1));
    EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_rom_install_finish(&installing));
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_rom_install_begin(&installing, &writing));
    EXPECT(2 * 512 + 2 * 4, steadyfs_rom_install_bytes(&writing));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_install_bytes(NULL));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_install_bytes(&(steadyfs_rom_config){.nor = &bare_nor}));
    lacking = nand;
    lacking.mark_bad = NULL;
    EXPECT(STEADYFS_ERR_DRIVER, steadyfs_rom_install_bytes(&(steadyfs_rom_config){.nand = &lacking}));
    lend_install(&writing);
    writing.memory_bytes--;
    EXPECT(STEADYFS_ERR_NOMEM, steadyfs_rom_install_begin(&installing, &writing));
    writing.memory_bytes++;
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_install_begin(NULL, &writing));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_install_begin(&installing, NULL));

    /* Writes around the factory-bad block. */
    EXPECT(0, install(&writing, image_bytes, 700));
    use_image(config, 0);
    use_image(config, 3);
    use_cache(config, 8, 0);

    /* A program fails in the middle: the block is left out, and its pages are moved. */
    chip.fails_at = chip.programs + 7;
    EXPECT(0, install(&writing, image_bytes, 700));
    EXPECT(1, chip.is_marked);
    use_image(config, 0);
    /* Two bad blocks, with memory for one. */
    lend(&config, 0);
    config.bad_blocks_max = 1;
    EXPECT(STEADYFS_ERR_BADBLOCKS, steadyfs_rom_mount(&rom, &config));
    writing.bad_blocks_max = 1;
    EXPECT(STEADYFS_ERR_BADBLOCKS, install(&writing, image_bytes, 4096));
    writing.bad_blocks_max = STEADYFS_NO_BAD_BLOCKS;
    EXPECT(STEADYFS_ERR_BADBLOCKS, steadyfs_rom_install_begin(&installing, &writing));
    writing.bad_blocks_max = 0;
    free(config.memory);

    /* More bytes than the chip has room for. The installation ends, and there is no image. */
    EXPECT(0, steadyfs_rom_install_begin(&installing, &writing));
    for (int times = 0; times < 2; times++)
        EXPECT(0, steadyfs_rom_install_push(&installing, image, image_bytes));
    EXPECT(STEADYFS_ERR_NOSPC, steadyfs_rom_install_push(&installing, image, image_bytes));
    EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_rom_install_push(&installing, image, 1));
    EXPECT(STEADYFS_ERR_NOTMOUNTED, steadyfs_rom_install_finish(&installing));
    config = (steadyfs_rom_config){.nand = &nand, .memory = writing.memory, .memory_bytes = writing.memory_bytes};
    EXPECT(STEADYFS_ERR_NOTFORMATTED, steadyfs_rom_memory_bytes(&config, 0));
    free(writing.memory);
    nand_free(&chip);
}

/*
 * Power fails in each operation of an update. Afterwards the chip has the old image, none, or the
 * whole new image. Returns the number of cuts.
 */
static unsigned cut_updates(void)
{
    struct power power = {.random = 1};
    struct nand_chip before, chip;
    steadyfs_nand nand;
    steadyfs_rom_config config = {.nand = &nand}, writing = {.nand = &nand};
    steadyfs_rom_t rom;
    unsigned cuts = 0, none = 0;
    int error;

    nand_new(&before, &power, 512, 4, 32, &nand);
    before.bad_block = 3;
    lend_install(&writing);
    /* Without its hash tree, the image is a different image, and valid too. */
    EXPECT(0, install(&writing, 16384, 1000));
    lend(&config, 0);
    nand_new(&chip, &power, 512, 4, 32, &nand);
    chip.bad_block = 3;
    do {
        nand_copy(&chip, &before);
        power.operations = 0;
        power.cut_at = ++cuts;
        error = install(&writing, image_bytes, 1000);
        EXPECT(1, error == 0 || error == STEADYFS_ERR_IO);
        EXPECT(power.is_off, error != 0);
        power.is_off = false;
        power.cut_at = 0;
        if (steadyfs_rom_mount(&rom, &config) == 0) {
            EXPECT(0, read_all(&rom));
            EXPECT(0, steadyfs_rom_unmount(&rom));
        } else {
            EXPECT(STEADYFS_ERR_NOTFORMATTED, steadyfs_rom_mount(&rom, &config));
            none++;
            EXPECT(0, install(&writing, image_bytes, 1000));
            EXPECT(0, steadyfs_rom_mount(&rom, &config));
            EXPECT(0, read_all(&rom));
            EXPECT(0, steadyfs_rom_unmount(&rom));
        }
    } while (error != 0);
    EXPECT(1, none > 0 && none < cuts - 1);
    free(config.memory);
    free(writing.memory);
    nand_free(&before);
    nand_free(&chip);
    return cuts - 1;
}

static void use_nor(void)
{
    struct power power = {.random = 1};
    struct nor_chip chip;
    steadyfs_nor nor;
    steadyfs_rom_config config = {.nor = &nor, .nor_address = 5 * 4096 + 100};
    steadyfs_rom_t rom;
    steadyfs_info info;

    nor_new(&chip, &power, 4096, 32, &nor);
    EXPECT(STEADYFS_FAIL_NONE, nor.program(nor.context, config.nor_address, image, (uint32_t)image_bytes));
    bare_nor = nor;
    nor.read = nor_read;
    use_image(config, 0);
    use_image(config, 1);
    use_image(config, 16);
    config.nor_bytes = (uint32_t)image_bytes;
    use_image(config, 0);
    use_cache(config, 16, 0);
    use_cache(config, 64, 64);

    /* Calls from a callback, and a chip that does not answer. */
    nor.read = calls_back;
    lend(&config, 0);
    EXPECT(0, steadyfs_rom_mount(&rom, &config));
    caller = &rom;
    EXPECT(0, steadyfs_rom_stat(&rom, "index.html", &info));
    caller = NULL;
    power.is_off = true;
    EXPECT(STEADYFS_ERR_IO, steadyfs_rom_stat(&rom, "pages", &info));
    EXPECT(STEADYFS_ERR_IO, steadyfs_rom_memory_bytes(&config, 0));
    power.is_off = false;
    EXPECT(0, steadyfs_rom_stat(&rom, "pages", &info));
    EXPECT(0, steadyfs_rom_unmount(&rom));
    EXPECT(STEADYFS_ERR_INVAL, steadyfs_rom_unmount(NULL));
    free(config.memory);

    /* The next tests need a blank chip. */
    memset(chip.bytes, 0xFF, 4096 * 32);
    use_nand();
    nor_free(&chip);
}

int main(int argc, char **argv)
{
    uint32_t random = 1;
    bool verifies;

    EXPECT(2, argc);
    load(argv[1]);
    for (size_t at = 0; at < NOISE_BYTES; at++)
        noise[at] = (uint8_t)random_number(&random);
    use_image((steadyfs_rom_config){.image = image, .image_bytes = image_bytes}, 0);
    use_nor();
    printf("%u cuts of an update: no image, or the whole of it\n", cut_updates());
    verifies = verify();
    printf(verifies ? "what was not signed is told\n" : "this build verifies nothing\n");
    printf("every image is what was packed\n");
    free(image);
    return 0;
}
