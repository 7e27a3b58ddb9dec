/* SPIFFS as a contender. */
#include "peer.h"
#include "spiffs.h"
#include "spiffs_nucleus.h"
#include <stdlib.h>

#define DESCRIPTORS 10
#define CACHE_PAGES 8

struct volume {
	spiffs fs;
	struct chip chip;
	spiffs_config config;
	uint8_t *work, *descriptors, *cache;
	uint32_t descriptor_bytes, cache_bytes;
	int forgets;
};

struct file {
	spiffs_file handle;
	int is_durable;
	uint64_t place; /* of the next byte */
};

/* Reads or programs bytes. A block of SPIFFS may be several blocks of the chip. */
static s32_t each(struct volume *v, u32_t address, u32_t bytes, u8_t *data, int writes)
{
	while (bytes > 0) {
		const uint32_t offset = address % v->chip.block_bytes;
		const uint32_t room = v->chip.block_bytes - offset, length = bytes < room ? bytes : room;
		const uint32_t block = address / v->chip.block_bytes;
		const int code = writes ? v->chip.program(v->chip.context, block, offset, data, length)
					: v->chip.read(v->chip.context, block, offset, data, length);
		if (code)
			return SPIFFS_ERR_INTERNAL;
		address += length, data += length, bytes -= length;
	}
	return SPIFFS_OK;
}

static s32_t read_chip(spiffs *fs, u32_t address, u32_t bytes, u8_t *data)
{
	return each(fs->user_data, address, bytes, data, 0);
}

static s32_t program_chip(spiffs *fs, u32_t address, u32_t bytes, u8_t *data)
{
	return each(fs->user_data, address, bytes, data, 1);
}

static s32_t erase_chip(spiffs *fs, u32_t address, u32_t bytes)
{
	struct volume *v = fs->user_data;
	for (uint32_t at = address; at < address + bytes; at += v->chip.block_bytes)
		if (v->chip.erase(v->chip.context, at / v->chip.block_bytes))
			return SPIFFS_ERR_INTERNAL;
	return SPIFFS_OK;
}

static int told(s32_t code)
{
	return code == SPIFFS_ERR_FULL ? NO_ROOM : code < 0 ? code : 0;
}

static void *make(const struct chip *chip)
{
	static const struct settings usual;
	struct volume *v = calloc(1, sizeof(*v));
	const struct settings *s = chip->settings ? chip->settings : &usual;
	const uint32_t page = chosen(s->page_bytes, chip->block_bytes > 8192 ? 512 : 256);
	const uint32_t pages = chosen(s->cache_pages, CACHE_PAGES);
	v->chip = *chip;
	v->config.hal_read_f = read_chip;
	v->config.hal_write_f = program_chip;
	v->config.hal_erase_f = erase_chip;
	v->config.phys_size = chip->block_bytes * chip->block_count;
	v->config.phys_addr = 0;
	v->config.phys_erase_block = chip->block_bytes;
	v->config.log_block_size = chosen(s->block_bytes, chip->block_bytes > 8192 ? chip->block_bytes : 8192);
	v->config.log_page_size = page;
	v->forgets = s->forgets != 0;
	v->work = malloc(2 * page);
	v->descriptor_bytes = chosen(s->descriptors, DESCRIPTORS) * sizeof(spiffs_fd);
	v->descriptors = malloc(v->descriptor_bytes);
	v->cache_bytes = sizeof(spiffs_cache) + pages * (sizeof(spiffs_cache_page) + page);
	v->cache = malloc(v->cache_bytes);
	return v;
}

static void drop(void *volume)
{
	struct volume *v = volume;
	free(v->work);
	free(v->descriptors);
	free(v->cache);
	free(v);
}

static s32_t mount_now(struct volume *v)
{
	memset(&v->fs, 0, sizeof(v->fs));
	v->fs.user_data = v;
	return SPIFFS_mount(&v->fs, &v->config, v->work, v->descriptors, v->descriptor_bytes, v->cache, v->cache_bytes, 0);
}

/* From the header of SPIFFS: a chip that was never formatted must be mounted, without success,
 * before a format. */
static int format(void *volume)
{
	struct volume *v = volume;
	if (mount_now(v) == SPIFFS_OK)
		SPIFFS_unmount(&v->fs);
	return told(SPIFFS_format(&v->fs));
}

static int mount(void *volume)
{
	struct volume *v = volume;
	return told(mount_now(v));
}

static int unmount(void *volume)
{
	SPIFFS_unmount(&((struct volume *)volume)->fs);
	return 0;
}

