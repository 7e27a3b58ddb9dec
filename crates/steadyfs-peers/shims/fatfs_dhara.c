/* FatFs on Dhara as a contender. Both keep their state in variables that their callers own, except
 * FatFs's table of drives. So each thread has one mounted volume at a time. */
#include "peer.h"
#include "dhara/map.h"
#include "ff.h"
#include "diskio.h"
#include <stdlib.h>
#include <string.h>

#define GC_RATIO 4
#define CLUSTER_BYTES 4096u
#define FRAGMENTS 64
/* Seeks in files up to this size follow their chain of clusters. */
#define SEEK_BYTES 65536u

struct volume {
	struct dhara_nand nand; /* first member: Dhara passes its address back */
	struct chip chip;
	struct dhara_map map;
	uint8_t *map_page;
	FATFS fatfs;
	int error; /* from the chip */
};

struct file {
	FIL file;
	DWORD clusters[FRAGMENTS];
	int is_durable;
};

/* FatFs addresses drives by number: all calls of a thread are for its working volume. */
static _Thread_local struct volume *working;

/* The chip, as Dhara sees it. */

static const struct chip *chip_of(const struct dhara_nand *nand)
{
	return &((const struct volume *)nand)->chip;
}

static int failed(dhara_error_t *error, dhara_error_t what)
{
	dhara_set_error(error, what);
	return -1;
}

int dhara_nand_is_bad(const struct dhara_nand *nand, dhara_block_t block)
{
	(void)nand, (void)block;
	return 0;
}

void dhara_nand_mark_bad(const struct dhara_nand *nand, dhara_block_t block)
{
	(void)nand, (void)block;
}

int dhara_nand_erase(const struct dhara_nand *nand, dhara_block_t block, dhara_error_t *error)
{
	const struct chip *chip = chip_of(nand);
	return chip->erase(chip->context, block) ? failed(error, DHARA_E_BAD_BLOCK) : 0;
}

int dhara_nand_prog(const struct dhara_nand *nand, dhara_page_t page, const uint8_t *data, dhara_error_t *error)
{
	const struct chip *chip = chip_of(nand);
	const uint32_t per_block = 1u << nand->log2_ppb, page_bytes = 1u << nand->log2_page_size;
	const int code = chip->program(chip->context, page / per_block, page % per_block * page_bytes, data, page_bytes);
	return code ? failed(error, DHARA_E_BAD_BLOCK) : 0;
}

int dhara_nand_read(const struct dhara_nand *nand, dhara_page_t page, size_t offset, size_t length, uint8_t *data, dhara_error_t *error)
{
	const struct chip *chip = chip_of(nand);
	const uint32_t per_block = 1u << nand->log2_ppb, page_bytes = 1u << nand->log2_page_size;
	const uint32_t at = page % per_block * page_bytes + (uint32_t)offset;
	return chip->read(chip->context, page / per_block, at, data, (uint32_t)length) ? failed(error, DHARA_E_ECC) : 0;
}

int dhara_nand_is_free(const struct dhara_nand *nand, dhara_page_t page)
{
	const uint32_t page_bytes = 1u << nand->log2_page_size;
	uint32_t data[1024];
	dhara_error_t error;
	if (dhara_nand_read(nand, page, 0, page_bytes, (uint8_t *)data, &error) < 0)
		return 0;
	for (uint32_t word = 0; word < page_bytes / 4; word++)
		if (data[word] != 0xFFFFFFFF)
			return 0;
	return 1;
}

int dhara_nand_copy(const struct dhara_nand *nand, dhara_page_t from, dhara_page_t to, dhara_error_t *error)
{
	const struct chip *chip = chip_of(nand);
	return chip->copy(chip->context, from, to) ? failed(error, DHARA_E_BAD_BLOCK) : 0;
}

/* The disk, as FatFs sees it. */

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
	for (; count > 0; count--, sector++, data += 1u << working->nand.log2_page_size)
		if (dhara_map_read(&working->map, (dhara_sector_t)sector, data, &error) < 0)
			return RES_ERROR;
	return RES_OK;
}

