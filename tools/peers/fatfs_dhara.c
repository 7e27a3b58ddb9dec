/*
 * Records how long FatFs on Dhara takes for each durable overwrite, on the chip that `steady evaluate` simulates by default.
 *
 *   fatfs_dhara FILL_PERCENT ACCESSES >TRACE.csv
 *
 * One file takes its share of the volume. Like `steady evaluate`: bytes worth twice the volume are overwritten at random places, 4 KiB
 * at a time, each durable (f_sync); then ACCESSES more are measured, and at the end everything is read back and compared. Time is that
 * of the chip alone. Everything is as good for the peer as it can be: no bad block, no failure, partial page reads, copies within
 * the chip, a file without fragments and with FatFs's fast seek.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dhara/map.h"
#include "ff.h"
#include "diskio.h"

#define PAGE_BYTES 2048u
#define LOG2_PAGE_BYTES 11
#define PAGES_PER_BLOCK 64u
#define LOG2_PAGES_PER_BLOCK 6
#define BLOCKS 1024u
#define PAGES (BLOCKS * PAGES_PER_BLOCK)

/* Typical times of `mt29f1g01abafd` (crates/steadyfs-sim/profiles), in picoseconds. */
#define READ_PS (46000000ull + 662000)
#define PROGRAM_PS (220000000ull + 662000)
#define ERASE_PS (2000000000ull + 482000)
#define TRANSFER_PS_PER_BYTE 15038ull

#define WRITE_BYTES 4096u
#define GC_RATIO 4

static uint8_t cells[PAGES][PAGE_BYTES];
static uint8_t is_programmed[PAGES];
static uint64_t now_ps;

static void fail(const char *what)
{
	fprintf(stderr, "error: %s\n", what);
	exit(1);
}

/* The chip, as Dhara sees it. */

int dhara_nand_is_bad(const struct dhara_nand *nand, dhara_block_t block)
{
	(void)nand, (void)block;
	return 0;
}

void dhara_nand_mark_bad(const struct dhara_nand *nand, dhara_block_t block)
{
	(void)nand, (void)block;
	fail("a block of a chip without failures was marked bad");
}

int dhara_nand_erase(const struct dhara_nand *nand, dhara_block_t block, dhara_error_t *error)
{
	(void)nand, (void)error;
	now_ps += ERASE_PS;
	memset(cells[block * PAGES_PER_BLOCK], 0xFF, PAGES_PER_BLOCK * PAGE_BYTES);
	memset(&is_programmed[block * PAGES_PER_BLOCK], 0, PAGES_PER_BLOCK);
	return 0;
}

static void program(dhara_page_t page, const uint8_t *data)
{
	if (is_programmed[page])
		fail("a page was programmed twice");
	now_ps += PROGRAM_PS;
	is_programmed[page] = 1;
	memcpy(cells[page], data, PAGE_BYTES);
}

int dhara_nand_prog(const struct dhara_nand *nand, dhara_page_t page, const uint8_t *data, dhara_error_t *error)
{
	(void)nand, (void)error;
	now_ps += PAGE_BYTES * TRANSFER_PS_PER_BYTE;
	program(page, data);
	return 0;
}

int dhara_nand_is_free(const struct dhara_nand *nand, dhara_page_t page)
{
	(void)nand;
	now_ps += READ_PS;
	return !is_programmed[page];
}

int dhara_nand_read(const struct dhara_nand *nand, dhara_page_t page, size_t offset, size_t length, uint8_t *data, dhara_error_t *error)
{
	(void)nand, (void)error;
	now_ps += READ_PS + length * TRANSFER_PS_PER_BYTE;
	memcpy(data, cells[page] + offset, length);
	return 0;
}

int dhara_nand_copy(const struct dhara_nand *nand, dhara_page_t from, dhara_page_t to, dhara_error_t *error)
{
	(void)nand, (void)error;
	now_ps += READ_PS;
	program(to, cells[from]);
	return 0;
}

/* The disk, as FatFs sees it. */

static const struct dhara_nand nand = {LOG2_PAGE_BYTES, LOG2_PAGES_PER_BLOCK, BLOCKS};
static struct dhara_map map;
static uint8_t map_buffer[PAGE_BYTES];

DSTATUS disk_initialize(BYTE drive)
{
	(void)drive;
	return 0;
}

DSTATUS disk_status(BYTE drive)
{
	(void)drive;
	return 0;
}

DRESULT disk_read(BYTE drive, BYTE *data, LBA_t sector, UINT count)
{
	dhara_error_t error;
	(void)drive;
	for (; count > 0; count--, sector++, data += PAGE_BYTES)
		if (dhara_map_read(&map, sector, data, &error) < 0)
			return RES_ERROR;
	return RES_OK;
}

DRESULT disk_write(BYTE drive, const BYTE *data, LBA_t sector, UINT count)
{
	dhara_error_t error;
	(void)drive;
	for (; count > 0; count--, sector++, data += PAGE_BYTES)
		if (dhara_map_write(&map, sector, data, &error) < 0)
			return RES_ERROR;
	return RES_OK;
}