static void *open_file(void *volume, const char *path, int mode, int *error)
{
	static const spiffs_flags flags[] = {
		[MODE_READ] = SPIFFS_O_RDONLY,
		[MODE_WRITE] = SPIFFS_O_RDWR,
		[MODE_REPLACE] = SPIFFS_O_RDWR | SPIFFS_O_TRUNC,
		[MODE_CREATE] = SPIFFS_O_RDWR | SPIFFS_O_CREAT,
		[MODE_DURABLE] = SPIFFS_O_RDWR | SPIFFS_O_CREAT,
	};
	struct volume *v = volume;
	const spiffs_file handle = SPIFFS_open(&v->fs, path, flags[mode], 0);
	*error = told(handle);
	if (handle < 0)
		return 0;
	struct file *f = malloc(sizeof(*f));
	*f = (struct file){handle, mode == MODE_DURABLE, 0};
	return f;
}

/* Clears the score of closed files. The temporal cache then finds none of them. */
static void forget_closed(struct volume *v)
{
	spiffs_fd *descriptors = (spiffs_fd *)v->descriptors;
	for (uint32_t at = 0; at < v->descriptor_bytes / sizeof(spiffs_fd); at++)
		if (descriptors[at].file_nbr == 0)
			descriptors[at].score = 0;
}

static int close_file(void *volume, void *file)
{
	struct volume *v = volume;
	struct file *f = file;
	const s32_t code = SPIFFS_close(&v->fs, f->handle);
	free(f);
	if (v->forgets)
		forget_closed(v);
	return told(code);
}

/* Moves to an offset. A seek writes SPIFFS's cache, so a call that goes on makes none. */
static s32_t go_to(struct volume *v, struct file *f, uint64_t offset)
{
	if (offset == f->place)
		return SPIFFS_OK;
	const s32_t code = SPIFFS_lseek(&v->fs, f->handle, (s32_t)offset, SPIFFS_SEEK_SET);
	f->place = offset;
	return code < 0 ? code : SPIFFS_OK;
}

static int64_t read_file(void *volume, void *file, uint64_t offset, void *data, uint32_t bytes)
{
	struct volume *v = volume;
	struct file *f = file;
	s32_t code = go_to(v, f, offset);
	if (code == SPIFFS_OK)
		code = SPIFFS_read(&v->fs, f->handle, data, (s32_t)bytes);
	if (code > 0)
		f->place += (uint64_t)code;
	return code == SPIFFS_ERR_END_OF_OBJECT ? 0 : code;
}

static int sync_file(void *volume, void *file)
{
	struct volume *v = volume;
	return told(SPIFFS_fflush(&v->fs, ((struct file *)file)->handle));
}

static int write_file(void *volume, void *file, uint64_t offset, const void *data, uint32_t bytes)
{
	struct volume *v = volume;
	struct file *f = file;
	s32_t code = go_to(v, f, offset);
	if (code >= 0)
		code = SPIFFS_write(&v->fs, f->handle, (void *)data, (s32_t)bytes);
	if (code < 0) {
		f->place = UINT64_MAX; /* unknown */
		return told(code);
	}
	f->place += bytes;
	return f->is_durable ? sync_file(v, f) : 0;
}

static int remove_path(void *volume, const char *path)
{
	return told(SPIFFS_remove(&((struct volume *)volume)->fs, path));
}

/* SPIFFS does not rename over a file, so the old file is removed before. */
static int rename_path(void *volume, const char *from, const char *to)
{
	struct volume *v = volume;
	const s32_t code = SPIFFS_remove(&v->fs, to);
	if (code < 0 && code != SPIFFS_ERR_NOT_FOUND)
		return told(code);
	return told(SPIFFS_rename(&v->fs, from, to));
}

static int64_t stat_path(void *volume, const char *path)
{
	spiffs_stat stat;
	const s32_t code = SPIFFS_stat(&((struct volume *)volume)->fs, path, &stat);
	return code < 0 ? code : (int64_t)stat.size;
}

static int room(void *volume, struct room *room)
{
	struct volume *v = volume;
	u32_t total, used;
	const s32_t code = SPIFFS_info(&v->fs, &total, &used);
	if (code < 0)
		return told(code);
	room->usable_bytes = total;
	room->free_bytes = used < total ? total - used : 0;
	room->unit_bytes = v->config.log_page_size;
	room->files_max = 1000000;
	return 0;
}

static uint32_t ram_bytes(void *volume)
{
	struct volume *v = volume;
	return sizeof(spiffs) + 2 * v->config.log_page_size + v->descriptor_bytes + v->cache_bytes;
}

const struct peer peer_spiffs = {make, drop, format, mount, unmount, open_file, close_file, read_file, write_file, sync_file,
				 remove_path, rename_path, stat_path, room, ram_bytes};
