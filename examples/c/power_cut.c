/*
 * Cuts power in every program and erase of a workload, on NOR, NAND and a card, and checks the
 * volume afterwards. The volume must be as after the last acknowledged commit, or as after the
 * commit in flight, and nothing between. Every third time, power is cut again in the mount.
 *
 *     power_cut [STRIDE]     only every STRIDEth cut, for slow machines and valgrind
 */

#include "chip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 60
#define RECORD_BYTES 37
#define BLOB_BYTES 700

/* One of the three media, with a copy of its state after the format. */
struct medium {
    const char *name;
    struct power power;
    struct nor_chip nor_chip, nor_empty;
    struct nand_chip nand_chip, nand_empty;
    struct card card, card_empty;
    steadyfs_nor nor;
    steadyfs_nand nand;
    steadyfs_sectors sectors;
    steadyfs_config config;
    void *scratch;
    size_t scratch_bytes;
};

static void fail(const struct medium *medium, uint64_t cut, const char *what, int64_t number)
{
    fprintf(stderr, "%s, cut in operation %lu: %s (%ld%s%s)\n", medium->name, (unsigned long)cut, what, (long)number,
            number < 0 ? ": " : "", number < 0 ? steadyfs_error_string((int)number) : "");
    exit(1);
}

static void fill(uint8_t *bytes, size_t count, uint32_t step)
{
    uint32_t random = step * 2654435761u + 1;
    for (size_t at = 0; at < count; at++)
        bytes[at] = (uint8_t)random_number(&random);
}

/* Writes a whole file. */
static int put(steadyfs_t *fs, const char *path, const void *data, size_t bytes)
{
    steadyfs_file_t file;
    ptrdiff_t written;
    int error = steadyfs_file_open(fs, &file, path, STEADYFS_O_WRONLY | STEADYFS_O_CREAT | STEADYFS_O_TRUNC);
    if (error < 0)
        return error;
    written = steadyfs_file_write(fs, &file, data, bytes);
    error = steadyfs_file_close(fs, &file);
    return written < 0 ? (int)written : error;
}

/* The changes of one step: a transaction over four files and a directory. */
static int change(steadyfs_t *fs, uint32_t step)
{
    uint8_t blob[BLOB_BYTES], record[RECORD_BYTES];
    char name[32];
    steadyfs_file_t log;
    int error = 0;
    ptrdiff_t written;

    fill(blob, sizeof blob, step);
    fill(record, sizeof record, step + 1000);
    if ((error = put(fs, "number", &step, sizeof step)) < 0)
        return error;
    if ((error = put(fs, "config.new", blob, sizeof blob)) < 0)
        return error;
    if ((error = steadyfs_rename(fs, "config.new", "config")) < 0)
        return error;
    if ((error = steadyfs_file_open(fs, &log, "log", STEADYFS_O_WRONLY | STEADYFS_O_CREAT | STEADYFS_O_APPEND)) < 0)
        return error;
    written = steadyfs_file_write(fs, &log, record, sizeof record);
    error = steadyfs_file_close(fs, &log);
    if (written < 0)
        return (int)written;
    if (error < 0)
        return error;
    if (step % 4 == 1) {
        snprintf(name, sizeof name, "dir%u", (unsigned)step);
        if ((error = steadyfs_mkdir(fs, name)) < 0)
            return error;
    } else if (step % 4 == 3 && step > 4) {
        snprintf(name, sizeof name, "dir%u", (unsigned)(step - 2));
        if ((error = steadyfs_remove(fs, name)) < 0)
            return error;
    }
    return 0;
}

/*
 * Makes steps until power fails. Sets `acknowledged` to the last step with an acknowledged
 * commit. Unmounts and mounts now and then.
 */
static int work(steadyfs_t *fs, const steadyfs_config *config, uint32_t *acknowledged)
{
    int error = steadyfs_mount(fs, config);
    for (uint32_t step = 1; step <= STEPS && error >= 0; step++) {
        if ((error = change(fs, step)) < 0)
            break;
        if (step % 7 == 0) {
            /* A rolled-back change must never appear. */
            if ((error = put(fs, "number", "none", 4)) < 0)
                break;
            if ((error = steadyfs_rollback(fs)) < 0 || (error = change(fs, step)) < 0)
                break;
        }
        if ((error = steadyfs_commit(fs)) < 0)
            break;
        *acknowledged = step;
        if (step % 16 == 0) {
            if ((error = steadyfs_unmount(fs)) < 0)
                break;
            error = steadyfs_mount(fs, config);
        }
    }
    return error < 0 ? error : steadyfs_unmount(fs);
}

