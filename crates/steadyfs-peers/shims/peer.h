/* The interface of a contender in C: a table of calls around its own calls. src/peer.rs has the same
 * table in Rust. */
#ifndef STEADY_PEER_H
#define STEADY_PEER_H

#include <stdint.h>

/* Settings other than those of the comparison. 0 keeps the setting of the comparison. */
struct settings {
	uint32_t block_bytes; /* of the file system: whole erase blocks */
	/* of littlefs */
	uint32_t read_bytes, program_bytes, cache_bytes, lookahead_bytes, block_cycles, metadata_bytes;
	/* of SPIFFS; 1 forgets the places of closed files, as without the temporal cache */
	uint32_t page_bytes, cache_pages, descriptors, forgets;
};

/* The chip. Calls return 0, or -1 if the chip fails. */
struct chip {
	void *context;
	uint32_t unit_bytes; /* programmed together: a page of NAND, 1 on NOR */
	uint32_t block_bytes, block_count;
	int (*read)(void *context, uint32_t block, uint32_t offset, void *data, uint32_t bytes);
	int (*program)(void *context, uint32_t block, uint32_t offset, const void *data, uint32_t bytes);
	int (*erase)(void *context, uint32_t block);
	int (*copy)(void *context, uint32_t from_page, uint32_t to_page); /* within the chip, on NAND */
	const struct settings *settings; /* 0: those of the comparison */
};

static inline uint32_t chosen(uint32_t setting, uint32_t usual)
{
	return setting ? setting : usual;
}

enum mode { MODE_READ, MODE_WRITE, MODE_REPLACE, MODE_CREATE, MODE_DURABLE };

/* Results of failed calls: the contender's own negative number, or one of these. They mean a volume
 * without room, of any kind or for the name of another file. */
#define NO_ROOM (-1000000)
#define NO_ROOM_FOR_NAME (-1000001)

struct room {
	uint64_t usable_bytes, free_bytes;
	uint32_t unit_bytes, files_max;
};

/* `make` returns a volume, and `open` returns a file. `drop` frees everything without access to the
 * chip, like a power cut. */
struct peer {
	void *(*make)(const struct chip *chip);
	void (*drop)(void *volume);
	int (*format)(void *volume);
	int (*mount)(void *volume);
	int (*unmount)(void *volume);
	void *(*open)(void *volume, const char *path, int mode, int *error);
	int (*close)(void *volume, void *file);
	int64_t (*read)(void *volume, void *file, uint64_t offset, void *data, uint32_t bytes);
	int (*write)(void *volume, void *file, uint64_t offset, const void *data, uint32_t bytes);
	int (*sync)(void *volume, void *file);
	int (*remove)(void *volume, const char *path);
	int (*rename)(void *volume, const char *from, const char *to);
	int64_t (*stat)(void *volume, const char *path);
	int (*room)(void *volume, struct room *room);
	uint32_t (*ram_bytes)(void *volume); /* with one file open */
};

#endif
