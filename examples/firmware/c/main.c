/*
 * SteadyFS from C on a Cortex-M3. Formats and mounts a simulated NOR and a simulated NAND chip,
 * and logs to each. Then power fails in the middle of an operation, and the processor is reset.
 * All acknowledged records must be there. Prints the instructions and the stack of each call.
 */

#include "board.h"
#include "chip.h"

#define RECORD_BYTES 32
#define RECORDS 64
#define STARTED 0x5354u

/* Data that survives a reset. On a board, chips outside of the processor keep it. */
static struct kept {
    uint32_t started;     /* STARTED after the first start */
    uint32_t resets;
    uint32_t acknowledged[2]; /* records whose write returned */
    struct nor_chip nor;
    struct nand_chip nand;
} kept __attribute__((section(".noinit")));
static uint8_t chips[2 << 20] __attribute__((section(".noinit"), aligned(8)));
static size_t chips_used;

/* Ticks spent in the simulated chips, which a board does not have. */
static uint32_t chip_ticks;

static steadyfs_nor nor, nor_driver;
static steadyfs_nand nand, nand_driver;
static struct power power;
static uint8_t memory[2][16 << 10], scratch[16 << 10];
static steadyfs_t volumes[2];

void *need(size_t bytes)
{
    void *memory = chips + chips_used;
    chips_used += (bytes + 7) & ~(size_t)7;
    if (chips_used > sizeof chips)
        misuse("too large for the board", (uint32_t)bytes);
    return memory;
}

void misuse(const char *what, uint32_t where)
{
    print("misuse of the chip: ");
    print(what);
    print(" at ");
    print_number(where, 0);
    print("\n");
    board_exit(2);
}

static void fail(const char *what, int error)
{
    print(what);
    print(": ");
    print(steadyfs_error_string(error));
    print("\n");
    board_exit(1);
}

static void try_it(int error, const char *what)
{
    if (error < 0)
        fail(what, error);
}

/* ---- Drivers that count the time of the simulation ---- */

#define METERED(call)                             \
    do {                                          \
        uint32_t begin = timer_now();             \
        int answer = (call);                      \
        chip_ticks += timer_now() - begin;        \
        return answer;                            \
    } while (0)

static int nor_read(void *context, uint32_t address, void *data, uint32_t bytes)
{
    METERED(nor.read(context, address, data, bytes));
}

static int nor_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    METERED(nor.program(context, address, data, bytes));
}

static int nor_erase(void *context, uint32_t sector)
{
    METERED(nor.erase(context, sector));
}

static int nand_read(void *context, uint32_t page, void *data, uint8_t *tag)
{
    METERED(nand.read(context, page, data, tag));
}

static int nand_read_tag(void *context, uint32_t page, uint8_t *tag)
{
    METERED(nand.read_tag(context, page, tag));
}

static int nand_program(void *context, uint32_t page, const void *data, uint32_t bytes, const uint8_t *tag)
{
    METERED(nand.program(context, page, data, bytes, tag));
}

static int nand_erase(void *context, uint32_t block)
{
    METERED(nand.erase(context, block));
}

static steadyfs_config configure(int which)
{
    steadyfs_config config = {.memory = memory[which], .memory_bytes = sizeof memory[which]};
    if (which == 0) {
        nor_driver = nor;
        nor_driver.read = nor_read;
        nor_driver.program = nor_program;
        nor_driver.erase = nor_erase;
        config.nor = &nor_driver;
    } else {
        nand_driver = nand;
        nand_driver.read = nand_read;
        nand_driver.read_tag = nand_read_tag;
        nand_driver.program = nand_program;
        nand_driver.erase = nand_erase;
        config.nand = &nand_driver;
    }
    return config;
}

/* ---- Measured calls ---- */

/* Makes a call, and prints its instructions and stack, without the time of the simulated chips. */
#define MEASURE(name, call)                                                                \
    do {                                                                                   \
        stack_paint();                                                                     \
        chip_ticks = 0;                                                                    \
        uint32_t begin = timer_now();                                                      \
        int error = (int)(call);                                                           \
        uint32_t ticks = timer_now() - begin - chip_ticks, stack = stack_used();           \
        try_it(error, name);                                                               \
        print("  " name);                                                                  \
        print_number(timer_instructions(ticks), 32 - (unsigned)sizeof name);               \
        print(" instructions, ");                                                          \
        print_number(stack, 5);                                                            \
        print(" bytes of stack\n");                                                        \
    } while (0)

static void make_record(uint8_t record[RECORD_BYTES], uint32_t number)
{
    uint32_t random = number * 2654435761u + 1;
    for (unsigned at = 0; at < RECORD_BYTES; at++)
        record[at] = (uint8_t)random_number(&random);
}

