/* littlefs as a contender. */
#include "peer.h"
#include "lfs.h"
#include <stdlib.h>
#include <string.h>

struct file {
	lfs_file_t file;
	struct lfs_file_config config;
	int is_durable;
	struct file *next;
};

struct volume {
	lfs_t lfs;
	struct lfs_config config;
	struct chip chip;
	struct file *open;
	int is_mounted;
};

static int read_chip(const struct lfs_config *c, lfs_block_t block, lfs_off_t offset, void *data, lfs_size_t bytes)
{
	const struct chip *chip = &((struct volume *)c->context)->chip;
	return chip->read(chip->context, block, offset, data, bytes) ? LFS_ERR_CORRUPT : 0;
}

static int program_chip(const struct lfs_config *c, lfs_block_t block, lfs_off_t offset, const void *data, lfs_size_t bytes)
{
	const struct chip *chip = &((struct volume *)c->context)->chip;
	return chip->program(chip->context, block, offset, data, bytes) ? LFS_ERR_IO : 0;
}

static int erase_chip(const struct lfs_config *c, lfs_block_t block)
{
	const struct chip *chip = &((struct volume *)c->context)->chip;
	return chip->erase(chip->context, block) ? LFS_ERR_IO : 0;
}

static int sync_chip(const struct lfs_config *c)
{
	(void)c;
	return 0;
}

static int told(int code)
{
	return code == LFS_ERR_NOSPC ? NO_ROOM : code < 0 ? code : 0;
}

static void *make(const struct chip *chip)
{
	static const struct settings usual;
	struct volume *v = calloc(1, sizeof(*v));
	const struct settings *s = chip->settings ? chip->settings : &usual;
	const uint32_t unit = chip->unit_bytes > 16 ? chip->unit_bytes : 16;
	v->chip = *chip;
	v->config = (struct lfs_config){
		.context = v,
		.read = read_chip,
		.prog = program_chip,
		.erase = erase_chip,
		.sync = sync_chip,
		.read_size = chosen(s->read_bytes, unit),
		.prog_size = chosen(s->program_bytes, unit),
		.block_size = chip->block_bytes,
		.block_count = chip->block_count,
		.block_cycles = chosen(s->block_cycles, 500),
		.cache_size = chosen(s->cache_bytes, unit > 256 ? unit : 256),
		.lookahead_size = chosen(s->lookahead_bytes, 32),
		/* From its documentation: compaction of metadata takes quadratic time in large blocks. This
		 * setting limits it. */
		.metadata_max = chosen(s->metadata_bytes, chip->block_bytes > 8192 ? 8192 : 0),
	};
	return v;
}

static void forget(struct volume *v)
{
	while (v->open) {
		struct file *f = v->open;
		v->open = f->next;
		free(f->config.buffer);
		free(f);
	}
	if (v->is_mounted)
		lfs_unmount(&v->lfs); /* frees its buffers and writes nothing */
	v->is_mounted = 0;
}

static void drop(void *volume)
{
	forget(volume);
	free(volume);
}

static int format(void *volume)
{
	struct volume *v = volume;
	return told(lfs_format(&v->lfs, &v->config));
}

static int mount(void *volume)
{
	struct volume *v = volume;
	forget(v);
	const int code = lfs_mount(&v->lfs, &v->config);
	v->is_mounted = code == 0;
	return told(code);
}

static int unmount(void *volume)
{
	struct volume *v = volume;
	v->is_mounted = 0;
	return told(lfs_unmount(&v->lfs));
}

static void *open_file(void *volume, const char *path, int mode, int *error)
{
	static const int flags[] = {
		[MODE_READ] = LFS_O_RDONLY,
		[MODE_WRITE] = LFS_O_RDWR,
		[MODE_REPLACE] = LFS_O_RDWR | LFS_O_TRUNC,
		[MODE_CREATE] = LFS_O_RDWR | LFS_O_CREAT,
		[MODE_DURABLE] = LFS_O_RDWR | LFS_O_CREAT,
	};
	struct volume *v = volume;
	struct file *f = calloc(1, sizeof(*f));
	f->config.buffer = malloc(v->config.cache_size);
	f->is_durable = mode == MODE_DURABLE;
	const int code = lfs_file_opencfg(&v->lfs, &f->file, path, flags[mode], &f->config);
	/* If the name is not too long, this error means that no block was free for it. */
	const int is_full = code == LFS_ERR_NAMETOOLONG && strlen(path) <= LFS_NAME_MAX;
	*error = is_full ? NO_ROOM_FOR_NAME : told(code);
	if (*error) {
		free(f->config.buffer);
		free(f);
		return 0;
	}
	f->next = v->open;
	v->open = f;
	return f;
}

static int close_file(void *volume, void *file)
{
	struct volume *v = volume;
	struct file *f = file, **link = &v->open;
	const int code = lfs_file_close(&v->lfs, &f->file);
	while (*link && *link != f)
		link = &(*link)->next;
	if (*link)
		*link = f->next;
	free(f->config.buffer);
	free(f);
	return told(code);
}

static int64_t read_file(void *volume, void *file, uint64_t offset, void *data, uint32_t bytes)
{
	struct volume *v = volume;
	struct file *f = file;
	const lfs_soff_t at = lfs_file_seek(&v->lfs, &f->file, (lfs_soff_t)offset, LFS_SEEK_SET);
	return at < 0 ? at : lfs_file_read(&v->lfs, &f->file, data, bytes);
}

static int sync_file(void *volume, void *file)
{
	struct volume *v = volume;
	return told(lfs_file_sync(&v->lfs, &((struct file *)file)->file));
}

static int write_file(void *volume, void *file, uint64_t offset, const void *data, uint32_t bytes)
{
	struct volume *v = volume;
	struct file *f = file;
	const lfs_soff_t at = lfs_file_seek(&v->lfs, &f->file, (lfs_soff_t)offset, LFS_SEEK_SET);
	if (at < 0)
		return told(at);
	const lfs_ssize_t written = lfs_file_write(&v->lfs, &f->file, data, bytes);
	if (written < 0)
		return told(written);
	return f->is_durable ? sync_file(v, f) : 0;
}

static int remove_path(void *volume, const char *path)
{
	return told(lfs_remove(&((struct volume *)volume)->lfs, path));
}

static int rename_path(void *volume, const char *from, const char *to)
{
	return told(lfs_rename(&((struct volume *)volume)->lfs, from, to));
}

static int64_t stat_path(void *volume, const char *path)
{
	struct lfs_info info;
	const int code = lfs_stat(&((struct volume *)volume)->lfs, path, &info);
	return code < 0 ? code : (int64_t)info.size;
}

static int room(void *volume, struct room *room)
{
	struct volume *v = volume;
	const lfs_ssize_t used = lfs_fs_size(&v->lfs);
	if (used < 0)
		return told(used);
	/* The two blocks of the root are not for files. */
	room->usable_bytes = (uint64_t)(v->config.block_count - 2) * v->config.block_size;
	room->free_bytes = (uint64_t)(v->config.block_count - (uint32_t)used) * v->config.block_size;
	room->unit_bytes = v->config.block_size;
	room->files_max = 1000000;
	return 0;
}

static uint32_t ram_bytes(void *volume)
{
	const struct lfs_config *c = &((struct volume *)volume)->config;
	return sizeof(lfs_t) + 2 * c->cache_size + c->lookahead_size + sizeof(lfs_file_t) + c->cache_size;
}

const struct peer peer_littlefs = {make, drop, format, mount, unmount, open_file, close_file, read_file, write_file, sync_file,
				   remove_path, rename_path, stat_path, room, ram_bytes};
