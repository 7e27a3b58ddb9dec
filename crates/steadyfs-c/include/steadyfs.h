/*
 * SteadyFS: a flash file system that keeps time. Raw NAND and NOR, cards; no heap, a few KiB of RAM, and a computed worst case for every
 * call. docs/c.md has a guide, and what each call of littlefs, SPIFFS and FatFs is here.
 *
 * A call returns 0, or a number that it promises, or a negative steadyfs_error. Paths are UTF-8, names joined by '/'. Pointers that a call
 * needs may not be null, which gives STEADYFS_ERR_INVAL. A driver's struct and the memory of a configuration are the volume's alone from
 * mount to unmount. A volume takes one call at a time; several threads need a mutex. Callbacks must not call their volume, and must return.
 *
 * Made from crates/steadyfs-c by its tests: change it there.
 */

#ifndef STEADYFS_H
#define STEADYFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// As the value of a setting: none, where 0 stands for the default.
#define STEADYFS_NONE 255

// As the value of bad_blocks_max: none.
#define STEADYFS_NO_BAD_BLOCKS 65535

// Words of 64 bits of steadyfs_t.
#define STEADYFS_WORDS 112

// Words of the size of a pointer of steadyfs_t.
#define STEADYFS_POINTERS 52

// Bytes of a name at most, without the NUL.
#define STEADYFS_NAME_MAX 255

// Open for reading.
#define STEADYFS_O_RDONLY 1

// Open for writing.
#define STEADYFS_O_WRONLY 2

// Open for reading and writing.
#define STEADYFS_O_RDWR 3

// Create the file when it does not exist; needs STEADYFS_O_WRONLY.
#define STEADYFS_O_CREAT 256

// With STEADYFS_O_CREAT: fail with STEADYFS_ERR_EXIST when it does exist.
#define STEADYFS_O_EXCL 512

// Cut the file to nothing; needs STEADYFS_O_WRONLY.
#define STEADYFS_O_TRUNC 1024

// Every write goes to the end of the file.
#define STEADYFS_O_APPEND 2048

// Every change through this handle is durable when the call returns, and so is the file's creation.
#define STEADYFS_O_DURABLE 4096

// Multiplied by 0 to 3: the stream of a file that is created. Files that are written again at about the same pace should have one, and
// others another; 0 is that of all that names none.
#define STEADYFS_O_STREAM 65536

// Seek from the begin of the file.
#define STEADYFS_SEEK_SET 0

// Seek from the present position.
#define STEADYFS_SEEK_CUR 1

// Seek from the end of the file.
#define STEADYFS_SEEK_END 2

// Words of 64 bits of steadyfs_file_t.
#define STEADYFS_FILE_WORDS 11

// Words of the size of a pointer of steadyfs_file_t.
#define STEADYFS_FILE_POINTERS 2

// Words of 64 bits of steadyfs_dir_t.
#define STEADYFS_DIR_WORDS 4

// Words of steadyfs_observer_t.
#define STEADYFS_OBSERVER_WORDS 2

// Words of 64 bits of steadyfs_packed_t.
#define STEADYFS_PACKED_WORDS 11

// Words of the size of a pointer of steadyfs_packed_t.
#define STEADYFS_PACKED_POINTERS 10

// Words of 64 bits of steadyfs_rom_t.
#define STEADYFS_ROM_WORDS 82

// Words of the size of a pointer of steadyfs_rom_t.
#define STEADYFS_ROM_POINTERS 14

// Words of 64 bits of steadyfs_rom_file_t.
#define STEADYFS_ROM_FILE_WORDS 24

// Words of the size of a pointer of steadyfs_rom_file_t.
#define STEADYFS_ROM_FILE_POINTERS 2

// Words of 64 bits of steadyfs_rom_dir_t.
#define STEADYFS_ROM_DIR_WORDS 19

// Words of the size of a pointer of steadyfs_rom_dir_t.
#define STEADYFS_ROM_DIR_POINTERS 2

// Words of 64 bits of steadyfs_rom_install_t.
#define STEADYFS_ROM_INSTALL_WORDS 6

// Words of the size of a pointer of steadyfs_rom_install_t.
#define STEADYFS_ROM_INSTALL_POINTERS 13

// What a driver's callback returns.
//
// Any other number counts as STEADYFS_FAIL_DEVICE.
typedef enum steadyfs_failure {
  // It is done.
  STEADYFS_FAIL_NONE = 0,
  // The page cannot be read: more bits flipped than the ECC corrects. For reads.
  STEADYFS_FAIL_UNCORRECTABLE = -1,
  // The chip reports that a program or an erase failed: the block has gone bad.
  STEADYFS_FAIL_BAD_BLOCK = -2,
  // The chip has locked itself: it takes no program and no erase any more, and can be read.
  STEADYFS_FAIL_WRITE_PROTECTED = -3,
  // The device does not answer: bus fault, no answer in time, power lost.
  STEADYFS_FAIL_DEVICE = -4,
} steadyfs_failure;

// Why a call failed. Calls return 0 or a number that they promise where they succeed, and one of these where not.
//
// Codes that littlefs has, and that mean the same, have the same number. After every error but STEADYFS_ERR_UNKNOWN a call has
// changed nothing, and the open transaction can go on; of a write that is the sum of several (steadyfs_file_write), those
// before the one that failed have taken effect.
typedef enum steadyfs_error {
  // No error.
  STEADYFS_ERR_OK = 0,
  // The medium does not answer. Nothing that was committed is lost; mount again.
  STEADYFS_ERR_IO = -5,
  // What was read is not what was written there: a page failed its checksum or its tag names another page.
  STEADYFS_ERR_CORRUPT = -84,
  // No file or directory has this name or number.
  STEADYFS_ERR_NOENT = -2,
  // A file or directory of this name exists already.
  STEADYFS_ERR_EXIST = -17,
  // A file is where a directory is needed.
  STEADYFS_ERR_NOTDIR = -20,
  // A directory is where a file is needed.
  STEADYFS_ERR_ISDIR = -21,
  // The directory has entries.
  STEADYFS_ERR_NOTEMPTY = -39,
  // The file or directory is not open on this volume, or was opened before the mount.
  STEADYFS_ERR_BADF = -9,
  // The file would grow beyond what the volume allows.
  STEADYFS_ERR_FBIG = -27,
  // An argument makes no sense: a null pointer, an unknown flag, a place before the begin of the file; or a name is empty, `.` or `..`.
  STEADYFS_ERR_INVAL = -22,
  // No room: every logical page of the volume is in use.
  STEADYFS_ERR_NOSPC = -28,
  // The memory that was lent is too small: steadyfs_memory_bytes, or steadyfs_check_bytes for a check.
  STEADYFS_ERR_NOMEM = -12,
  // The file has no such attribute.
  STEADYFS_ERR_NOATTR = -61,
  // A name is longer than 255 bytes, or than the volume's name_bytes_max.
  STEADYFS_ERR_NAMETOOLONG = -36,
  // A path or a key is not UTF-8.
  STEADYFS_ERR_NOTUTF8 = -200,
  // The object does not hold a mounted volume or image, or an installation that was begun.
  STEADYFS_ERR_NOTMOUNTED = -201,
  // A call of this volume is in progress: a callback or another thread has called.
  STEADYFS_ERR_BUSY = -202,
  // More programs failed in one call than the volume's `failures` setting tolerates.
  STEADYFS_ERR_MEDIAFAILING = -203,
  // The volume can only be read: mounted so, worn out, the chip has locked itself, or the outcome of an earlier call is unknown: mount it anew.
  STEADYFS_ERR_READONLY = -204,
  // Whether the change took effect is not known; the volume can only be read until it is mounted again.
  STEADYFS_ERR_UNKNOWN = -205,
  // The volume holds as many files as its settings allow.
  STEADYFS_ERR_TOOMANYFILES = -206,
  // The open transaction has no room for this call. Commit more often.
  STEADYFS_ERR_TRANSACTION = -207,
  // The file that this handle names is not there any more: its creation was rolled back.
  STEADYFS_ERR_STALE = -209,
  // A symbolic link is where a file is needed.
  STEADYFS_ERR_ISALINK = -210,
  // Something else is where a symbolic link is needed.
  STEADYFS_ERR_NOTALINK = -211,
  // A directory would move into itself.
  STEADYFS_ERR_INTOITSELF = -212,
  // The handle was not opened for reading.
  STEADYFS_ERR_NOTREADABLE = -213,
  // The handle was not opened for writing, or flags that write need STEADYFS_O_WRONLY.
  STEADYFS_ERR_NOTWRITABLE = -214,
  // As many files are open as the memory has room for: open_files.
  STEADYFS_ERR_TOOMANYOPEN = -215,
  // The attributes of one file take more than 248 bytes.
  STEADYFS_ERR_ATTRIBUTES = -216,
  // The build, or the volume, lacks what the call needs: a feature of the library, or permissions.
  STEADYFS_ERR_UNSUPPORTED = -217,
  // No superblock was found; the device was never formatted, is divided otherwise than at its format (steadyfs_mount), or has no image.
  STEADYFS_ERR_NOTFORMATTED = -220,
  // The volume has another version of the format.
  STEADYFS_ERR_VERSION = -221,
  // The volume was formatted for another chip, or the chip was divided otherwise: erase_bytes, group_sectors.
  STEADYFS_ERR_GEOMETRY = -222,
  // More blocks are bad than bad_blocks_max allows, or blocks that the volume needs for itself are.
  STEADYFS_ERR_BADBLOCKS = -223,
  // The volume is a disk of sectors, which this API does not mount.
  STEADYFS_ERR_ISDISK = -224,
  // No root can be read although there is a superblock.
  STEADYFS_ERR_NOROOT = -225,
  // The image has no hash tree, or no signature by the key.
  STEADYFS_ERR_NOTSIGNED = -226,
  // What was read of the image is not what was signed.
  STEADYFS_ERR_NOTAUTHENTIC = -227,
  // No driver was given, or more than one, or one that lacks a callback or has a time of more than 100 s.
  STEADYFS_ERR_DRIVER = -230,
  // page_bytes must be a power of two from 256 to 16,384, and of sectors at least 512.
  STEADYFS_ERR_CONFIG_PAGE_BYTES = -231,
  // A block must have 4 to 4,096 pages, a medium 16 to 1,048,576 blocks.
  STEADYFS_ERR_CONFIG_BLOCKS = -232,
  // unit_pages must be a power of two up to 32, and a block must hold at least 4 logical pages: fewer, or on NOR more group_sectors.
  STEADYFS_ERR_CONFIG_UNIT_PAGES = -233,
  // transaction_pages must be 2 to 1,024.
  STEADYFS_ERR_CONFIG_TRANSACTION_PAGES = -234,
  // overlay_entries must be at least 40 more than transaction_pages, and at most 8,192.
  STEADYFS_ERR_CONFIG_OVERLAY_ENTRIES = -235,
  // checkpoint_programs must be 16 to 4,096, and but on NOR not more than 24 blocks of pages, less one for each of failures.
  STEADYFS_ERR_CONFIG_CHECKPOINT_PROGRAMS = -236,
  // wear_spread must be 8 to 200, or STEADYFS_NONE where the device levels wear itself.
  STEADYFS_ERR_CONFIG_WEAR_SPREAD = -237,
  // files_max must be at most 1,048,576, and failures at most 8.
  STEADYFS_ERR_CONFIG_FILES = -238,
  // streams must be 1 to 4.
  STEADYFS_ERR_CONFIG_STREAMS = -239,
  // move_group must be 1 to 64, and 1 where the device does not level wear itself.
  STEADYFS_ERR_CONFIG_MOVE_GROUP = -240,
  // A logical page must not be larger than 128 KiB, and must be smaller where page_bytes are more than 4,096.
  STEADYFS_ERR_CONFIG_LOGICAL_PAGE = -241,
  // files_max asks for more logical pages than a map entry can name.
  STEADYFS_ERR_CONFIG_TOO_MANY_PAGES = -242,
  // A block must hold a root with its copies, three logical pages and a journal page: fewer overlay_entries, or larger blocks, on NOR by more
  // group_sectors.
  STEADYFS_ERR_CONFIG_BLOCK_TOO_SMALL = -243,
  // Too few blocks: bad_blocks_max, ring and reserve leave no room for data.
  STEADYFS_ERR_CONFIG_TOO_FEW_BLOCKS = -244,
  // A reclaimed block would not gain a frame: more overlay_entries or larger blocks.
  STEADYFS_ERR_CONFIG_NO_GAIN = -245,
  // leaf_log_bytes must be 48 to 240, and at most three quarters of a page.
  STEADYFS_ERR_CONFIG_LEAF_LOG = -246,
  // journal_pages must be 1 to 16, and more than one at most 4,096 bytes.
  STEADYFS_ERR_CONFIG_JOURNAL = -247,
  // A setting that this version of the library does not know is wrong.
  STEADYFS_ERR_CONFIG = -249,
} steadyfs_error;