/* Formats, mounts and logs; then power fails in the middle of an operation. */
static void first_start(int which)
{
    steadyfs_config config = configure(which);
    steadyfs_t *fs = &volumes[which];
    steadyfs_file_t log;
    steadyfs_cost cost;
    uint8_t record[RECORD_BYTES];
    uint32_t number = 0;
    ptrdiff_t bytes = steadyfs_memory_bytes(&config);

    try_it((int)bytes, "memory");
    print(which == 0 ? "NOR, 256 KiB in sectors of 4 KiB: " : "NAND, 512 KiB in pages of 512 bytes: ");
    print_number((uint32_t)bytes, 0);
    print(" bytes of RAM beside the ");
    print_number(sizeof *fs, 0);
    print(" of steadyfs_t\n");
    MEASURE("format", steadyfs_format(fs, &config));
    MEASURE("mount", steadyfs_mount(fs, &config));
    MEASURE("mkdir", steadyfs_mkdir(fs, "data"));
    MEASURE("open, creates", steadyfs_file_open(fs, &log, "data/log", STEADYFS_O_RDWR | STEADYFS_O_CREAT | STEADYFS_O_APPEND | STEADYFS_O_DURABLE));
    make_record(record, number);
    MEASURE("bound of a write", steadyfs_bound_file_write(fs, &log, RECORD_BYTES, &cost));
    MEASURE("write, durable", steadyfs_file_write(fs, &log, record, RECORD_BYTES));
    for (number = 1; number < RECORDS; number++) {
        make_record(record, number);
        try_it((int)steadyfs_file_write(fs, &log, record, RECORD_BYTES), "write");
    }
    try_it((int)steadyfs_file_rewind(fs, &log), "rewind");
    MEASURE("read", steadyfs_file_read(fs, &log, record, RECORD_BYTES));
    MEASURE("rename", steadyfs_rename(fs, "data/log", "data/log.1"));
    MEASURE("setattr", steadyfs_setattr(fs, "data/log.1", "version", "1", 1));
    MEASURE("truncate", steadyfs_file_truncate(fs, &log, RECORDS * RECORD_BYTES));
    MEASURE("bound of a rename", steadyfs_bound_rename(fs, "data/log", "data/log.1", &cost));
    MEASURE("gc", steadyfs_fs_gc(fs, 1000000000, 4096));
    MEASURE("scrub", steadyfs_fs_scrub(fs, 1000000000));

    power.cut_at = power.operations + 23;
    power.random = 7;
    for (;; number++) {
        make_record(record, number);
        if (steadyfs_file_write(fs, &log, record, RECORD_BYTES) < 0)
            break;
    }
    if (!power.is_off)
        fail("a write failed though power was there", 0);
    kept.acknowledged[which] = number;
    print("  power fails after ");
    print_number(number, 0);
    print(" records\n");
}

/* All acknowledged records are there, and perhaps the record in flight. */
static void second_start(int which)
{
    steadyfs_config config = configure(which);
    steadyfs_t *fs = &volumes[which];
    steadyfs_file_t log;
    uint8_t record[RECORD_BYTES], found[RECORD_BYTES];
    uint32_t count = 0;

    print(which == 0 ? "NOR" : "NAND");
    print(" after the reset\n");
    MEASURE("mount after a power cut", steadyfs_mount(fs, &config));
    MEASURE("open", steadyfs_file_open(fs, &log, "data/log.1", STEADYFS_O_RDWR | STEADYFS_O_APPEND | STEADYFS_O_DURABLE));
    while (steadyfs_file_read(fs, &log, found, RECORD_BYTES) == RECORD_BYTES) {
        make_record(record, count++);
        if (memcmp(found, record, RECORD_BYTES) != 0)
            fail("a record is not what was written", STEADYFS_ERR_CORRUPT);
    }
    if (count != kept.acknowledged[which] && count != kept.acknowledged[which] + 1)
        fail("another number of records than was acknowledged", STEADYFS_ERR_CORRUPT);
    make_record(record, count);
    MEASURE("write, durable", steadyfs_file_write(fs, &log, record, RECORD_BYTES));
    MEASURE("close", steadyfs_file_close(fs, &log));
    MEASURE("check", steadyfs_fs_check(fs, scratch, sizeof scratch, true, NULL, NULL, NULL));
    MEASURE("remove", steadyfs_remove(fs, "data/log.1"));
    MEASURE("unmount", steadyfs_unmount(fs));
    MEASURE("mount", steadyfs_mount(fs, &config));
    try_it(steadyfs_unmount(fs), "unmount");
    print("  all ");
    print_number(kept.acknowledged[which], 0);
    print(" records are there\n");
}

int main(void)
{
    power.random = 1;
    if (kept.started != STARTED) {
        kept.started = STARTED;
        kept.resets = 0;
        nor_new(&kept.nor, &power, 4096, 64, &nor);
        nand_new(&kept.nand, &power, 512, 16, 64, &nand);
        first_start(0);
        power.is_off = false;
        first_start(1);
        kept.resets = 1;
        board_reset();
    }
    if (kept.resets != 1)
        fail("the board was reset in the middle", 0);
    nor_attach(&kept.nor, &power, &nor);
    nand_attach(&kept.nand, &power, &nand);
    second_start(0);
    second_start(1);
    return 0;
}