DRESULT disk_write(BYTE drive, const BYTE *data, LBA_t sector, UINT count)
{
	dhara_error_t error;
	(void)drive;
	for (; count > 0; count--, sector++, data += 1u << working->nand.log2_page_size)
		if (dhara_map_write(&working->map, (dhara_sector_t)sector, data, &error) < 0)
			return RES_ERROR;
	return RES_OK;
}

DRESULT disk_ioctl(BYTE drive, BYTE command, void *value)
{
	dhara_error_t error;
	(void)drive;
	switch (command) {
	case CTRL_SYNC: return dhara_map_sync(&working->map, &error) < 0 ? RES_ERROR : RES_OK;
	case CTRL_TRIM:
		for (LBA_t at = ((LBA_t *)value)[0]; at <= ((LBA_t *)value)[1]; at++)
			if (dhara_map_trim(&working->map, (dhara_sector_t)at, &error) < 0)
				return RES_ERROR;
		return RES_OK;
	case GET_SECTOR_COUNT: *(LBA_t *)value = dhara_map_capacity(&working->map); return RES_OK;
	case GET_SECTOR_SIZE: *(WORD *)value = (WORD)(1u << working->nand.log2_page_size); return RES_OK;
	case GET_BLOCK_SIZE: *(DWORD *)value = 1; return RES_OK;
	}
	return RES_PARERR;
}

/* The contender. */

static int told(FRESULT result)
{
	return result == FR_DENIED ? NO_ROOM : -(int)result;
}

/* All files are in one directory: the root of a FAT16 holds few names. */
#define DIRECTORY "d"

struct path {
	char text[64];
};

static struct path full(const char *name)
{
	struct path path = {DIRECTORY "/"};
	strncat(path.text, name, sizeof(path.text) - sizeof(DIRECTORY "/"));
	return path;
}

static int log2_of(uint32_t value)
{
	int log2 = 0;
	while (value > 1)
		value >>= 1, log2++;
	return log2;
}

static void *make(const struct chip *chip)
{
	struct volume *v = calloc(1, sizeof(*v));
	v->chip = *chip;
	v->nand.log2_page_size = (uint8_t)log2_of(chip->unit_bytes);
	v->nand.log2_ppb = (uint8_t)log2_of(chip->block_bytes / chip->unit_bytes);
	v->nand.num_blocks = chip->block_count;
	v->map_page = malloc(chip->unit_bytes);
	return v;
}

static void drop(void *volume)
{
	struct volume *v = volume;
	free(v->map_page);
	free(v);
}

static void resume(struct volume *v)
{
	dhara_error_t error;
	working = v;
	memset(&v->fatfs, 0, sizeof(v->fatfs));
	dhara_map_init(&v->map, &v->nand, v->map_page, GC_RATIO);
	(void)dhara_map_resume(&v->map, &error);
}

static int format(void *volume)
{
	struct volume *v = volume;
	const MKFS_PARM parameters = {FM_FAT | FM_FAT32 | FM_SFD, 1, 0, 0, CLUSTER_BYTES};
	uint8_t *buffer = malloc(32768);
	resume(v);
	FRESULT result = f_mkfs("", &parameters, buffer, 32768);
	free(buffer);
	if (result == FR_OK)
		result = f_mount(&v->fatfs, "", 1);
	if (result == FR_OK)
		result = f_mkdir(DIRECTORY);
	return result == FR_OK ? told(disk_ioctl(0, CTRL_SYNC, 0) == RES_OK ? FR_OK : FR_DISK_ERR) : told(result);
}

static int mount(void *volume)
{
	struct volume *v = volume;
	resume(v);
	return told(f_mount(&v->fatfs, "", 1));
}

static int unmount(void *volume)
{
	dhara_error_t error;
	working = volume;
	const FRESULT result = f_mount(0, "", 0);
	return result == FR_OK && dhara_map_sync(&working->map, &error) < 0 ? -(int)FR_DISK_ERR : told(result);
}