// Events after which a volume commits by itself: any of them joined by |, or one of the presets.
typedef enum steadyfs_commit_event {
  // steadyfs_unmount was called. Without it, an unmount drops what was not committed.
  STEADYFS_COMMIT_UNMOUNT = 1,
  // A file was created.
  STEADYFS_COMMIT_CREATE = (1 << 1),
  // A file or directory was removed.
  STEADYFS_COMMIT_REMOVE = (1 << 2),
  // A directory was made.
  STEADYFS_COMMIT_MKDIR = (1 << 3),
  // A file or directory was renamed.
  STEADYFS_COMMIT_RENAME = (1 << 4),
  // A handle that may write was closed.
  STEADYFS_COMMIT_CLOSE = (1 << 5),
  // Bytes of a file (one logical page of a long write), or attributes, were written.
  STEADYFS_COMMIT_WRITE = (1 << 6),
  // steadyfs_file_sync was called.
  STEADYFS_COMMIT_FSYNC = (1 << 7),
  // A file was cut or made larger.
  STEADYFS_COMMIT_TRUNCATE = (1 << 8),
  // The next call may not find room in the transaction, or on the volume, without a commit.
  STEADYFS_COMMIT_FULL = (1 << 9),
  // steadyfs_sync was called.
  STEADYFS_COMMIT_SYNC = (1 << 10),
  // commit_interval_ns have passed since the first change of the transaction: steadyfs_poll.
  STEADYFS_COMMIT_TIMED = (1 << 11),
  // commit_changes or commit_bytes are reached.
  STEADYFS_COMMIT_MANY = (1 << 12),
  // Preset, the default: with names, and when a file is closed or synced. As littlefs does.
  STEADYFS_COMMIT_ON_CLOSE = ((2047 & ~(1 << 6)) & ~(1 << 8)),
  // Preset: with steadyfs_file_sync, steadyfs_sync and unmount, and where room runs out. Faster than closing many small files.
  STEADYFS_COMMIT_ON_FLUSH = (((1 | (1 << 7)) | (1 << 9)) | (1 << 10)),
  // Preset: every change is durable when its call returns.
  STEADYFS_COMMIT_EVERY_WRITE = 2047,
  // Preset: steadyfs_commit only. A transaction that outgrows its limit is refused.
  STEADYFS_COMMIT_MANUAL = 32768,
} steadyfs_commit_event;

// Where the tags of pages lie on a card or a disk.
typedef enum steadyfs_tag_place {
  // Before each page, in a sector of their own: what cards like.
  STEADYFS_TAGS_BESIDE = 0,
  // In a table at the begin of each block: pages are aligned, and take a second write.
  STEADYFS_TAGS_TABLE = 1,
  // In the last 32 bytes of each page, which holds so much less: an eighth more for data, and no disk. For what is written a page at a time or in order; writes
  // of 4,096 bytes meet two pages.
  STEADYFS_TAGS_WITHIN = 2,
} steadyfs_tag_place;

// What a name names: steadyfs_info.
typedef enum steadyfs_type {
  // A file.
  STEADYFS_TYPE_REG = 1,
  // A directory.
  STEADYFS_TYPE_DIR = 2,
  // A symbolic link.
  STEADYFS_TYPE_LINK = 3,
  // A device, a pipe or a socket: in read-only images alone.
  STEADYFS_TYPE_OTHER = 4,
} steadyfs_type;

// What an observer is told of.
typedef enum steadyfs_event {
  // A file or directory was created.
  STEADYFS_EVENT_CREATED = 1,
  // A file's bytes or size, or attributes, were changed.
  STEADYFS_EVENT_UPDATED = 2,
  // A file or directory has another name.
  STEADYFS_EVENT_RENAMED = 3,
  // A file or directory was removed.
  STEADYFS_EVENT_REMOVED = 4,
  // Everything since the last commit was undone; its inode is 0.
  STEADYFS_EVENT_ROLLED_BACK = 5,
} steadyfs_event;

// What a mount found missing, or since then the write-back of a part of the map. The volume can only be read until steadyfs_fs_repair.
typedef enum steadyfs_damage_kind {
  // Everything is there.
  STEADYFS_DAMAGE_NONE = 0,
  // The newest root can be read nowhere. What was committed since the one before may be missing.
  STEADYFS_DAMAGE_ROOT = 1,
  // A record since the newest root can be read no more.
  STEADYFS_DAMAGE_RECORD = 2,
  // The newest journal page can be read no more: the small changes that it held are missing, on a volume with few files perhaps all since the format.
  STEADYFS_DAMAGE_JOURNAL = 3,
  // A repair was begun that has not ended.
  STEADYFS_DAMAGE_REPAIR = 4,
  // A page of the file system's own tables can be read no more.
  STEADYFS_DAMAGE_TABLES = 5,
  // A leaf of the map can be read no more: pages that it maps are STEADYFS_ERR_CORRUPT until they are written anew.
  STEADYFS_DAMAGE_LEAF = 6,
  // Another one, that this version of the header does not know.
  STEADYFS_DAMAGE_OTHER = 7,
} steadyfs_damage_kind;

// What a check found.
typedef enum steadyfs_finding_kind {
  // A page of the file system's own tables cannot be read. Mended by writing it anew without what cannot be read.
  STEADYFS_FINDING_UNREADABLE_TABLE = 1,
  // A page of a file or directory cannot be read. One of a directory or an index is mended; one of data stays so until it is written anew.
  STEADYFS_FINDING_UNREADABLE_PAGE = 2,
  // An inode that is in use makes no sense. Mended.
  STEADYFS_FINDING_BAD_INODE = 3,
  // The rest of a long name, or the attributes of a file, are not there. Mended: the file is without, or has another name.
  STEADYFS_FINDING_LOST_EXTENSION = 4,
  // A directory names something that is not there, is in another directory, or is named twice. Mended by removing the entry.
  STEADYFS_FINDING_BAD_ENTRY = 5,
  // A directory's counts are wrong. Mended.
  STEADYFS_FINDING_WRONG_COUNT = 6,
  // Nothing names a file or directory. Mended by naming it, or `lost-` and its number in the root.
  STEADYFS_FINDING_LOST = 7,
  // An inode is in use and is marked as free. Mended.
  STEADYFS_FINDING_UNMARKED_INODE = 8,
  // An inode is taken and holds nothing. Mended.
  STEADYFS_FINDING_LEAKED_INODE = 9,
  // A page is taken and belongs to nothing. Mended.
  STEADYFS_FINDING_LEAKED_PAGE = 10,
  // A page belongs to a file and is marked as free. Mended.
  STEADYFS_FINDING_UNMARKED_PAGE = 11,
  // A page belongs to two files. Mended: the second one is empty then, and in the first one the page cannot be read.
  STEADYFS_FINDING_SHARED_PAGE = 12,
  // Behind the end of a file is what was there before. Mended by cutting it off.
  STEADYFS_FINDING_DIRTY_END = 13,
  // A list of removed files does not end. Mended by forgetting it.
  STEADYFS_FINDING_BAD_LIST = 14,
  // Another one, that this version of the header does not know.
  STEADYFS_FINDING_OTHER = 15,
  // Small changes are lost. This file or directory may be in an earlier state.
  STEADYFS_FINDING_IN_DOUBT = 16,
  // Small changes are lost. Files may be missing with their names: at most as many as `inode` says.
  STEADYFS_FINDING_LOST_CHANGES = 17,
} steadyfs_finding_kind;

// The longest that one operation of a NAND chip takes, transfer included, in nanoseconds.
// None is longer than 100 s: STEADYFS_ERR_DRIVER. Times of 0 make bounds of 0.
//
// Every bound is made of these numbers: datasheet maxima for guarantees, typical values for expectations. A bus that others use
// too adds their longest transfer.
typedef struct steadyfs_nand_timing {
  // Read of a whole page and its tag.
  uint64_t read_ns;
  // Read of a tag alone.
  uint64_t read_tag_ns;
  // Program of a whole page and its tag.
  uint64_t program_ns;
  // Read of a tag followed by `copy`. 0 without `copy`: read_ns + program_ns.
  uint64_t copy_ns;
  // Erase of a block.
  uint64_t erase_ns;
} steadyfs_nand_timing;