DRESULT disk_ioctl(BYTE drive, BYTE command, void *value)
{
	dhara_error_t error;
	(void)drive;
	switch (command) {
	case CTRL_SYNC: return dhara_map_sync(&map, &error) < 0 ? RES_ERROR : RES_OK;
	case GET_SECTOR_COUNT: *(LBA_t *)value = dhara_map_capacity(&map); return RES_OK;
	case GET_SECTOR_SIZE: *(WORD *)value = PAGE_BYTES; return RES_OK;
	case GET_BLOCK_SIZE: *(DWORD *)value = 1; return RES_OK;
	}
	return RES_PARERR;
}

/* The workload. */

static FATFS volume;
static FIL file;
static DWORD clusters[64];
static uint8_t piece[WRITE_BYTES];

static void check(FRESULT result, const char *what)
{
	if (result != FR_OK) {
		fprintf(stderr, "error: %s: FatFs says %d\n", what, (int)result);
		exit(1);
	}
}

/* xorshift64: the places only have to be spread evenly. */
static uint64_t next_random(void)
{
	static uint64_t state = 0x9E3779B97F4A7C15ull;
	state ^= state << 13, state ^= state >> 7, state ^= state << 17;
	return state;
}

static void make_piece(uint32_t place, uint32_t version)
{
	for (uint32_t at = 0; at < WRITE_BYTES; at += 8) {
		memcpy(piece + at, &place, 4);
		memcpy(piece + at + 4, &version, 4);
	}
}

static void overwrite(uint32_t place, uint32_t version)
{
	UINT written;
	make_piece(place, version);
	check(f_lseek(&file, (FSIZE_t)place * WRITE_BYTES), "seek");
	check(f_write(&file, piece, WRITE_BYTES, &written), "write");
	if (written != WRITE_BYTES)
		fail("the volume is full");
	check(f_sync(&file), "sync");
}

/* Makes the volume, and a file that takes its share of it; returns the places of the file. */
static uint32_t fill(unsigned percent)
{
	static uint8_t work[16 * PAGE_BYTES];
	const MKFS_PARM parameters = {FM_FAT | FM_FAT32 | FM_SFD, 1, 0, 0, WRITE_BYTES};
	dhara_error_t error;
	DWORD free_clusters;
	FATFS *mounted;

	memset(cells, 0xFF, sizeof(cells));
	dhara_map_init(&map, &nand, map_buffer, GC_RATIO);
	(void)dhara_map_resume(&map, &error);
	check(f_mkfs("", &parameters, work, sizeof(work)), "format");
	check(f_mount(&volume, "", 1), "mount");
	check(f_getfree("", &free_clusters, &mounted), "free room");
	const uint32_t places = (uint32_t)((uint64_t)free_clusters * percent / 100);

	check(f_open(&file, "DATA", FA_CREATE_ALWAYS | FA_WRITE | FA_READ), "create");
	for (uint32_t place = 0; place < places; place++) {
		UINT written;
		make_piece(place, 0);
		check(f_write(&file, piece, WRITE_BYTES, &written), "fill");
		if (written != WRITE_BYTES)
			fail("the volume is full");
	}
	check(f_sync(&file), "sync");
	clusters[0] = sizeof(clusters) / sizeof(clusters[0]);
	file.cltbl = clusters;
	check(f_lseek(&file, CREATE_LINKMAP), "map of the file");
	printf("# file %u places of %u B, %u%% of %u clusters; %u sectors of Dhara, R = %d\n", (unsigned)places, WRITE_BYTES, percent,
	       (unsigned)free_clusters, (unsigned)dhara_map_capacity(&map), GC_RATIO);
	return places;
}

static void read_back(uint32_t places, const uint32_t *versions)
{
	static uint8_t found[WRITE_BYTES];
	UINT read;
	for (uint32_t place = 0; place < places; place++) {
		make_piece(place, versions[place]);
		check(f_lseek(&file, (FSIZE_t)place * WRITE_BYTES), "seek");
		check(f_read(&file, found, WRITE_BYTES, &read), "read");
		if (read != WRITE_BYTES || memcmp(found, piece, WRITE_BYTES) != 0)
			fail("what was read is not what was written");
	}
}

int main(int count, char **arguments)
{
	if (count != 3)
		fail("expected FILL_PERCENT ACCESSES");
	const unsigned long accesses = strtoul(arguments[2], NULL, 10);
	const uint32_t places = fill((unsigned)atoi(arguments[1]));
	uint32_t *versions = calloc(places, sizeof(*versions));
	const uint64_t warm_up = 2ull * dhara_map_capacity(&map) * PAGE_BYTES / WRITE_BYTES;

	for (uint64_t access = 0; access < warm_up + accesses; access++) {
		const uint32_t place = (uint32_t)(next_random() % places);
		const uint64_t before_ps = now_ps;
		if (access == warm_up)
			printf("duration_us\n");
		overwrite(place, ++versions[place]);
		if (access >= warm_up)
			printf("%.0f\n", (double)(now_ps - before_ps) / 1e6);
	}
	read_back(places, versions);
	free(versions);
	return 0;
}
