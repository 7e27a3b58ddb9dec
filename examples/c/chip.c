#include "chip.h"

#define TAG_BYTES 16
#define SECTOR_BYTES 512u

/* xorshift: the same numbers on every machine. */
uint32_t random_number(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Counts a program or an erase. Returns true if power fails in it. */
static bool is_cut(struct power *power)
{
    power->operations++;
    if (power->operations == power->cut_at)
        power->is_off = true;
    return power->is_off;
}

/* ---- NOR ---- */

static int nor_read(void *context, uint32_t address, void *data, uint32_t bytes)
{
    struct nor_chip *chip = context;
    if (chip->power->is_off)
        return STEADYFS_FAIL_DEVICE;
    if ((uint64_t)address + bytes > (uint64_t)chip->erase_bytes * chip->erase_count)
        misuse("read behind the end", address);
    memcpy(data, chip->bytes + address, bytes);
    return STEADYFS_FAIL_NONE;
}

static int nor_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    struct nor_chip *chip = context;
    const uint8_t *from = data;
    bool cut;
    if (chip->power->is_off)
        return STEADYFS_FAIL_DEVICE;
    if ((uint64_t)address + bytes > (uint64_t)chip->erase_bytes * chip->erase_count)
        misuse("program behind the end", address);
    for (uint32_t at = 0; at < bytes; at++) {
        if (from[at] != 0xFF && from[at] != 0 && chip->written[address + at])
            misuse("a byte is programmed twice", address + at);
    }
    cut = is_cut(chip->power);
    for (uint32_t at = 0; at < bytes; at++) {
        /* A cut program clears any of its bits. */
        uint8_t kept = cut ? (uint8_t)random_number(&chip->power->random) : 0;
        if (from[at] != 0xFF)
            chip->written[address + at] = 1;
        chip->bytes[address + at] &= from[at] | kept;
    }
    return cut ? STEADYFS_FAIL_DEVICE : STEADYFS_FAIL_NONE;
}

static int nor_erase(void *context, uint32_t sector)
{
    struct nor_chip *chip = context;
    size_t from = (size_t)sector * chip->erase_bytes;
    bool cut;
    if (chip->power->is_off)
        return STEADYFS_FAIL_DEVICE;
    if (sector >= chip->erase_count)
        misuse("erase behind the end", sector);
    cut = is_cut(chip->power);
    for (size_t at = from; at < from + chip->erase_bytes; at++) {
        /*
         * After a cut erase, a byte may have any value, and a byte that reads as erased may not
         * be erased.
         */
        if (cut && random_number(&chip->power->random) % 2)
            chip->bytes[at] = (uint8_t)random_number(&chip->power->random);
        else if (!cut)
            chip->bytes[at] = 0xFF;
        chip->written[at] = cut;
    }
    return cut ? STEADYFS_FAIL_DEVICE : STEADYFS_FAIL_NONE;
}

void nor_new(struct nor_chip *chip, struct power *power, uint32_t erase_bytes, uint32_t erase_count, struct steadyfs_nor *driver)
{
    size_t bytes = (size_t)erase_bytes * erase_count;
    *chip = (struct nor_chip){.power = power, .erase_bytes = erase_bytes, .erase_count = erase_count};
    chip->bytes = need(bytes);
    chip->written = need(bytes);
    memset(chip->bytes, 0xFF, bytes);
    memset(chip->written, 0, bytes);
    nor_attach(chip, power, driver);
}

void nor_attach(struct nor_chip *chip, struct power *power, struct steadyfs_nor *driver)
{
    chip->power = power;
    /*
     * Longest times of a W25Q128JV on one data line at 50 MHz. For a chip on a board, take them
     * from its datasheet.
     */
    *driver = (struct steadyfs_nor){
        .context = chip,
        .erase_bytes = chip->erase_bytes,
        .erase_count = chip->erase_count,
        .program_page_bytes = 256,
        .read_ns = 3200,
        .read_byte_ns = 160,
        .program_byte_ns = 160,
        .program_ns = 3000000,
        .erase_ns = 400000000,
        .read = nor_read,
        .program = nor_program,
        .erase = nor_erase,
    };
}

void nor_copy(struct nor_chip *to, const struct nor_chip *from)
{
    size_t bytes = (size_t)from->erase_bytes * from->erase_count;
    memcpy(to->bytes, from->bytes, bytes);
    memcpy(to->written, from->written, bytes);
}

/* ---- NAND ---- */

static uint32_t nand_pages(const struct nand_chip *chip)
{
    return chip->pages_per_block * chip->block_count;
}

static void nand_good(const struct nand_chip *chip, uint32_t block)
{
    if (block >= chip->block_count)
        misuse("no such block", block);
    if (block == chip->bad_block || (chip->is_marked && block == chip->gone_bad))
        misuse("use of a bad block", block);
}