// A driver for raw NAND: erase blocks of program pages, each page with a tag of 16 bytes beside its data.
//
// The tag lies where the ECC works, in user bytes of the spare area. Pages of a block are programmed in ascending order (some may be
// skipped), each once per erase; an erased page reads as 0xFF in data and tag. Callbacks return STEADYFS_FAIL_NONE or another
// steadyfs_failure. They must not call the same volume, and must return: a longjmp out of one is undefined. The struct stays as it
// is from mount to unmount.
//
// Power loss: a page whose program is cut may hold any bytes afterwards, or read differently each time; so may any page of a block
// whose erase is cut. Every other page is unchanged. The same holds after a program or an erase that returned an error.
typedef struct steadyfs_nand {
  // Given to every callback; may be null.
  void *context;
  // Data bytes of a program page, without the tag: a power of two, 256 to 16,384.
  uint32_t page_bytes;
  // Program pages of an erase block: 4 to 4,096.
  uint32_t pages_per_block;
  // Erase blocks of the chip: 16 to 1,048,576.
  uint32_t block_count;
  // The longest times.
  struct steadyfs_nand_timing timing;
  // Reads a page, `block * pages_per_block + page in block`: page_bytes of data and 16 bytes of tag.
  // STEADYFS_FAIL_UNCORRECTABLE, STEADYFS_FAIL_DEVICE. Required.
  int (*read)(void *context, uint32_t page, void *data, uint8_t *tag);
  // Reads the tag of a page, and leaves the page in the chip's register for `copy`. As `read`. Required.
  int (*read_tag)(void *context, uint32_t page, uint8_t *tag);
  // Programs a page. `bytes` is page_bytes or less, then the rest stays erased. STEADYFS_FAIL_BAD_BLOCK where the chip reports a
  // failure, STEADYFS_FAIL_WRITE_PROTECTED, STEADYFS_FAIL_DEVICE. Required.
  int (*program)(void *context, uint32_t page, const void *data, uint32_t bytes, const uint8_t *tag);
  // Erases a block. As `program`. Required.
  int (*erase)(void *context, uint32_t block);
  // Tells whether the maker or `mark_bad` marked a block bad: 1, or 0 for a good one; STEADYFS_FAIL_DEVICE. Takes no longer than
  // `read_tag`. Required.
  int (*is_bad)(void *context, uint32_t block);
  // Marks a block bad for other users of the chip; nothing in it is needed any more. As `program`. Required.
  int (*mark_bad)(void *context, uint32_t block);
  // Makes durable what the device has answered before it was; null where there is no such thing.
  int (*sync)(void *context);
  // Programs the page that the `read_tag` just before left in the chip's register, with another tag ("internal data move").
  // As `program`. Null where the chip cannot.
  int (*copy)(void *context, uint32_t page, const uint8_t *tag);
  // Tells how many bits the ECC corrected in the read just before, at worst in one codeword, and how many it can correct. Data
  // that needed three quarters of that is moved. Null where the chip does not tell.
  void (*corrected)(void *context, uint8_t *bits, uint8_t *strength);
} steadyfs_nand;

// A driver for raw NOR: any bytes can be programmed once per erase, bits go from 1 to 0, an erase makes them 1 again.
//
// Chips with an ECC over several bytes, each programmed once, are no such medium. Callbacks and struct: as steadyfs_nand; times: as steadyfs_nand_timing.
//
// Power loss: of the bits that a cut program was to clear any may be cleared; in a block whose erase is cut anything may be.
typedef struct steadyfs_nor {
  // Given to every callback; may be null.
  void *context;
  // Bytes of what one erase erases: a power of two, 1,024 to 16 MiB. Chips with many small sectors are grouped to larger blocks:
  // settings.group_sectors.
  uint32_t erase_bytes;
  // Erase sectors of the volume; together at most 4 GiB.
  uint32_t erase_count;
  // Bytes that the chip programs with one command: 256 on most. Programs are told in multiples of it.
  uint32_t program_page_bytes;
  // The longest time of a read command without its bytes, in nanoseconds.
  uint64_t read_ns;
  // Time to transfer a byte in a read, in nanoseconds, rounded up: 160 at 50 MHz and one data line.
  uint32_t read_byte_ns;
  // Time to transfer a byte in a program, in nanoseconds, rounded up.
  uint32_t program_byte_ns;
  // The longest time of a program of one program page, without the transfer of its bytes, in nanoseconds.
  uint64_t program_ns;
  // The longest time of an erase, in nanoseconds.
  uint64_t erase_ns;
  // Reads bytes. STEADYFS_FAIL_DEVICE. Required.
  int (*read)(void *context, uint32_t address, void *data, uint32_t bytes);
  // Programs bytes, split at the chip's program pages by the callback. Bytes of 0xFF leave what is there; bytes of 0 may be given
  // for any. STEADYFS_FAIL_BAD_BLOCK where the chip reports a failure or reading back shows one, STEADYFS_FAIL_WRITE_PROTECTED,
  // STEADYFS_FAIL_DEVICE. Required.
  int (*program)(void *context, uint32_t address, const void *data, uint32_t bytes);
  // Erases the sector with this index, from 0 on. As `program`. Required.
  int (*erase)(void *context, uint32_t sector);
  // Makes durable what the device has answered before it was; null where there is no such thing.
  int (*sync)(void *context);
} steadyfs_nor;

// A piece of the bytes of a command; as `struct iovec`, so that preadv and pwritev take them.
typedef struct steadyfs_part {
  // Where they are; only read where the command writes.
  void *data;
  // How many; not always whole sectors.
  size_t bytes;
} steadyfs_part;

// A driver for a card or a disk: sectors of 512 bytes, any of them at any time. It levels wear and replaces bad blocks itself, until it has no others.
//
// Callbacks and struct: as steadyfs_nand; times: as steadyfs_nand_timing.
//
// Power loss: sectors of writes since the last `flush` may hold what was before, what was written, or anything. Every other sector is
// unchanged. The same holds for a write that returned an error.
typedef struct steadyfs_sectors {
  // Given to every callback; may be null.
  void *context;
  // Sectors of the device.
  uint32_t sector_count;
  // First sector of the volume: where an allocation unit begins. Usually 0, or the begin of a partition.
  uint32_t first;
  // Sectors of a block: an allocation unit of the card, or several. 0: chosen by the size. A mount reads it from the medium.
  uint32_t block_sectors;
  // Bytes of a page: a power of two, 512 to 16,384. 0: 4,096. A mount reads it from the medium.
  uint32_t page_bytes;
  // Where tags lie: of enum steadyfs_tag_place. Default, 0: STEADYFS_TAGS_BESIDE. A mount reads it from the medium.
  uint8_t tags;
  // The device keeps the order of its writes until a flush: a cut loses the last ones, never an earlier one alone. False in doubt.
  bool keeps_order;
  // Time of a read without its sectors, in nanoseconds; as measured where the specification gives no maximum.
  uint64_t read_ns;
  // Time of each sector that is read, in nanoseconds.
  uint64_t read_sector_ns;
  // Time of a write without its sectors, in nanoseconds.
  uint64_t write_ns;
  // Time of each sector that is written, in nanoseconds.
  uint64_t write_sector_ns;
  // Time of a discard, in nanoseconds.
  uint64_t discard_ns;
  // Time of a flush, in nanoseconds.
  uint64_t flush_ns;
  // Reads sectors from `first` on, in one command. The bytes of the parts follow each other; together they are whole sectors.
  // STEADYFS_FAIL_UNCORRECTABLE, STEADYFS_FAIL_DEVICE. Required.
  int (*read)(void *context, uint32_t first, const struct steadyfs_part *parts, uint32_t count);
  // Writes sectors from `first` on, in one command; parts as in `read`. STEADYFS_FAIL_BAD_BLOCK if the device answers twice that it cannot
  // write these sectors, and no earlier write is lost: their block is never used again. STEADYFS_FAIL_WRITE_PROTECTED if it takes no writes at
  // all any more. STEADYFS_FAIL_DEVICE for everything else; a driver may always return that. Required.
  int (*write)(void *context, uint32_t first, const struct steadyfs_part *parts, uint32_t count);
  // Makes durable what was written. Null where the device answers writes only when they are durable.
  int (*flush)(void *context);
  // Tells the device that nobody needs what these sectors hold. Null where it cannot be told. An error is ignored.
  int (*discard)(void *context, uint32_t first, uint32_t count);
} steadyfs_sectors;