/* Reads a whole file. Returns its size, or an error. */
static ptrdiff_t get(steadyfs_t *fs, const char *path, void *data, size_t bytes)
{
    steadyfs_file_t file;
    ptrdiff_t read;
    int error = steadyfs_file_open(fs, &file, path, STEADYFS_O_RDONLY);
    if (error < 0)
        return error;
    read = steadyfs_file_read(fs, &file, data, bytes);
    error = steadyfs_file_close(fs, &file);
    return error < 0 ? error : read;
}

/* Checks that the volume contains exactly the state after one step. Returns the step. */
static uint32_t look(struct medium *medium, steadyfs_t *fs, uint64_t cut, uint32_t acknowledged)
{
    uint8_t blob[BLOB_BYTES], found[BLOB_BYTES + 1];
    uint32_t step = 0;
    steadyfs_info info;
    steadyfs_dir_t dir;
    unsigned entries = 0, expected = 0;
    int error;
    ptrdiff_t read = get(fs, "number", &step, sizeof step);

    if (read == STEADYFS_ERR_NOENT)
        step = 0;
    else if (read != (ptrdiff_t)sizeof step)
        fail(medium, cut, "the number cannot be read", read);
    if (step != acknowledged && step != acknowledged + 1)
        fail(medium, cut, "another step than was acknowledged", step);
    if (step > 0) {
        fill(blob, sizeof blob, step);
        read = get(fs, "config", found, sizeof found);
        if (read != BLOB_BYTES || memcmp(found, blob, BLOB_BYTES) != 0)
            fail(medium, cut, "the configuration is of another step", read);
        if ((error = steadyfs_stat(fs, "log", &info)) < 0 || info.size != (uint64_t)step * RECORD_BYTES)
            fail(medium, cut, "the log has another length", error < 0 ? error : (int64_t)info.size);
        static uint8_t log[STEPS * RECORD_BYTES + 1];
        if (get(fs, "log", log, sizeof log) != (ptrdiff_t)info.size)
            fail(medium, cut, "the log cannot be read", 0);
        for (uint32_t at = 0; at < step; at++) {
            fill(blob, RECORD_BYTES, at + 1 + 1000);
            if (memcmp(log + at * RECORD_BYTES, blob, RECORD_BYTES) != 0)
                fail(medium, cut, "a record is not what was written", at);
        }
        expected = 3;
    }
    /* Each directory is created in one step and removed two steps later. The first one stays. */
    for (uint32_t at = 1; at <= step; at += 4)
        expected += at == 1 || at + 2 > step;
    if ((error = steadyfs_dir_open(fs, &dir, "/")) < 0)
        fail(medium, cut, "the root cannot be opened", error);
    while ((error = steadyfs_dir_read(fs, &dir, &info)) == 1)
        entries++;
    if (error < 0 || entries != expected)
        fail(medium, cut, "the root has other entries", error < 0 ? error : (int64_t)entries);
    return step;
}

static void restore(struct medium *medium)
{
    if (medium->config.nor)
        nor_copy(&medium->nor_chip, &medium->nor_empty);
    else if (medium->config.nand)
        nand_copy(&medium->nand_chip, &medium->nand_empty);
    else
        card_copy(&medium->card, &medium->card_empty);
}