static void *open_file(void *volume, const char *path, int mode, int *error)
{
	static const BYTE flags[] = {
		[MODE_READ] = FA_READ,
		[MODE_WRITE] = FA_READ | FA_WRITE,
		[MODE_REPLACE] = FA_READ | FA_WRITE | FA_CREATE_ALWAYS,
		[MODE_CREATE] = FA_READ | FA_WRITE | FA_OPEN_ALWAYS,
		[MODE_DURABLE] = FA_READ | FA_WRITE | FA_OPEN_ALWAYS,
	};
	struct file *f = calloc(1, sizeof(*f));
	working = volume;
	f->is_durable = mode == MODE_DURABLE;
	*error = told(f_open(&f->file, full(path).text, flags[mode]));
	if (*error == 0)
		return f;
	free(f);
	return 0;
}

static int close_file(void *volume, void *file)
{
	struct file *f = file;
	working = volume;
	const FRESULT result = f_close(&f->file);
	free(f);
	return told(result);
}

/* Seeks within a file through a map of its fragments, if the file is large and does not grow. */
static FRESULT seek(struct file *f, uint64_t offset, uint32_t bytes)
{
	const int may_map = offset + bytes <= f_size(&f->file) && f_size(&f->file) > SEEK_BYTES;
	if (!may_map) {
		f->file.cltbl = 0;
	} else if (!f->file.cltbl) {
		f->clusters[0] = FRAGMENTS;
		f->file.cltbl = f->clusters;
		if (f_lseek(&f->file, CREATE_LINKMAP) != FR_OK)
			f->file.cltbl = 0;
	}
	return f_tell(&f->file) == offset ? FR_OK : f_lseek(&f->file, offset);
}

static int64_t read_file(void *volume, void *file, uint64_t offset, void *data, uint32_t bytes)
{
	struct file *f = file;
	UINT length = 0;
	working = volume;
	if (offset >= f_size(&f->file))
		return 0;
	FRESULT result = seek(f, offset, 1);
	if (result == FR_OK)
		result = f_read(&f->file, data, bytes, &length);
	return result == FR_OK ? (int64_t)length : told(result);
}

static int sync_file(void *volume, void *file)
{
	working = volume;
	return told(f_sync(&((struct file *)file)->file));
}

static int write_file(void *volume, void *file, uint64_t offset, const void *data, uint32_t bytes)
{
	struct file *f = file;
	UINT written = 0;
	working = volume;
	FRESULT result = seek(f, offset, bytes);
	if (result == FR_OK)
		result = f_write(&f->file, data, bytes, &written);
	if (result != FR_OK)
		return told(result);
	if (written != bytes)
		return NO_ROOM;
	return f->is_durable ? sync_file(volume, f) : 0;
}

static int remove_path(void *volume, const char *path)
{
	working = volume;
	return told(f_unlink(full(path).text));
}

/* FatFs does not rename over a file, so the old file is removed before. */
static int rename_path(void *volume, const char *from, const char *to)
{
	working = volume;
	const FRESULT result = f_unlink(full(to).text);
	if (result != FR_OK && result != FR_NO_FILE)
		return told(result);
	return told(f_rename(full(from).text, full(to).text));
}

static int64_t stat_path(void *volume, const char *path)
{
	FILINFO info;
	working = volume;
	const FRESULT result = f_stat(full(path).text, &info);
	return result == FR_OK ? (int64_t)info.fsize : told(result);
}

static int room(void *volume, struct room *room)
{
	DWORD clusters;
	FATFS *fatfs;
	working = volume;
	const FRESULT result = f_getfree("", &clusters, &fatfs);
	if (result != FR_OK)
		return told(result);
	room->usable_bytes = (uint64_t)(fatfs->n_fatent - 2) * CLUSTER_BYTES;
	room->free_bytes = (uint64_t)clusters * CLUSTER_BYTES;
	room->unit_bytes = CLUSTER_BYTES;
	room->files_max = 60000;
	return 0;
}

static uint32_t ram_bytes(void *volume)
{
	struct volume *v = volume;
	return sizeof(struct dhara_map) + v->chip.unit_bytes + sizeof(FATFS) + sizeof(FIL) + FRAGMENTS * sizeof(DWORD);
}

const struct peer peer_fatfs_dhara = {make, drop, format, mount, unmount, open_file, close_file, read_file, write_file, sync_file,
				      remove_path, rename_path, stat_path, room, ram_bytes};