// Settings of a volume, chosen when it is formatted and kept on it. A mount uses `open_files` and `group_sectors` alone.
//
// Each is 0 for its default, so that a struct of zeros is what most want.
typedef struct steadyfs_settings {
  // Program pages of a logical page: a power of two, 1 to 32. More: smaller map and tables; less: cheaper rewrites of single program
  // pages. Default: as many as make 4 KiB, where a block holds at least 8 of them.
  uint16_t unit_pages;
  // Map changes kept in RAM, at least 40 more than transaction_pages, at most 8,192. More: fewer programs per write and more usable
  // space, for 4 bytes each (8 above 32,767 logical pages). Default: by the medium's size, from 64 on.
  uint16_t overlay_entries;
  // Logical pages that one transaction may write, 2 to 1,024. More: larger transactions. With less than 16 a single call may be refused. Default: 16; 32 on some media of 12 to 32 MiB;
  // more on sectors.
  uint16_t transaction_pages;
  // Programs between two roots, 16 to 4,096. More: fewer programs per write; less: a faster mount after a power cut. Default: by the
  // medium's size, from 32 on.
  uint16_t checkpoint_programs;
  // Blocks that may be bad, factory and grown together, before the volume shrinks with each further one.
  // STEADYFS_NO_BAD_BLOCKS: none. Default: a fiftieth of the blocks of NAND, a two-hundredth of NOR, from 2 on; none on sectors.
  uint16_t bad_blocks_max;
  // Files and directories at most, up to 1,048,576. A name of more than 64 bytes, and attributes, count as one each. Default: one for
  // each two logical pages, or more where these are few; 64 to 65,536.
  uint32_t files_max;
  // Largest allowed difference between the erase counts of two blocks, 8 to 200. Less: more moves of data at rest. STEADYFS_NONE where
  // the device levels wear itself. Default: 32; none on sectors.
  uint8_t wear_spread;
  // Program failures that one call survives by writing elsewhere, up to 8; STEADYFS_NONE: none. Default: 2; 1 on sectors.
  uint8_t failures;
  // Bytes of a name at most, 1 to 255; it changes no table. Default: 255.
  uint8_t name_bytes_max;
  // Streams, 1 to 4: see STEADYFS_O_STREAM. Each but the first takes a block of the room. Default: 1.
  uint8_t streams;
  // Program pages that reclamation moves in one command, 1 to 64, for devices that level wear themselves. Default: 1; up to 16 on
  // sectors.
  uint8_t move_group;
  // Bytes of each page of the map that take changes, on NOR, 48 to 240. Default: 96, or 192 where these make more usable.
  uint8_t leaf_log_bytes;
  // Program pages of the journal's buffer, on NOR, 1 to 16 and at most 4,096 bytes. Default: those of 512 bytes; of 2,048 where blocks are large.
  uint8_t journal_pages;
  // Files and directories have room for mode, owner and group. Default: they have not.
  bool permissions;
  // Pages that reclamation moves keep to blocks of their stream. Default: they do not.
  bool moved_apart;
  // The volume finds out by itself which pages belong to one stream; 772 bytes of RAM. Default: it does not.
  bool auto_streams;
  // On NOR: erase sectors that make a block, a power of two. Default: the fewest with which the default settings fit, whatever the others here are: larger unit_pages or more
  // overlay_entries than theirs may need more (STEADYFS_ERR_CONFIG_UNIT_PAGES, STEADYFS_ERR_CONFIG_BLOCK_TOO_SMALL). A mount needs the number of the format; with another one it finds no volume: STEADYFS_ERR_GEOMETRY.
  uint16_t group_sectors;
  // Files that may be open at once, for steadyfs_memory_bytes. Default: 8; each further one takes 12 bytes of memory.
  uint16_t open_files;
} steadyfs_settings;

// What steadyfs_format and steadyfs_mount need. A struct of zeros with a driver and memory is complete.
//
// The driver's struct and the memory must stay until the unmount; this struct may go.
typedef struct steadyfs_config {
  // The driver; one of the three, and the others null.
  const struct steadyfs_nand *nand;
  // The driver; one of the three, and the others null.
  const struct steadyfs_nor *nor;
  // The driver; one of the three, and the others null.
  const struct steadyfs_sectors *sectors;
  // All the RAM that the volume uses beside steadyfs_t. Any alignment. A volume has its own until it is unmounted.
  void *memory;
  // Bytes of it: steadyfs_memory_bytes, which has room for 8 open files, or as many as settings.open_files says. What is more takes further ones, 12 bytes
  // each. With less, format and mount take fewer open files, down to none; where the rest does not fit, STEADYFS_ERR_NOMEM.
  size_t memory_bytes;
  // Memory for pages that are written in part, which wait there for the commit and so cost one program however often they are
  // written; or null. Default: null, every such write is programmed.
  void *cache;
  // Bytes of it: steadyfs_cache_bytes.
  size_t cache_bytes;
  // Memory for pages that are read again and again, such as those of directories; or null. Default: null, they are read again.
  void *read_cache;
  // Bytes of it: steadyfs_read_cache_bytes.
  size_t read_cache_bytes;
  // Mounts for reading: nothing is programmed or erased, ever. Default: for writing.
  bool read_only;
  // What steadyfs_file_read reads is not checked against its checksum; the volume's own tables are. For flash behind an ECC: saves
  // nine tenths of a long read's instructions. Default: everything is checked.
  bool trust_data;
  // Events that commit by themselves: of enum steadyfs_commit. Default, 0: STEADYFS_COMMIT_ON_CLOSE. For none:
  // STEADYFS_COMMIT_MANUAL.
  uint16_t commit_on;
  // With STEADYFS_COMMIT_MANY: calls that change something after which a commit is made. Default, 0: no limit.
  uint32_t commit_changes;
  // With STEADYFS_COMMIT_MANY: bytes that were written after which a commit is made. Default, 0: no limit.
  uint32_t commit_bytes;
  // With STEADYFS_COMMIT_TIMED: the longest time that a change waits for a commit, in the unit of steadyfs_set_time. Default, 0: one
  // second in nanoseconds.
  uint64_t commit_interval_ns;
  // Settings of the volume, for the format.
  struct steadyfs_settings settings;
} steadyfs_config;

// A volume: memory of the caller's, for C to know size and alignment of.
//
// steadyfs_mount makes a volume of it, whatever it held. Zeros are no mounted volume, so that a call before the mount is refused. It must
// not move while it is mounted. Volumes are independent of each other, but one takes one call at a time: several threads need a mutex.
typedef struct steadyfs_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_POINTERS];
} steadyfs_t;

// What a file, directory or link is.
typedef struct steadyfs_info {
  // Of enum steadyfs_type.
  uint8_t type;
  // Number of the file or directory, for its life.
  uint32_t inode;
  // The directory it is in; that of the root is the root.
  uint32_t parent;
  // Tells files apart that had the same number one after the other.
  uint32_t generation;
  // Directories that a directory holds.
  uint32_t subdirectories;
  // Bytes of a file, or of what a link names; entries of a directory.
  uint64_t size;
  // When it was changed last, as steadyfs_set_time told; 0 where it told nothing.
  uint64_t modified_ns;
  // Its name, ended by a NUL; `/` for the root; empty where the path ended with `..`.
  char name[256];
} steadyfs_info;

// Mode, owner and group of a file or directory. Nothing here looks at them: who may do what is for the caller to say.
typedef struct steadyfs_permissions {
  // The twelve bits of chmod.
  uint16_t mode;
  // The owner.
  uint32_t uid;
  // The group.
  uint32_t gid;
} steadyfs_permissions;

// An open file: memory of the caller's, which steadyfs_file_open makes a file of, whatever it held.
//
// Several handles of one file see each other's changes. A file that is renamed or removed stays what it is for its handles. A handle
// that is not closed keeps its place in the table of open files until the unmount.
typedef struct steadyfs_file_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_FILE_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_FILE_POINTERS];
} steadyfs_file_t;

// An open directory: memory of the caller's. Takes no place of a table, and need not be closed.
typedef struct steadyfs_dir_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_DIR_WORDS];
} steadyfs_dir_t;

// Memory of the caller's for an observer. It stays until the unmount.
typedef struct steadyfs_observer_t {
  // Not for the caller.
  size_t opaque[STEADYFS_OBSERVER_WORDS];
} steadyfs_observer_t;

// What a volume is and holds.
typedef struct steadyfs_fsinfo {
  // Version of the format on the medium.
  uint32_t disk_version;
  // Bytes in which room is taken: a logical page.
  uint32_t block_size;
  // Logical pages that may hold data: usable_bytes / block_size.
  uint32_t block_count;
  // Bytes of a name at most.
  uint32_t name_max;
  // Bytes of a file at most.
  uint64_t file_max;
  // Bytes that all attributes of a file may take together, two for each beside key and value.
  uint32_t attr_max;
  // Files and directories that there may be.
  uint32_t files_max;
  // Files, directories, long names and sets of attributes that there are.
  uint32_t files;
  // Room for data, taken and free, in bytes.
  uint64_t usable_bytes;
  // Taken, in bytes. The pages of removed files are part of it, though writes find them: steadyfs_fs_free.
  uint64_t used_bytes;
} steadyfs_fsinfo;

// How the medium is doing.
typedef struct steadyfs_health_info {
  // The volume can only be read, for whatever reason.
  bool read_only;
  // What it holds does not leave the room that reclamation needs, since so many blocks are bad.
  bool worn_out;
  // The worst correction since the mount: bits that were wrong.
  uint8_t worst_bits;
  // Bits that can be corrected; 0 where the driver does not tell.
  uint8_t worst_strength;
  // Blocks that are bad, those of the maker included.
  uint32_t bad_blocks;
  // Blocks that may still go bad before the volume shrinks.
  uint32_t spare_blocks;
  // Blocks whose data is to move because their pages needed many corrections.
  uint32_t weak_blocks;
  // Erases of the least worn block since the first format.
  uint32_t erases_min;
  // Erases of the most worn block.
  uint32_t erases_max;
  // Blocks that erases_total is of.
  uint32_t blocks;
  // Erases of all blocks that are in use.
  uint64_t erases_total;
  // Reads since the mount.
  uint32_t reads;
  // Reads since the mount that needed a correction.
  uint32_t corrected_reads;
  // Reads since the mount that could not be corrected.
  uint32_t lost_reads;
} steadyfs_health_info;

// One finding of a check.
typedef struct steadyfs_finding {
  // Of enum steadyfs_finding_kind.
  uint8_t kind;
  // The file or directory; 0 where there is none. LOST_CHANGES has a number of inodes here.
  uint32_t inode;
  // The directory whose entry or count is wrong; 0 where there is none.
  uint32_t directory;
  // The logical page; 0 where there is none.
  uint32_t page;
} steadyfs_finding;

// What a check looked at.
typedef struct steadyfs_checked {
  // Files.
  uint32_t files;
  // Directories, the root included.
  uint32_t directories;
  // Logical pages of files and directories.
  uint32_t pages;
  // Pages of files' data that cannot be read.
  uint32_t unreadable;
  // Findings, those that were mended included.
  uint32_t findings;
  // Findings that were mended.
  uint32_t mended;
} steadyfs_checked;

// The worst case of a call that is made now, in which no program fails.
//
// The time is that of the longest case; the numbers are the most of each operation, which no single case has together.
typedef struct steadyfs_cost {
  // Reads of whole pages.
  uint32_t reads;
  // Reads of tags alone.
  uint32_t tag_reads;
  // Programs of pages.
  uint32_t programs;
  // Programs of a page that the chip holds already: `copy` of a driver.
  uint32_t copies;
  // Erases of blocks.
  uint32_t erases;
  // Time by the driver's timing, in nanoseconds.
  uint64_t time_ns;
} steadyfs_cost;

// An open file that may be compressed: memory of the caller's, which steadyfs_packed_open makes a file of, whatever it held.
//
// It remembers the chunk that it decoded last: where another handle has changed the file, close it and open it again.
typedef struct steadyfs_packed_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_PACKED_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_PACKED_POINTERS];
} steadyfs_packed_t;