static int nand_read(void *context, uint32_t page, void *data, uint8_t *tag)
{
    struct nand_chip *chip = context;
    if (chip->power->is_off)
        return STEADYFS_FAIL_DEVICE;
    nand_good(chip, page / chip->pages_per_block);
    memcpy(data, chip->data + (size_t)page * chip->page_bytes, chip->page_bytes);
    memcpy(tag, chip->tags + (size_t)page * TAG_BYTES, TAG_BYTES);
    return STEADYFS_FAIL_NONE;
}

static int nand_read_tag(void *context, uint32_t page, uint8_t *tag)
{
    struct nand_chip *chip = context;
    if (chip->power->is_off)
        return STEADYFS_FAIL_DEVICE;
    nand_good(chip, page / chip->pages_per_block);
    memcpy(tag, chip->tags + (size_t)page * TAG_BYTES, TAG_BYTES);
    return STEADYFS_FAIL_NONE;
}

/*
 * Leaves a page as after a power cut: random bytes, random bytes behind the beginning of the
 * data, or no change.
 */
static void nand_tear(struct nand_chip *chip, uint32_t page, const void *data, uint32_t bytes)
{
    uint8_t *to = chip->data + (size_t)page * chip->page_bytes, *tag = chip->tags + (size_t)page * TAG_BYTES;
    uint32_t kind = random_number(&chip->power->random) % 3;
    if (kind == 0)
        return;
    for (uint32_t at = 0; at < chip->page_bytes; at++)
        to[at] = (uint8_t)random_number(&chip->power->random);
    for (uint32_t at = 0; at < TAG_BYTES; at++)
        tag[at] = (uint8_t)random_number(&chip->power->random);
    if (kind == 1 && bytes > 0)
        memcpy(to, data, random_number(&chip->power->random) % bytes);
}

static int nand_program(void *context, uint32_t page, const void *data, uint32_t bytes, const uint8_t *tag)
{
    struct nand_chip *chip = context;
    uint32_t block = page / chip->pages_per_block;
    if (chip->power->is_off)
        return STEADYFS_FAIL_DEVICE;
    nand_good(chip, block);
    if (bytes > chip->page_bytes)
        misuse("more than a page", page);
    if (chip->written[page])
        misuse("a page is programmed twice", page);
    if (page % chip->pages_per_block < chip->next[block])
        misuse("a page is programmed out of order", page);
    chip->written[page] = 1;
    chip->next[block] = page % chip->pages_per_block + 1;
    if (++chip->programs == chip->fails_at) {
        chip->gone_bad = block;
        nand_tear(chip, page, data, bytes);
        return STEADYFS_FAIL_BAD_BLOCK;
    }
    if (is_cut(chip->power)) {
        nand_tear(chip, page, data, bytes);
        return STEADYFS_FAIL_DEVICE;
    }
    memcpy(chip->data + (size_t)page * chip->page_bytes, data, bytes);
    memcpy(chip->tags + (size_t)page * TAG_BYTES, tag, TAG_BYTES);
    return STEADYFS_FAIL_NONE;
}

static int nand_erase(void *context, uint32_t block)
{
    struct nand_chip *chip = context;
    uint32_t first = block * chip->pages_per_block;
    bool cut;
    if (chip->power->is_off)
        return STEADYFS_FAIL_DEVICE;
    nand_good(chip, block);
    cut = is_cut(chip->power);
    for (uint32_t page = first; page < first + chip->pages_per_block; page++) {
        /*
         * A cut erase leaves each page unchanged, erased or torn. All of them need another erase.
         */
        if (cut && random_number(&chip->power->random) % 2) {
            nand_tear(chip, page, NULL, 0);
        } else if (!cut || random_number(&chip->power->random) % 2) {
            memset(chip->data + (size_t)page * chip->page_bytes, 0xFF, chip->page_bytes);
            memset(chip->tags + (size_t)page * TAG_BYTES, 0xFF, TAG_BYTES);
        }
        chip->written[page] = cut;
    }
    chip->next[block] = cut ? chip->pages_per_block : 0;
    return cut ? STEADYFS_FAIL_DEVICE : STEADYFS_FAIL_NONE;
}

static int nand_is_bad(void *context, uint32_t block)
{
    struct nand_chip *chip = context;
    if (chip->power->is_off)
        return STEADYFS_FAIL_DEVICE;
    if (block >= chip->block_count)
        misuse("no such block", block);
    return block == chip->bad_block || (chip->is_marked && block == chip->gone_bad);
}

static int nand_mark_bad(void *context, uint32_t block)
{
    struct nand_chip *chip = context;
    if (chip->programs < chip->fails_at || chip->fails_at == 0 || block != chip->gone_bad)
        misuse("no program failed in this block, and yet it is marked bad", block);
    chip->is_marked = true;
    return STEADYFS_FAIL_NONE;
}