/* Runs a workload with one cut, and checks the volume after it. Returns true if power failed. */
static bool one_cut(struct medium *medium, uint64_t cut)
{
    static steadyfs_t fs;
    uint32_t acknowledged = 0;
    steadyfs_checked checked;
    int error;

    restore(medium);
    medium->power = (struct power){.cut_at = cut, .random = (uint32_t)cut * 7919 + 1};
    error = work(&fs, &medium->config, &acknowledged);
    if (!medium->power.is_off) {
        if (error < 0)
            fail(medium, cut, "a call failed though power was there", error);
        if (acknowledged != STEPS)
            fail(medium, cut, "steps are missing", acknowledged);
        return false;
    }
    /* If the last program of an unmount is lost, nothing else is: the next mount searches. */
    if (error >= 0 && acknowledged != STEPS)
        fail(medium, cut, "no call has noticed that power failed", error);
    if (cut % 3 == 0) {
        medium->power = (struct power){.cut_at = 1 + cut % 11, .random = (uint32_t)cut * 104729 + 1};
        (void)steadyfs_mount(&fs, &medium->config);
    }
    medium->power = (struct power){.random = 1};
    if ((error = steadyfs_mount(&fs, &medium->config)) < 0)
        fail(medium, cut, "the volume cannot be mounted", error);
    if ((error = steadyfs_damage(&fs)) != STEADYFS_DAMAGE_NONE)
        fail(medium, cut, "the volume is damaged", error);
    uint32_t step = look(medium, &fs, cut, acknowledged);
    error = steadyfs_fs_check(&fs, medium->scratch, medium->scratch_bytes, false, NULL, NULL, &checked);
    if (error < 0 || checked.findings > 0)
        fail(medium, cut, "the check finds something", error < 0 ? error : (int64_t)checked.findings);
    /* The volume continues to work. */
    if (step < STEPS) {
        if ((error = change(&fs, step + 1)) < 0 || (error = steadyfs_unmount(&fs)) < 0)
            fail(medium, cut, "the volume cannot be changed", error);
        if ((error = steadyfs_mount(&fs, &medium->config)) < 0)
            fail(medium, cut, "the volume cannot be mounted again", error);
        (void)look(medium, &fs, cut, step + 1);
    }
    if ((error = steadyfs_unmount(&fs)) < 0)
        fail(medium, cut, "the volume cannot be unmounted", error);
    return true;
}

static void every_cut(struct medium *medium, uint64_t stride)
{
    static steadyfs_t fs;
    uint64_t cuts = 0, cut = 1;
    ptrdiff_t bytes = steadyfs_memory_bytes(&medium->config);
    int error;

    if (bytes < 0)
        fail(medium, 0, "the configuration is wrong", bytes);
    medium->config.memory_bytes = (size_t)bytes;
    medium->config.memory = need(medium->config.memory_bytes);
    medium->config.commit_on = STEADYFS_COMMIT_UNMOUNT;
    medium->scratch_bytes = (size_t)steadyfs_check_bytes(&medium->config);
    medium->scratch = need(medium->scratch_bytes);
    if ((error = steadyfs_format(&fs, &medium->config)) < 0)
        fail(medium, 0, "the chip cannot be formatted", error);
    if (medium->config.nor)
        nor_copy(&medium->nor_empty, &medium->nor_chip);
    else if (medium->config.nand)
        nand_copy(&medium->nand_empty, &medium->nand_chip);
    else
        card_copy(&medium->card_empty, &medium->card);
    for (; one_cut(medium, cut); cut += stride)
        cuts++;
    printf("%s: %lu cuts, every one survived\n", medium->name, (unsigned long)cuts);
    if (cuts == 0)
        fail(medium, 0, "power never failed", 0);
    free(medium->config.memory);
    free(medium->scratch);
}

int main(int count, char **arguments)
{
    uint64_t stride = count > 1 ? strtoul(arguments[1], NULL, 10) : 1;
    static struct medium nor, nand, card;
    steadyfs_nor other_nor;
    steadyfs_nand other_nand;
    steadyfs_sectors other_card;

    if (stride == 0)
        stride = 1;
    nor.name = "NOR";
    nor_new(&nor.nor_chip, &nor.power, 4096, 64, &nor.nor);
    nor_new(&nor.nor_empty, &nor.power, 4096, 64, &other_nor);
    nor.config.nor = &nor.nor;
    every_cut(&nor, stride);
    nor_free(&nor.nor_chip);
    nor_free(&nor.nor_empty);

    nand.name = "NAND";
    nand_new(&nand.nand_chip, &nand.power, 512, 16, 64, &nand.nand);
    nand_new(&nand.nand_empty, &nand.power, 512, 16, 64, &other_nand);
    nand.config.nand = &nand.nand;
    every_cut(&nand, stride);
    nand_free(&nand.nand_chip);
    nand_free(&nand.nand_empty);

    card.name = "card";
    card_new(&card.card, &card.power, 8192, &card.sectors);
    card_new(&card.card_empty, &card.power, 8192, &other_card);
    card.sectors.block_sectors = 128;
    card.sectors.page_bytes = 1024;
    card.config.sectors = &card.sectors;
    every_cut(&card, stride);
    /* The same medium with tags within the pages. */
    card.name = "card, tags within";
    card.sectors.tags = STEADYFS_TAGS_WITHIN;
    card.power = (struct power){.random = 1};
    every_cut(&card, stride);
    card_free(&card.card);
    card_free(&card.card_empty);
    return 0;
}