// What steadyfs_rom_mount needs: where the image lies, and memory. A struct of zeros with both is complete.
//
// Image, driver and memory must stay until the unmount; this struct may go. An image is read through a driver's `read` and `is_bad`
// alone; the other callbacks must be there.
typedef struct steadyfs_rom_config {
  // An image that the processor reads as memory: linked into the firmware, or on flash that is mapped. One of the three, and the others
  // null.
  const void *image;
  // Bytes of it; the image may be shorter.
  size_t image_bytes;
  // The driver of the NOR chip on which the image lies as it is. One of the three, and the others null.
  const struct steadyfs_nor *nor;
  // The first byte of the image on NOR.
  uint32_t nor_address;
  // Bytes from there on; the image may be shorter. Default, 0: up to the end of the chip.
  uint32_t nor_bytes;
  // The driver of the NAND chip on which the image lies behind its header: of steady pack --read-only --device, or of
  // steadyfs_rom_install_begin. A part of a chip is a driver that counts blocks from there. One of the three, and the others null.
  const struct steadyfs_nand *nand;
  // On NAND: bad blocks among those of the image at most. More: 4 bytes of memory each. STEADYFS_NO_BAD_BLOCKS: none. Default, 0: a
  // fiftieth of the blocks of the chip, from 2 on.
  uint16_t bad_blocks_max;
  // With a public key: blocks of the hash tree that are kept, 1 to 8. More: fewer reads and hashes. Default, 0: one for each level of
  // the tree.
  uint8_t hash_blocks;
  // Memory that is used beside steadyfs_rom_t. Any alignment. An image has its own until it is unmounted.
  void *memory;
  // Bytes of it: at least steadyfs_rom_memory_bytes. What is more keeps blocks of names and inodes, up to 16 of them.
  size_t memory_bytes;
  // Memory for pieces of the image that are read again and again: where names and inodes are stored as they are (steady pack
  // --plain-metadata), or flash is slow; or null. Default: null, they are read again.
  void *cache;
  // Bytes of it: steadyfs_rom_cache_bytes.
  size_t cache_bytes;
  // Bytes of a piece of the cache. Default, 0: a page of the NAND chip; 512 elsewhere.
  uint32_t cache_piece_bytes;
  // The Ed25519 key with which the image must be signed (steady keygen, steady pack --sign), 32 bytes: every block is verified each time
  // that it is read; or null. A build without the feature rom-verify refuses a key with STEADYFS_ERR_UNSUPPORTED. Default: null, nothing
  // is verified.
  const uint8_t *public_key;
} steadyfs_rom_config;

// A read-only image: memory of the caller's, which steadyfs_rom_mount makes one of, whatever it held.
//
// Zeros are no mounted image, so that a call before the mount is refused. It must not move while it is mounted. An image takes one call at
// a time: several threads need a mutex. No call changes anything on the medium: power may fail in each, and one that failed may be
// repeated.
//
// Paths are names joined by '/', of any bytes; `.` and `..` are names as others are, and symbolic links are not followed.
typedef struct steadyfs_rom_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_ROM_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_ROM_POINTERS];
} steadyfs_rom_t;

// An open file of an image: memory of the caller's, which steadyfs_rom_file_open makes a file of, whatever it held. Takes no place of a
// table, and need not be closed.
typedef struct steadyfs_rom_file_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_ROM_FILE_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_ROM_FILE_POINTERS];
} steadyfs_rom_file_t;

// An open directory of an image: memory of the caller's. Takes no place of a table, and need not be closed.
typedef struct steadyfs_rom_dir_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_ROM_DIR_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_ROM_DIR_POINTERS];
} steadyfs_rom_dir_t;

// The worst case of a call of an image: time of the medium, and work of the processor in bytes, each of which takes some cycles.
typedef struct steadyfs_rom_cost {
  // Time of the medium by the driver's timing, in nanoseconds; 0 where the image lies in memory.
  uint64_t flash_ns;
  // Bytes that are decoded.
  uint64_t decoded_bytes;
  // Bytes that are hashed: 0 without a key.
  uint64_t hashed_bytes;
} steadyfs_rom_cost;

// An image that is being written to NAND: memory of the caller's, which steadyfs_rom_install_begin makes one of, whatever it held.
//
// Power loss: what says where the image is goes first and comes last. A cut leaves the image of before where nothing was erased yet, else
// none until steadyfs_rom_install_finish, and behind that the whole of the new one. What was cut is begun anew. Two images, of which one
// is there at any time, are two ranges of blocks, each with a driver that counts from there.
typedef struct steadyfs_rom_install_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_ROM_INSTALL_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_ROM_INSTALL_POINTERS];
} steadyfs_rom_install_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Tells what an error code says, as English text that stays valid.
//
// `code`: what a call returned; numbers that are no errors give "no error".
const char *steadyfs_error_string(int code);

// Tells how many bytes of memory a volume needs, or an error: STEADYFS_ERR_DRIVER, STEADYFS_ERR_CONFIG... for what is wrong with the
// configuration. Its fields for memory are not looked at. Calls nothing of the driver.
ptrdiff_t steadyfs_memory_bytes(const struct steadyfs_config *config);

// Tells how many bytes a cache of so many logical pages needs, or an error as steadyfs_memory_bytes does.
ptrdiff_t steadyfs_cache_bytes(const struct steadyfs_config *config, size_t pages);

// Tells how many bytes a cache of so many program pages that were read needs, or an error as steadyfs_memory_bytes does.
ptrdiff_t steadyfs_read_cache_bytes(const struct steadyfs_config *config, size_t pages);

// Tells how many bytes steadyfs_fs_check and steadyfs_fs_repair need to be lent, or an error as steadyfs_memory_bytes does.
ptrdiff_t steadyfs_check_bytes(const struct steadyfs_config *config);

// Tells all settings, with the defaults where they are 0. Returns 0, or an error as steadyfs_memory_bytes does.
int steadyfs_settings_of(const struct steadyfs_config *config, struct steadyfs_settings *settings);

// Tells the best settings for which steadyfs_memory_bytes is at most so many, in place of those that are 0: with more memory than the defaults need, on NOR, longer
// buffers of the journal and smaller logical pages; with less, what small changes need least. Where nothing fits, the smallest: compare steadyfs_memory_bytes with them.
// What is left is best lent as a cache. Returns 0, or an error as steadyfs_memory_bytes does.
int steadyfs_settings_for(const struct steadyfs_config *config,
                          size_t memory_bytes,
                          struct steadyfs_settings *settings);

// Makes an empty volume on a medium. Everything on it is lost. `fs` holds no volume afterwards.
//
// Power loss: after a cut neither the new volume nor an earlier one can be relied on; format again. Cost: a look at the mark of each
// block and one read, some sixteen erases, a few programs. Errors: those of steadyfs_memory_bytes, STEADYFS_ERR_NOMEM,
// STEADYFS_ERR_BADBLOCKS, STEADYFS_ERR_IO and others of the medium.
int steadyfs_format(struct steadyfs_t *fs, const struct steadyfs_config *config);

// Mounts a volume. `fs` and the memory of the configuration are its own until steadyfs_unmount.
//
// A volume that is not unmounted is as after a power cut: the memory may be used for something else, and the volume be mounted again.
//
// Power loss: a mount may be cut as often as it likes. Cost: bounded whatever the number of files, steadyfs_bound_mount tells. Errors:
// STEADYFS_ERR_NOTFORMATTED, the only one that is a reason to format; STEADYFS_ERR_GEOMETRY, STEADYFS_ERR_VERSION, STEADYFS_ERR_NOROOT,
// STEADYFS_ERR_ISDISK, STEADYFS_ERR_NOMEM, STEADYFS_ERR_DRIVER, and those of the medium. Where something committed is lost the volume
// is mounted for reading: steadyfs_damage.
//
// How the medium is divided must be as at the format: erase_bytes and settings.group_sectors of NOR, also where the format chose the latter, page_bytes
// of NAND, `first` of sectors. With others a volume is not found where it lies. On NOR that is STEADYFS_ERR_GEOMETRY, while the first block can be read; on NAND and on
// sectors it is STEADYFS_ERR_NOTFORMATTED. Keep these numbers from one firmware to the next, or look for the old division before you format.
int steadyfs_mount(struct steadyfs_t *fs,
                   const struct steadyfs_config *config);

// Ends the use of a volume; commits where STEADYFS_COMMIT_UNMOUNT is chosen, as it is by default. The next mount then searches nothing
// and programs nothing. Files need not be closed. After an error as well `fs` holds no volume, and what was committed stays.
//
// Power loss: what was committed stays. Cost: that of a commit, and a root: steadyfs_bound_unmount. Errors: those of a commit.
int steadyfs_unmount(struct steadyfs_t *fs);

// Removes a file, a link or an empty directory. Up to eight pages that follow each other are freed at once, those of a larger file by later calls, a few each; a file that is open stays until
// it is closed.
//
// Power loss: it is there until the next commit. Cost: steadyfs_bound_remove, whatever the size. Errors: STEADYFS_ERR_NOENT,
// STEADYFS_ERR_NOTEMPTY, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_INVAL.
int steadyfs_remove(struct steadyfs_t *fs,
                    const char *path);

// Renames or moves a file or directory. What the new name named before is replaced: a file by a file, an empty directory by a directory.
//
// Power loss: before the next commit everything is as it was; there is no moment at which neither or both names are there. Cost:
// steadyfs_bound_rename. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_ISDIR, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_NOTEMPTY,
// STEADYFS_ERR_INTOITSELF, STEADYFS_ERR_INVAL, STEADYFS_ERR_NAMETOOLONG, STEADYFS_ERR_NOSPC.
int steadyfs_rename(struct steadyfs_t *fs, const char *from, const char *to);

// Exchanges two names: each names from now on what the other one did, files or directories. So a tree that was written beside another
// takes its place in one step, and the old one can be taken back.
//
// Power loss: before the next commit everything is as it was; there is no moment at which one of the names is missing. Cost:
// steadyfs_bound_exchange. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_INTOITSELF when one holds the other,
// STEADYFS_ERR_INVAL.
int steadyfs_exchange(struct steadyfs_t *fs, const char *one, const char *other);

// Tells what a file or directory is.
//
// Cost: steadyfs_bound_stat. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_NAMETOOLONG.
int steadyfs_stat(struct steadyfs_t *fs, const char *path, struct steadyfs_info *info);