void nand_new(struct nand_chip *chip, struct power *power, uint32_t page_bytes, uint32_t pages_per_block, uint32_t block_count,
              struct steadyfs_nand *driver)
{
    uint32_t pages = pages_per_block * block_count;
    *chip = (struct nand_chip){
        .power = power,
        .page_bytes = page_bytes,
        .pages_per_block = pages_per_block,
        .block_count = block_count,
        .bad_block = block_count / 2,
    };
    chip->data = need((size_t)pages * page_bytes);
    chip->tags = need((size_t)pages * TAG_BYTES);
    chip->written = need(pages);
    chip->next = need(block_count * sizeof *chip->next);
    memset(chip->data, 0xFF, (size_t)pages * page_bytes);
    memset(chip->tags, 0xFF, (size_t)pages * TAG_BYTES);
    memset(chip->written, 0, pages);
    memset(chip->next, 0, block_count * sizeof *chip->next);
    nand_attach(chip, power, driver);
}

void nand_attach(struct nand_chip *chip, struct power *power, struct steadyfs_nand *driver)
{
    chip->power = power;
    /* Longest times of a W25N01GV on one data line at 50 MHz. */
    *driver = (struct steadyfs_nand){
        .context = chip,
        .page_bytes = chip->page_bytes,
        .pages_per_block = chip->pages_per_block,
        .block_count = chip->block_count,
        .timing = {.read_ns = 410000, .read_tag_ns = 83000, .program_ns = 1050000, .erase_ns = 10010000},
        .read = nand_read,
        .read_tag = nand_read_tag,
        .program = nand_program,
        .erase = nand_erase,
        .is_bad = nand_is_bad,
        .mark_bad = nand_mark_bad,
    };
}

void nand_copy(struct nand_chip *to, const struct nand_chip *from)
{
    memcpy(to->data, from->data, (size_t)nand_pages(from) * from->page_bytes);
    memcpy(to->tags, from->tags, (size_t)nand_pages(from) * TAG_BYTES);
    memcpy(to->written, from->written, nand_pages(from));
    memcpy(to->next, from->next, from->block_count * sizeof *from->next);
}

/* ---- A card whose writes are durable when they return ---- */

static size_t card_sectors(const struct card *card, uint32_t first, const struct steadyfs_part *parts, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t part = 0; part < count; part++)
        bytes += parts[part].bytes;
    if (bytes % SECTOR_BYTES != 0)
        misuse("bytes that are no whole sectors", first);
    if (first + bytes / SECTOR_BYTES > card->sector_count)
        misuse("sectors behind the end", first);
    return bytes / SECTOR_BYTES;
}

static int card_read(void *context, uint32_t first, const struct steadyfs_part *parts, uint32_t count)
{
    struct card *card = context;
    const uint8_t *from = card->bytes + (size_t)first * SECTOR_BYTES;
    if (card->power->is_off)
        return STEADYFS_FAIL_DEVICE;
    card_sectors(card, first, parts, count);
    for (uint32_t part = 0; part < count; part++) {
        memcpy(parts[part].data, from, parts[part].bytes);
        from += parts[part].bytes;
    }
    return STEADYFS_FAIL_NONE;
}

static int card_write(void *context, uint32_t first, const struct steadyfs_part *parts, uint32_t count)
{
    struct card *card = context;
    uint8_t *to = card->bytes + (size_t)first * SECTOR_BYTES;
    size_t sectors, written;
    if (card->power->is_off)
        return STEADYFS_FAIL_DEVICE;
    sectors = card_sectors(card, first, parts, count);
    written = sectors * SECTOR_BYTES;
    if (is_cut(card->power)) {
        /* Some of the sectors are written. The next sector has random bytes. */
        written = random_number(&card->power->random) % sectors * SECTOR_BYTES;
        for (size_t at = written; at < written + SECTOR_BYTES; at++)
            to[at] = (uint8_t)random_number(&card->power->random);
    }
    for (uint32_t part = 0; part < count && written > 0; part++) {
        size_t bytes = parts[part].bytes < written ? parts[part].bytes : written;
        memcpy(to, parts[part].data, bytes);
        to += bytes;
        written -= bytes;
    }
    return card->power->is_off ? STEADYFS_FAIL_DEVICE : STEADYFS_FAIL_NONE;
}

void card_new(struct card *card, struct power *power, uint32_t sector_count, struct steadyfs_sectors *driver)
{
    size_t bytes = (size_t)sector_count * SECTOR_BYTES;
    *card = (struct card){.power = power, .sector_count = sector_count};
    card->bytes = need(bytes);
    memset(card->bytes, 0, bytes);
    *driver = (struct steadyfs_sectors){
        .context = card,
        .sector_count = sector_count,
        .keeps_order = true,
        .read_ns = 200000,
        .read_sector_ns = 25000,
        .write_ns = 1000000,
        .write_sector_ns = 30000,
        .read = card_read,
        .write = card_write,
    };
}

void card_copy(struct card *to, const struct card *from)
{
    memcpy(to->bytes, from->bytes, (size_t)from->sector_count * SECTOR_BYTES);
}