// Reads an attribute of a file or directory: a small value with a name, its key. Returns its length, of which as much is in the buffer as
// fits.
//
// Cost: steadyfs_bound_getattr. Errors: STEADYFS_ERR_NOATTR, STEADYFS_ERR_NOENT, those of a path.
ptrdiff_t steadyfs_getattr(struct steadyfs_t *fs, const char *path, const char *key, void *buffer, size_t size);

// Sets an attribute of a file or directory. All attributes of one file together take up to 248 bytes, two for each beside key and value.
//
// Power loss: part of the open transaction, as data is; STEADYFS_COMMIT_WRITE is the event that commits it. Cost: steadyfs_bound_setattr.
// Errors: STEADYFS_ERR_ATTRIBUTES, STEADYFS_ERR_INVAL for an empty key, STEADYFS_ERR_TOOMANYFILES, STEADYFS_ERR_NOENT, those of a path.
int steadyfs_setattr(struct steadyfs_t *fs, const char *path, const char *key, const void *buffer, size_t size);

// Removes an attribute. Power loss, cost: as steadyfs_setattr. Errors: STEADYFS_ERR_NOATTR, STEADYFS_ERR_NOENT, those of a path.
int steadyfs_removeattr(struct steadyfs_t *fs, const char *path, const char *key);

// Makes a symbolic link that names `target`, any text of one logical page at most. The file system keeps links and follows none.
//
// Power loss: it is there, whole, after the next commit. Cost: that of steadyfs_mkdir and of a write. Errors: as steadyfs_mkdir.
int steadyfs_symlink(struct steadyfs_t *fs, const char *target, const char *path);

// Reads what a symbolic link names, without a NUL. Returns its length, of which as much is in the buffer as fits.
//
// Cost: steadyfs_bound_stat and a read. Errors: STEADYFS_ERR_NOTALINK, those of a path.
ptrdiff_t steadyfs_readlink(struct steadyfs_t *fs, const char *path, void *buffer, size_t size);

// Tells the permissions of a file or directory. Returns 1, or 0 where nobody has set any or the volume keeps none.
//
// Cost: twice steadyfs_bound_stat. Errors: those of a path.
int steadyfs_getpermissions(struct steadyfs_t *fs, const char *path, struct steadyfs_permissions *permissions);

// Sets the permissions of a file or directory. Power loss, cost: as steadyfs_setattr. Errors: STEADYFS_ERR_UNSUPPORTED where the volume
// keeps none, those of a path.
int steadyfs_setpermissions(struct steadyfs_t *fs, const char *path, const struct steadyfs_permissions *permissions);

// Opens a file. `flags`: STEADYFS_O_..., joined by |; one of RDONLY, WRONLY and RDWR at least.
//
// Power loss: a file that is created is there after the next commit, one that is cut is cut. Cost: steadyfs_bound_file_open. Errors:
// STEADYFS_ERR_NOENT, STEADYFS_ERR_EXIST, STEADYFS_ERR_ISDIR, STEADYFS_ERR_ISALINK, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_INVAL,
// STEADYFS_ERR_NAMETOOLONG, STEADYFS_ERR_NOTUTF8, STEADYFS_ERR_NOTWRITABLE where flags contradict each other, STEADYFS_ERR_TOOMANYOPEN,
// STEADYFS_ERR_TOOMANYFILES, STEADYFS_ERR_NOSPC.
int steadyfs_file_open(struct steadyfs_t *fs, struct steadyfs_file_t *file, const char *path, int flags);

// Opens a file that is known by its inode, whatever its name is now: steadyfs_info. As steadyfs_file_open.
int steadyfs_file_open_inode(struct steadyfs_t *fs, struct steadyfs_file_t *file, uint32_t inode, int flags);

// Closes a file; commits where STEADYFS_COMMIT_CLOSE is chosen, as it is by default, and the handle may write. The handle is closed
// after an error as well.
//
// Power loss: as in steadyfs_commit, where it commits. Cost: steadyfs_bound_file_close. Errors: STEADYFS_ERR_BADF, those of a commit.
int steadyfs_file_close(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Makes the changes of a file durable, and all others with them, where STEADYFS_COMMIT_FSYNC is chosen, as it is by default.
//
// Power loss: all changes since the last commit are there, or none. Cost: steadyfs_bound_commit. Errors: STEADYFS_ERR_BADF, those of a
// commit.
int steadyfs_file_sync(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Reads from the position on, and moves it. Returns the number of bytes, less than `size` only at the end of the file.
//
// Cost: steadyfs_bound_file_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOTREADABLE, STEADYFS_ERR_STALE, STEADYFS_ERR_CORRUPT.
ptrdiff_t steadyfs_file_read(struct steadyfs_t *fs, struct steadyfs_file_t *file, void *buffer, size_t size);

// Writes at the position, or with STEADYFS_O_APPEND at the end, and moves the position behind what it wrote. Returns `size`. The file
// grows where needed; a gap reads as zeros.
//
// A write of more than one logical page is the sum of such writes. Of one that fails, those before it have taken effect, and the position
// is where it was.
//
// Power loss: nothing of it is there before the next commit; with STEADYFS_O_DURABLE each logical page is a commit. Cost:
// steadyfs_bound_file_write. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOTWRITABLE, STEADYFS_ERR_NOSPC, STEADYFS_ERR_FBIG,
// STEADYFS_ERR_TRANSACTION, STEADYFS_ERR_STALE, STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING, STEADYFS_ERR_UNKNOWN.
ptrdiff_t steadyfs_file_write(struct steadyfs_t *fs, struct steadyfs_file_t *file, const void *buffer, size_t size);

// Moves the position, behind the end of the file as well. `whence`: STEADYFS_SEEK_SET, CUR or END. Returns the new position.
//
// Cost: nothing; with STEADYFS_SEEK_END perhaps a look at the inode. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_INVAL for a place before the
// begin or an unknown `whence`, STEADYFS_ERR_FBIG for one that no file reaches.
int64_t steadyfs_file_seek(struct steadyfs_t *fs, struct steadyfs_file_t *file, int64_t offset, int whence);

// Cuts a file, or makes it larger with zeros. The position stays.
//
// Power loss: the old size or the new one. Cost: steadyfs_bound_file_truncate, whatever the sizes. Errors: as steadyfs_file_write;
// STEADYFS_ERR_UNSUPPORTED in a build without the feature `truncate`.
int steadyfs_file_truncate(struct steadyfs_t *fs, struct steadyfs_file_t *file, uint64_t size);

// Tells the position. Costs nothing. Errors: STEADYFS_ERR_BADF.
int64_t steadyfs_file_tell(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Moves the position to the begin. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_file_rewind(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Tells the size of a file in bytes. Cost: nothing, or a look at the inode. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_STALE.
int64_t steadyfs_file_size(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Keeps room for the bytes `from` to `to` of a file, so that writes there cannot fail for want of it. The size of the file stays.
//
// Takes pages that follow each other, and returns up to where there is room now: call it again from there until it returns `to` or more.
//
// Power loss: the room is kept after the next commit. Cost: steadyfs_bound_file_write of 65 bytes. Errors: STEADYFS_ERR_BADF,
// STEADYFS_ERR_NOSPC, STEADYFS_ERR_FBIG, STEADYFS_ERR_NOTWRITABLE, STEADYFS_ERR_STALE.
int64_t steadyfs_file_reserve(struct steadyfs_t *fs, struct steadyfs_file_t *file, uint64_t from, uint64_t to);

// Tells the inode of a file: its number, for its life. Costs nothing. Errors: STEADYFS_ERR_BADF.
int64_t steadyfs_file_inode(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Makes a directory.
//
// Power loss: it is there after the next commit. Cost: steadyfs_bound_mkdir. Errors: STEADYFS_ERR_EXIST, STEADYFS_ERR_NOENT where a
// directory of the path is missing, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_INVAL, STEADYFS_ERR_NAMETOOLONG, STEADYFS_ERR_TOOMANYFILES,
// STEADYFS_ERR_NOSPC.
int steadyfs_mkdir(struct steadyfs_t *fs, const char *path);

// Opens a directory.
//
// Cost: steadyfs_bound_stat. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR.
int steadyfs_dir_open(struct steadyfs_t *fs, struct steadyfs_dir_t *dir, const char *path);

// Closes a directory. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_dir_close(struct steadyfs_t *fs, struct steadyfs_dir_t *dir);

// Reads the next entry of a directory. Returns 1, or 0 at the end. There are no entries `.` and `..`. Entries that are there from the
// first call to the last are told once, whatever is created and removed meanwhile; their order is that of a hash.
//
// Cost: steadyfs_bound_dir_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOENT where the directory was removed, STEADYFS_ERR_CORRUPT.
int steadyfs_dir_read(struct steadyfs_t *fs, struct steadyfs_dir_t *dir, struct steadyfs_info *info);

// Goes to a place that steadyfs_dir_tell told, in this or an earlier mount. Costs nothing. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_INVAL.
int steadyfs_dir_seek(struct steadyfs_t *fs, struct steadyfs_dir_t *dir, int64_t place);

// Tells the place in a directory; it stays valid whatever happens to the directory. Costs nothing. Errors: STEADYFS_ERR_BADF.
int64_t steadyfs_dir_tell(struct steadyfs_t *fs, struct steadyfs_dir_t *dir);

// Goes to the begin of a directory. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_dir_rewind(struct steadyfs_t *fs, struct steadyfs_dir_t *dir);

// Makes all changes durable, whatever events were chosen.
//
// Power loss: all changes since the last commit are there, across files and directories, or none. Cost: steadyfs_bound_commit; nothing
// where nothing has changed. Errors: STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT, STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING,
// STEADYFS_ERR_TRANSACTION, STEADYFS_ERR_UNKNOWN.
int steadyfs_commit(struct steadyfs_t *fs);

// As steadyfs_commit, where STEADYFS_COMMIT_SYNC is chosen, as it is by default.
int steadyfs_sync(struct steadyfs_t *fs);

// Undoes all changes since the last commit. Handles of files that were created since are stale then: STEADYFS_ERR_STALE.
//
// Power loss: a cut undoes the same changes. Cost: a read of the journal page (of all records of its block on NOR), those of the
// allocation map, and two looks for each open file. Errors: STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT, STEADYFS_ERR_UNKNOWN: nothing has
// changed.
int steadyfs_rollback(struct steadyfs_t *fs);

// Tells whether changes wait for a commit: 1 or 0. Costs nothing.
int steadyfs_has_changes(struct steadyfs_t *fs);

// Chooses the events after which the volume commits: commit_on of steadyfs_config. Costs nothing. Errors: STEADYFS_ERR_INVAL.
int steadyfs_set_commit_on(struct steadyfs_t *fs, uint16_t commit_on);

// Tells the volume the time: nanoseconds since 1970, or of any clock that does not go back. Changes are stamped with it. Without it they
// are not, and an overwrite through a durable handle costs one program less. Costs nothing.
int steadyfs_set_time(struct steadyfs_t *fs, uint64_t now_ns);

// Tells the time, and makes the commit of STEADYFS_COMMIT_TIMED if it is due. Returns when to call next; 0 where nothing waits.
//
// Power loss, cost, errors: as steadyfs_commit, when it makes one.
int64_t steadyfs_poll(struct steadyfs_t *fs, uint64_t now_ns);

// Lets `changed` be told of every change of the volume, in the call that makes it and after it was made. It must not call the volume. A
// later observer takes the place of an earlier one. Its time is in no bound. Errors: STEADYFS_ERR_INVAL.
int steadyfs_observe(struct steadyfs_t *fs,
                     struct steadyfs_observer_t *observer,
                     void (*changed)(void *context, int event, uint32_t inode),
                     void *context);

// Tells what a volume is and holds. Costs nothing.
int steadyfs_fs_stat(struct steadyfs_t *fs, struct steadyfs_fsinfo *info);

// Tells how many bytes are taken, as used_bytes of steadyfs_fsinfo does. littlefs counts blocks here. Costs nothing.
int64_t steadyfs_fs_size(struct steadyfs_t *fs);

// Returns the bytes of all free pages, and of those that removed files still hold. It is 0 if no write finds a page.
// Pages that keep track of data are part of it, so one file may get less: steadyfs_fs_available. Cost: two
// looks for each removed file that still holds something, and one at each page of its indexes.
int64_t steadyfs_fs_free(struct steadyfs_t *fs);

// Tells how many bytes the next writes to one file get, whatever else is written: what is free and what removed files still hold,
// without what keeps track of them. Cost: that of steadyfs_fs_free.
int64_t steadyfs_fs_available(struct steadyfs_t *fs);

// Prepares the volume in idle time, so that the next `burst_bytes` of writes meet neither reclamation nor erase. Returns 1 where there is
// nothing left to prepare, else 0.
//
// It frees the pages of removed files, moves what keeps blocks from being erased, erases blocks, and writes parts of the map, as far as
// `budget_ns` goes: the time of the medium, by the driver's timing. A durable write of less than a program page counts as one.
//
// Power loss: what was committed stays; an open transaction stays open. Cost: never more than the budget, when no operation fails.
// Errors: STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT, STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING.
int steadyfs_fs_gc(struct steadyfs_t *fs, uint64_t budget_ns, uint64_t burst_bytes);

// Reads data at rest for `budget_ns`, so that pages whose bits have begun to flip are noticed while the ECC still corrects them. Goes on
// where the last call stopped. Returns 1 where a round through everything is complete, else 0.
//
// Cost: never more than the budget. Errors: STEADYFS_ERR_IO; STEADYFS_ERR_UNSUPPORTED in a build without the feature `scrub`.
int steadyfs_fs_scrub(struct steadyfs_t *fs, uint64_t budget_ns);

// Tells how the medium is doing. Costs nothing.
int steadyfs_health(struct steadyfs_t *fs, struct steadyfs_health_info *health);

// Tells what is missing: of enum steadyfs_damage, or an error. Costs nothing.
int steadyfs_damage(struct steadyfs_t *fs);

// Verifies every page and every reference of the volume, and calls `report` (or not, where it is null) for each fault. With `repair`,
// mends those that can be mended, each in a transaction of its own, and commits what was open before. Close all files first. `checked`
// may be null.
//
// Power loss: what was mended stays mended. Cost: reads the whole volume. Errors: STEADYFS_ERR_NOMEM where `scratch` has fewer bytes than
// steadyfs_check_bytes, STEADYFS_ERR_IO; with `repair` those of a commit. Damage is a finding, not an error.
int steadyfs_fs_check(struct steadyfs_t *fs,
                      void *scratch,
                      size_t scratch_bytes,
                      bool repair,
                      void (*report)(void *context, const struct steadyfs_finding *finding),
                      void *context,
                      struct steadyfs_checked *checked);

// Accepts what the mount found missing as lost, checks the volume and mends what the loss has left, so that it can be changed again. Does
// nothing where nothing is missing: steadyfs_damage.
//
// Power loss: the volume can only be read until a repair ends; one that was cut is begun again. Cost: that of a mount and of a check with
// `repair`. Errors: STEADYFS_ERR_CORRUPT where what is lost cannot be mended, STEADYFS_ERR_READONLY where the volume was mounted for
// reading, those of steadyfs_fs_check.
int steadyfs_fs_repair(struct steadyfs_t *fs,
                       void *scratch,
                       size_t scratch_bytes,
                       void (*report)(void *context, const struct steadyfs_finding *finding),
                       void *context,
                       struct steadyfs_checked *checked);

// Tells the worst case of steadyfs_file_open. Costs nothing, as every bound. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_file_open(struct steadyfs_t *fs, const char *path, int flags, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_file_close, whether the file was removed or not.
int steadyfs_bound_file_close(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_commit, steadyfs_sync and steadyfs_file_sync.
int steadyfs_bound_commit(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_file_read of so many bytes.
int steadyfs_bound_file_read(struct steadyfs_t *fs, size_t size, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_file_write of so many bytes at the position of a file, whatever is at it. The time is that of the whole write; the numbers are those of
// each logical page that it touches, the first as the volume is now, each further one at the present fill. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_file_write(struct steadyfs_t *fs,
                              struct steadyfs_file_t *file,
                              size_t size,
                              struct steadyfs_cost *cost);

// Tells the worst case of an overwrite of one whole logical page that the file has already, with STEADYFS_O_DURABLE and without a clock.
int steadyfs_bound_overwrite(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Tells the worst case, in nanoseconds, of so many of these in a row, such as one write of several whole pages: less than as many times the worst case of one.
int steadyfs_bound_overwrites(struct steadyfs_t *fs,
                              uint32_t count,
                              uint64_t *time_ns);

// Tells the worst case of steadyfs_file_truncate.
int steadyfs_bound_file_truncate(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_remove. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_remove(struct steadyfs_t *fs, const char *path, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_rename. A directory that moves lies `depth` deep at most. Errors: STEADYFS_ERR_INVAL,
// STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_rename(struct steadyfs_t *fs, const char *from, const char *to, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_exchange. Directories lie `depth` deep at most. Errors: STEADYFS_ERR_INVAL,
// STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_exchange(struct steadyfs_t *fs, const char *one, const char *other, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_stat and steadyfs_dir_open. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_stat(struct steadyfs_t *fs, const char *path, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_getattr. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_getattr(struct steadyfs_t *fs, const char *path, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_setattr and steadyfs_removeattr. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_setattr(struct steadyfs_t *fs, const char *path, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_mkdir. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_mkdir(struct steadyfs_t *fs, const char *path, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_dir_read of one entry; a look more for each bucket of the directory that is empty.
int steadyfs_bound_dir_read(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Tells the worst case of the next steadyfs_mount of this volume after a power cut, at any fill; twice that where the medium turns out
// to take no program.
int steadyfs_bound_mount(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_unmount: a commit and a root.
int steadyfs_bound_unmount(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Tells the memory that steadyfs_packed_open needs for a file in chunks of so many bytes (4096, 8192, … 65536): with STEADYFS_O_RDONLY
// alone to read it, else also to write. Errors: STEADYFS_ERR_INVAL.
ptrdiff_t steadyfs_packed_memory_bytes(size_t chunk_bytes, int flags);

// Opens a file, compressed or not: what steady pack --compress and mounted directories write, and firmware. `flags` as in
// steadyfs_file_open. `memory` is the handle's until it is closed.
//
// One that is there is opened as it is. One that is created is compressed (LZ4) in chunks of `chunk_bytes`; where that is 0, as its
// directory says (attribute steadyfs.compress), or not at all. A handle that reads another method than LZ4 says STEADYFS_ERR_UNSUPPORTED.
//
// Power loss, cost: as steadyfs_file_open; where it creates, also steadyfs_setattr. Errors: those, STEADYFS_ERR_NOMEM
// (steadyfs_packed_memory_bytes), STEADYFS_ERR_INVAL for chunks that are none.
int steadyfs_packed_open(struct steadyfs_t *fs,
                         struct steadyfs_packed_t *file,
                         const char *path,
                         int flags,
                         size_t chunk_bytes,
                         void *memory,
                         size_t memory_bytes);

// Closes a file, as steadyfs_file_close. The memory is free again.
int steadyfs_packed_close(struct steadyfs_t *fs, struct steadyfs_packed_t *file);

// Tells the bytes of a chunk of a file, 0 of one that is not compressed. Costs nothing. Errors: STEADYFS_ERR_BADF.
ptrdiff_t steadyfs_packed_chunk_bytes(struct steadyfs_t *fs, struct steadyfs_packed_t *file);

// Reads from the position on, and moves it, as steadyfs_file_read. Cost: steadyfs_bound_packed_read. Errors: those of
// steadyfs_file_read; STEADYFS_ERR_CORRUPT for a chunk that cannot be decoded, STEADYFS_ERR_UNSUPPORTED for one of another method.
ptrdiff_t steadyfs_packed_read(struct steadyfs_t *fs, struct steadyfs_packed_t *file, void *buffer, size_t size);

// Writes at the position, or with STEADYFS_O_APPEND at the end, as steadyfs_file_write; a long write is the sum of one for each chunk.
//
// Power loss: nothing of it is there before the next commit; with STEADYFS_O_DURABLE it commits at its end. Cost:
// steadyfs_bound_packed_write. Errors: those of steadyfs_file_write, STEADYFS_ERR_CORRUPT for a chunk that cannot be decoded.
ptrdiff_t steadyfs_packed_write(struct steadyfs_t *fs, struct steadyfs_packed_t *file, const void *buffer, size_t size);

// Moves the position, as steadyfs_file_seek. With STEADYFS_SEEK_END the size is read: 8 bytes.
int64_t steadyfs_packed_seek(struct steadyfs_t *fs, struct steadyfs_packed_t *file, int64_t offset, int whence);

// Cuts a file, or makes it larger with zeros, as steadyfs_file_truncate. Cost: steadyfs_bound_packed_truncate.
int steadyfs_packed_truncate(struct steadyfs_t *fs, struct steadyfs_packed_t *file, uint64_t size);

// Tells the size of the content. Cost: a read of 8 bytes. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_STALE, STEADYFS_ERR_CORRUPT.
int64_t steadyfs_packed_size(struct steadyfs_t *fs, struct steadyfs_packed_t *file);

// Tells the worst case of steadyfs_packed_read of so many bytes. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_packed_read(struct steadyfs_t *fs, struct steadyfs_packed_t *file, uint32_t size, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_packed_write of so many bytes, wherever it goes: that of each chunk or logical page that it touches,
// and of what is made zeros before it. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_packed_write(struct steadyfs_t *fs, struct steadyfs_packed_t *file, uint32_t size, struct steadyfs_cost *cost);

// Tells the worst case of steadyfs_packed_truncate. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_packed_truncate(struct steadyfs_t *fs, struct steadyfs_packed_t *file, struct steadyfs_cost *cost);

// Reads what the image says of itself, and tells how many bytes of memory steadyfs_rom_mount needs for it, key and NAND included.
//
// `metadata_blocks`: blocks of names and inodes that have a place of their own, up to 16. 0: the least that a mount needs; a path that is
// looked up pushes out the block of a file that was read, and the other way round. 1: neither does. More: paths of several names
// decode less. An image whose names and inodes are stored as they are needs 0.
//
// On NAND the call reads into the `memory` of the configuration, which no mounted image may have: a page, and 4 bytes for each of
// bad_blocks_max. Elsewhere its fields for memory are not looked at.
//
// Cost: a few reads. Errors: as steadyfs_rom_mount, but for signatures, which are not looked at.
ptrdiff_t steadyfs_rom_memory_bytes(const struct steadyfs_rom_config *config, size_t metadata_blocks);

// Tells how many bytes a cache of so many pieces needs, 1 to 64. Calls nothing of the driver. Errors: STEADYFS_ERR_INVAL.
ptrdiff_t steadyfs_rom_cache_bytes(const struct steadyfs_rom_config *config, size_t pieces);

// Mounts an image. `rom` and the memory of the configuration are its own until steadyfs_rom_unmount.
//
// Cost: a read of 96 bytes; on NAND the mark and a page of the first block, or of up to 32 where some are bad, and where the image does
// not list bad blocks the mark of each of its blocks; with a key a few reads more and the check of a signature.
//
// Errors: STEADYFS_ERR_NOTFORMATTED where there is no squashfs image, STEADYFS_ERR_VERSION, STEADYFS_ERR_UNSUPPORTED where it is
// compressed by another method than LZ4 or LZO, or the build lacks the medium or rom-verify; STEADYFS_ERR_NOMEM
// (steadyfs_rom_memory_bytes, steadyfs_rom_cache_bytes), STEADYFS_ERR_DRIVER where no place was given, or more than one,
// STEADYFS_ERR_INVAL where the chip has no such place, STEADYFS_ERR_CONFIG_PAGE_BYTES, STEADYFS_ERR_CONFIG_BLOCKS,
// STEADYFS_ERR_BADBLOCKS where more are bad than bad_blocks_max, STEADYFS_ERR_NOTSIGNED, STEADYFS_ERR_NOTAUTHENTIC,
// STEADYFS_ERR_CORRUPT, and those of the medium.
int steadyfs_rom_mount(struct steadyfs_rom_t *rom, const struct steadyfs_rom_config *config);

// Ends the use of an image: its memory is free again. Files and directories need not be closed. Costs nothing. Errors:
// STEADYFS_ERR_NOTMOUNTED.
int steadyfs_rom_unmount(struct steadyfs_rom_t *rom);

// Tells what a path of an image names. An image does not tell `parent`, `generation` and `subdirectories`, nor the size of a directory:
// they are 0.
//
// Cost: steadyfs_bound_rom_stat. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_CORRUPT, STEADYFS_ERR_NOTAUTHENTIC, those
// of the medium.
int steadyfs_rom_stat(struct steadyfs_rom_t *rom, const char *path, struct steadyfs_info *info);

// Tells mode, owner and group of what a path of an image names.
//
// Cost: that of steadyfs_rom_stat, and twice a block of names and inodes. Errors: those of steadyfs_rom_stat.
int steadyfs_rom_getpermissions(struct steadyfs_rom_t *rom, const char *path, struct steadyfs_permissions *permissions);

// Reads what a symbolic link of an image names, without a NUL. Returns its length; where that is more than `size`, nothing is read.
//
// Cost: that of steadyfs_rom_stat, and the blocks in which the text lies. Errors: STEADYFS_ERR_NOTALINK, those of steadyfs_rom_stat.
ptrdiff_t steadyfs_rom_readlink(struct steadyfs_rom_t *rom, const char *path, void *buffer, size_t size);

// Opens a file of an image for reading.
//
// Cost: steadyfs_bound_rom_file_open. Errors: STEADYFS_ERR_ISDIR, STEADYFS_ERR_ISALINK, STEADYFS_ERR_UNSUPPORTED for a device, a pipe or a
// socket, those of steadyfs_rom_stat.
int steadyfs_rom_file_open(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file, const char *path);

// Closes a file of an image. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_rom_file_close(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file);

// Reads from the position on, and moves it. Returns the number of bytes, less than `size` only at the end of the file.
//
// Cost: steadyfs_bound_rom_file_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_CORRUPT for a block that cannot be decoded,
// STEADYFS_ERR_NOTAUTHENTIC, those of the medium. The position stays after an error.
ptrdiff_t steadyfs_rom_file_read(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file, void *buffer, size_t size);

// Moves the position, which may lie behind the end, and returns it. `whence`: STEADYFS_SEEK_.... Costs nothing. Errors: STEADYFS_ERR_BADF,
// STEADYFS_ERR_INVAL.
int64_t steadyfs_rom_file_seek(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file, int64_t offset, int whence);

// Tells the position. Costs nothing. Errors: STEADYFS_ERR_BADF.
int64_t steadyfs_rom_file_tell(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file);

// Tells the size of a file in bytes. Costs nothing. Errors: STEADYFS_ERR_BADF.
int64_t steadyfs_rom_file_size(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file);

// Opens a directory of an image.
//
// Cost: steadyfs_bound_rom_stat. Errors: those of steadyfs_rom_stat.
int steadyfs_rom_dir_open(struct steadyfs_rom_t *rom, struct steadyfs_rom_dir_t *dir, const char *path);

// Closes a directory of an image. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_rom_dir_close(struct steadyfs_rom_t *rom, struct steadyfs_rom_dir_t *dir);

// Reads the next entry of a directory of an image. Returns 1, or 0 at the end. Entries come by the bytes of their names, without `.` and
// `..`; `info` is filled as by steadyfs_rom_stat.
//
// Cost: steadyfs_bound_rom_dir_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NAMETOOLONG for a name of 256 bytes, behind which the next
// call goes on; those of steadyfs_rom_stat.
int steadyfs_rom_dir_read(struct steadyfs_rom_t *rom, struct steadyfs_rom_dir_t *dir, struct steadyfs_info *info);

// Tells the worst case of steadyfs_rom_stat and steadyfs_rom_dir_open of this path. It depends on the directories of the path, so that
// this call looks at them, and costs and fails as those do.
int steadyfs_bound_rom_stat(struct steadyfs_rom_t *rom, const char *path, struct steadyfs_rom_cost *cost);

// Tells the worst case of steadyfs_rom_file_open of this path. Costs and fails as steadyfs_bound_rom_stat.
int steadyfs_bound_rom_file_open(struct steadyfs_rom_t *rom, const char *path, struct steadyfs_rom_cost *cost);

// Tells the worst case of steadyfs_rom_file_read of so many bytes, wherever the position is. A read behind the one before it costs less:
// it knows where its block is. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_rom_file_read(struct steadyfs_rom_t *rom,
                                 struct steadyfs_rom_file_t *file,
                                 uint32_t size,
                                 struct steadyfs_rom_cost *cost);

// Tells the worst case of steadyfs_rom_dir_read of one entry. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_rom_dir_read(struct steadyfs_rom_t *rom, struct steadyfs_rom_dir_t *dir, struct steadyfs_rom_cost *cost);

// Tells how many bytes of memory an installation needs: two pages, and 4 bytes for each of bad_blocks_max. Looks at `nand` and
// bad_blocks_max of the configuration alone; calls nothing of the driver. Errors: STEADYFS_ERR_INVAL without a driver,
// STEADYFS_ERR_DRIVER where that lacks a callback, STEADYFS_ERR_CONFIG_PAGE_BYTES, STEADYFS_ERR_CONFIG_BLOCKS.
ptrdiff_t steadyfs_rom_install_bytes(const struct steadyfs_rom_config *config);

// Begins to write an image to the NAND chip of a configuration; one that is there is gone. The memory of the configuration, of which
// `nand`, bad_blocks_max and this are looked at, is the installation's until it is finished.
//
// Power loss: there is no image, or that of before. Cost: an erase for each of the first three good blocks, and a look at the marks up to
// there. Errors: STEADYFS_ERR_NOMEM, STEADYFS_ERR_BADBLOCKS where more are bad than bad_blocks_max, STEADYFS_ERR_NOSPC, those of
// steadyfs_rom_install_bytes and of the medium.
int steadyfs_rom_install_begin(struct steadyfs_rom_install_t *install, const struct steadyfs_rom_config *config);

// Writes the next bytes of an image, in pieces of any size. After an error the installation is at its end: begin anew.
//
// Power loss: there is no image. Cost: a program for each page that they fill and an erase for each block; where a block goes bad, a read
// and a program for each of its pages. Errors: STEADYFS_ERR_NOTMOUNTED where none was begun, STEADYFS_ERR_NOSPC where the chip is full,
// STEADYFS_ERR_BADBLOCKS, those of the medium.
int steadyfs_rom_install_push(struct steadyfs_rom_install_t *install, const void *data, size_t size);

// Ends an installation: the image is there. After an error as well nothing is begun, and the memory is free again.
//
// Power loss: there is no image, or the whole of it. Cost: three programs. Errors: STEADYFS_ERR_NOTMOUNTED where none was begun,
// STEADYFS_ERR_MEDIAFAILING where the chip does not take what says where the image is: begin anew; those of the medium.
int steadyfs_rom_install_finish(struct steadyfs_rom_install_t *install);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STEADYFS_H */
