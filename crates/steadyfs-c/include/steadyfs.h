/*
 * SteadyFS: a flash file system that keeps time. It runs on raw NAND and NOR and on cards, without
 * a heap, in a few KiB of RAM. Every call has a computed worst case. docs/guide/c.md has a guide, and
 * lists the equivalent of each call of littlefs, SPIFFS and FatFs.
 *
 * A call returns 0, a number that its comment describes, or a negative steadyfs_error. Paths are
 * UTF-8, with names joined by '/'. If a pointer that a call needs is null, the call returns
 * STEADYFS_ERR_INVAL. From mount to unmount, the struct of a driver and the memory of a
 * configuration belong to the volume alone. A volume takes one call at a time: several threads need
 * a mutex. Callbacks must not call their volume, and must return.
 *
 * Generated from crates/steadyfs-c by its tests. Make changes there.
 */

#ifndef STEADYFS_H
#define STEADYFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// As the value of a setting: none. The value 0 stands for the default.
#define STEADYFS_NONE 255

// As the value of bad_blocks_max: none.
#define STEADYFS_NO_BAD_BLOCKS 65535

// Number of 64-bit words of steadyfs_t.
#define STEADYFS_WORDS 112

// Number of pointer-sized words of steadyfs_t.
#define STEADYFS_POINTERS 52

// Most bytes of a name, without the NUL.
#define STEADYFS_NAME_MAX 255

// Open for reading.
#define STEADYFS_O_RDONLY 1

// Open for writing.
#define STEADYFS_O_WRONLY 2

// Open for reading and writing.
#define STEADYFS_O_RDWR 3

// Create the file if it does not exist; needs STEADYFS_O_WRONLY.
#define STEADYFS_O_CREAT 256

// With STEADYFS_O_CREAT: fail with STEADYFS_ERR_EXIST if the file exists.
#define STEADYFS_O_EXCL 512

// Cut the file to nothing; needs STEADYFS_O_WRONLY.
#define STEADYFS_O_TRUNC 1024

// Every write goes to the end of the file.
#define STEADYFS_O_APPEND 2048

// Every change through this handle is durable when the call returns. So is the file's creation.
#define STEADYFS_O_DURABLE 4096

// Multiplied by 0 to 3: the stream of a created file. Files that are written again at about the
// same pace should share a stream, and other files use another stream. Everything that names no
// stream is in stream 0.
#define STEADYFS_O_STREAM 65536

// Seek from the start of the file.
#define STEADYFS_SEEK_SET 0

// Seek from the present position.
#define STEADYFS_SEEK_CUR 1

// Seek from the end of the file.
#define STEADYFS_SEEK_END 2

// Number of 64-bit words of steadyfs_file_t.
#define STEADYFS_FILE_WORDS 11

// Number of pointer-sized words of steadyfs_file_t.
#define STEADYFS_FILE_POINTERS 2

// Number of 64-bit words of steadyfs_dir_t.
#define STEADYFS_DIR_WORDS 4

// Number of pointer-sized words of steadyfs_observer_t.
#define STEADYFS_OBSERVER_WORDS 2

// Number of 64-bit words of steadyfs_packed_t.
#define STEADYFS_PACKED_WORDS 11

// Number of pointer-sized words of steadyfs_packed_t.
#define STEADYFS_PACKED_POINTERS 10

// Number of 64-bit words of steadyfs_rom_t.
#define STEADYFS_ROM_WORDS 82

// Number of pointer-sized words of steadyfs_rom_t.
#define STEADYFS_ROM_POINTERS 14

// Number of 64-bit words of steadyfs_rom_file_t.
#define STEADYFS_ROM_FILE_WORDS 24

// Number of pointer-sized words of steadyfs_rom_file_t.
#define STEADYFS_ROM_FILE_POINTERS 2

// Number of 64-bit words of steadyfs_rom_dir_t.
#define STEADYFS_ROM_DIR_WORDS 19

// Number of pointer-sized words of steadyfs_rom_dir_t.
#define STEADYFS_ROM_DIR_POINTERS 2

// Number of 64-bit words of steadyfs_rom_install_t.
#define STEADYFS_ROM_INSTALL_WORDS 6

// Number of pointer-sized words of steadyfs_rom_install_t.
#define STEADYFS_ROM_INSTALL_POINTERS 13

// Result of a driver's callback.
//
// Any other number counts as STEADYFS_FAIL_DEVICE.
typedef enum steadyfs_failure {
  // The operation succeeded.
  STEADYFS_FAIL_NONE = 0,
  // The page cannot be read: more bits flipped than the ECC corrects. For reads.
  STEADYFS_FAIL_UNCORRECTABLE = -1,
  // The chip reports that a program or an erase failed: the block has gone bad.
  STEADYFS_FAIL_BAD_BLOCK = -2,
  // The chip has locked itself: it takes no more programs and erases, and can be read.
  STEADYFS_FAIL_WRITE_PROTECTED = -3,
  // The device does not answer: bus fault, timeout, power lost.
  STEADYFS_FAIL_DEVICE = -4,
} steadyfs_failure;

// Reason for the failure of a call. A call that succeeds returns 0, or a number that its
// documentation promises. A call that fails returns one of these codes.
//
// Codes that littlefs has too, with the same meaning, have the same number. After every error
// but STEADYFS_ERR_UNKNOWN a call has changed nothing, and the open transaction can go on. A
// long write consists of several writes (steadyfs_file_write). The writes before the failed one
// have taken effect.
typedef enum steadyfs_error {
  // No error.
  STEADYFS_ERR_OK = 0,
  // The medium does not answer. Nothing that was committed is lost; mount again.
  STEADYFS_ERR_IO = -5,
  // The read data is not the written data: a page failed its checksum, or its tag names
  // another page.
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
  // An argument is invalid: a null pointer, an unknown flag, a position before the start of
  // the file, or a name that is empty, `.` or `..`.
  STEADYFS_ERR_INVAL = -22,
  // No room: every logical page of the volume is in use.
  STEADYFS_ERR_NOSPC = -28,
  // The lent memory is too small: see steadyfs_memory_bytes, or steadyfs_check_bytes for a
  // check.
  STEADYFS_ERR_NOMEM = -12,
  // The file has no such attribute.
  STEADYFS_ERR_NOATTR = -61,
  // A name is longer than 255 bytes, or than the volume's name_bytes_max.
  STEADYFS_ERR_NAMETOOLONG = -36,
  // A path or a key is not UTF-8.
  STEADYFS_ERR_NOTUTF8 = -200,
  // The object contains no mounted volume or image, and no installation that was begun.
  STEADYFS_ERR_NOTMOUNTED = -201,
  // A call of this volume is in progress: a callback or another thread has called.
  STEADYFS_ERR_BUSY = -202,
  // More programs failed in one call than the volume's `failures` setting tolerates.
  STEADYFS_ERR_MEDIAFAILING = -203,
  // The volume can only be read: it was mounted so, it is worn out, the chip has locked
  // itself, or the outcome of an earlier call is unknown. In the last case mount it again.
  STEADYFS_ERR_READONLY = -204,
  // It is unknown if the change took effect. The volume can only be read until it is mounted
  // again.
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
  // The memory has no room for another open file: see open_files.
  STEADYFS_ERR_TOOMANYOPEN = -215,
  // The attributes of one file take more than 248 bytes.
  STEADYFS_ERR_ATTRIBUTES = -216,
  // The build, or the volume, lacks a requirement of the call: a feature of the library, or
  // permissions.
  STEADYFS_ERR_UNSUPPORTED = -217,
  // No superblock was found. The device was never formatted, the driver and the settings
  // divide it in another way than its format did (see steadyfs_mount), or it has no image.
  STEADYFS_ERR_NOTFORMATTED = -220,
  // The volume has another version of the format.
  STEADYFS_ERR_VERSION = -221,
  // The volume was formatted for another chip, or with another division of the chip:
  // erase_bytes, group_sectors.
  STEADYFS_ERR_GEOMETRY = -222,
  // More blocks are bad than bad_blocks_max allows, or blocks are bad that the volume needs
  // for itself.
  STEADYFS_ERR_BADBLOCKS = -223,
  // The volume is a disk of sectors, which this API does not mount.
  STEADYFS_ERR_ISDISK = -224,
  // No root can be read although there is a superblock.
  STEADYFS_ERR_NOROOT = -225,
  // The image has no hash tree, or no signature by the key.
  STEADYFS_ERR_NOTSIGNED = -226,
  // The data that was read from the image is not the signed data.
  STEADYFS_ERR_NOTAUTHENTIC = -227,
  // No driver was given, or more than one. Or the driver lacks a callback, or has a time of
  // more than 100 s.
  STEADYFS_ERR_DRIVER = -230,
  // page_bytes must be a power of two from 256 to 16,384. On sectors it must be at least 512.
  STEADYFS_ERR_CONFIG_PAGE_BYTES = -231,
  // A block must have 4 to 4,096 pages, and a medium 16 to 1,048,576 blocks.
  STEADYFS_ERR_CONFIG_BLOCKS = -232,
  // pages_per_logical_page must be a power of two up to 32, and a block must hold at least 4
  // logical pages. Choose fewer pages_per_logical_page or, on NOR, more group_sectors.
  STEADYFS_ERR_CONFIG_UNIT_PAGES = -233,
  // transaction_pages must be 2 to 1,024.
  STEADYFS_ERR_CONFIG_TRANSACTION_PAGES = -234,
  // overlay_entries must be at least 40 more than transaction_pages, and at most 8,192.
  STEADYFS_ERR_CONFIG_OVERLAY_ENTRIES = -235,
  // checkpoint_programs must be 16 to 4,096. Except on NOR it must also be at most the pages
  // of 24 blocks, less one block for each of failures.
  STEADYFS_ERR_CONFIG_CHECKPOINT_PROGRAMS = -236,
  // wear_spread must be 8 to 200, or STEADYFS_NONE if the device levels wear itself.
  STEADYFS_ERR_CONFIG_WEAR_SPREAD = -237,
  // files_max must be at most 1,048,576, and failures at most 8.
  STEADYFS_ERR_CONFIG_FILES = -238,
  // streams must be 1 to 4.
  STEADYFS_ERR_CONFIG_STREAMS = -239,
  // move_group must be 1 to 64. It must be 1 if the device does not level wear itself.
  STEADYFS_ERR_CONFIG_MOVE_GROUP = -240,
  // A logical page must not be larger than 128 KiB. It must be smaller if page_bytes is more
  // than 4,096.
  STEADYFS_ERR_CONFIG_LOGICAL_PAGE = -241,
  // files_max requires more logical pages than a map entry can name.
  STEADYFS_ERR_CONFIG_TOO_MANY_PAGES = -242,
  // A block must hold a root with its copies, three logical pages and a journal page. Choose
  // fewer overlay_entries or larger blocks, on NOR by more group_sectors.
  STEADYFS_ERR_CONFIG_BLOCK_TOO_SMALL = -243,
  // Too few blocks: bad_blocks_max, ring and reserve leave no room for data.
  STEADYFS_ERR_CONFIG_TOO_FEW_BLOCKS = -244,
  // A reclaimed block would not gain a frame. Choose more overlay_entries or larger blocks.
  STEADYFS_ERR_CONFIG_NO_GAIN = -245,
  // leaf_log_bytes must be 48 to 240, and at most three quarters of a page.
  STEADYFS_ERR_CONFIG_LEAF_LOG = -246,
  // journal_pages must be 1 to 16. If it is more than one, the pages must have at most 4,096
  // bytes together.
  STEADYFS_ERR_CONFIG_JOURNAL = -247,
  // A setting breaks a rule for which this version of the library has no code.
  STEADYFS_ERR_CONFIG = -249,
} steadyfs_error;

// Events after which a volume commits by itself: any of them joined by |, or one of the presets.
typedef enum steadyfs_commit_event {
  // steadyfs_unmount was called. Without this event an unmount discards uncommitted changes.
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
  // commit_interval_ns has passed since the first change of the transaction: see
  // steadyfs_poll.
  STEADYFS_COMMIT_TIMED = (1 << 11),
  // commit_changes or commit_bytes is reached.
  STEADYFS_COMMIT_MANY = (1 << 12),
  // Preset, the default: commits changes of names, and when a file is closed or synced. As
  // littlefs does.
  STEADYFS_COMMIT_ON_CLOSE = ((2047 & ~(1 << 6)) & ~(1 << 8)),
  // Preset: commits with steadyfs_file_sync, steadyfs_sync and unmount, and if room runs out.
  // With many small files it is faster than commits at each close.
  STEADYFS_COMMIT_ON_SYNC = (((1 | (1 << 7)) | (1 << 9)) | (1 << 10)),
  // Preset: every change is durable when its call returns.
  STEADYFS_COMMIT_EVERY_WRITE = 2047,
  // Preset: commits with steadyfs_commit only. A call for which the transaction has no room
  // is refused: see steadyfs_transaction_room.
  STEADYFS_COMMIT_MANUAL = 32768,
} steadyfs_commit_event;

// Place of the tags of pages on a card or a disk.
typedef enum steadyfs_tag_place {
  // Before each page, each in its own sector. Suits cards best.
  STEADYFS_TAGS_BESIDE = 0,
  // In a table at the start of each block. Pages are aligned, and each takes a second write.
  STEADYFS_TAGS_TABLE = 1,
  // In the last 32 bytes of each page, which holds 32 bytes less of data. An eighth more of
  // the device holds data, but the volume cannot be a disk of sectors. Suits data that is
  // written a page at a time or in order: writes of 4,096 bytes touch two pages.
  STEADYFS_TAGS_WITHIN = 2,
} steadyfs_tag_place;

// Kind of the object of a name: see steadyfs_info.
typedef enum steadyfs_type {
  // A file.
  STEADYFS_TYPE_REG = 1,
  // A directory.
  STEADYFS_TYPE_DIR = 2,
  // A symbolic link.
  STEADYFS_TYPE_LINK = 3,
  // A device, a pipe or a socket, in read-only images only.
  STEADYFS_TYPE_OTHER = 4,
} steadyfs_type;

// Events for an observer.
typedef enum steadyfs_event {
  // A file or directory was created.
  STEADYFS_EVENT_CREATED = 1,
  // A file's bytes or size, or attributes, were changed.
  STEADYFS_EVENT_UPDATED = 2,
  // A file or directory has another name.
  STEADYFS_EVENT_RENAMED = 3,
  // A file or directory was removed.
  STEADYFS_EVENT_REMOVED = 4,
  // All changes since the last commit were undone. The inode is 0.
  STEADYFS_EVENT_ROLLED_BACK = 5,
} steadyfs_event;

// Damage that a mount found, or later the write-back of a part of the map. The volume can only
// be read until steadyfs_fs_repair.
typedef enum steadyfs_damage_kind {
  // Nothing is missing.
  STEADYFS_DAMAGE_NONE = 0,
  // No copy of the newest root can be read. Changes that were committed since the root before
  // it may be missing.
  STEADYFS_DAMAGE_ROOT = 1,
  // A record since the newest root cannot be read any more.
  STEADYFS_DAMAGE_RECORD = 2,
  // The newest journal page cannot be read any more, and the small changes in it are missing.
  // On a volume with few files these may be all since the format.
  STEADYFS_DAMAGE_JOURNAL = 3,
  // A repair was begun and has not ended.
  STEADYFS_DAMAGE_REPAIR = 4,
  // A page of the file system's own tables cannot be read any more.
  STEADYFS_DAMAGE_TABLES = 5,
  // A leaf of the map cannot be read any more. Its pages give STEADYFS_ERR_CORRUPT until they
  // are written again.
  STEADYFS_DAMAGE_LEAF = 6,
  // Damage that this version of the header does not list.
  STEADYFS_DAMAGE_OTHER = 7,
} steadyfs_damage_kind;

// Kind of a finding of a check.
typedef enum steadyfs_finding_kind {
  // A page of the file system's own tables cannot be read. Mended: it is written again
  // without the unreadable part.
  STEADYFS_FINDING_UNREADABLE_TABLE = 1,
  // A page of a file or directory cannot be read. A page of a directory or an index is
  // mended. A page of data stays unreadable until it is written again.
  STEADYFS_FINDING_UNREADABLE_PAGE = 2,
  // An inode in use is invalid. Mended.
  STEADYFS_FINDING_BAD_INODE = 3,
  // The rest of a long name, or the attributes of a file, are missing. Mended: the file has
  // no attributes then, or another name.
  STEADYFS_FINDING_LOST_EXTENSION = 4,
  // A directory names something that is missing or is in another directory, or it names
  // something twice. Mended: the entry is removed.
  STEADYFS_FINDING_BAD_ENTRY = 5,
  // A directory's counts are wrong. Mended.
  STEADYFS_FINDING_WRONG_COUNT = 6,
  // No directory names a file or directory. Mended: it gets its name again, or `lost-` and
  // its number in the root.
  STEADYFS_FINDING_LOST = 7,
  // An inode is in use but marked as free. Mended.
  STEADYFS_FINDING_UNMARKED_INODE = 8,
  // An inode is taken but holds nothing. Mended.
  STEADYFS_FINDING_LEAKED_INODE = 9,
  // A page is taken but belongs to nothing. Mended.
  STEADYFS_FINDING_LEAKED_PAGE = 10,
  // A page belongs to a file but is marked as free. Mended.
  STEADYFS_FINDING_UNMARKED_PAGE = 11,
  // A page belongs to two files. Mended: the second file is empty then, and in the first file
  // the page cannot be read.
  STEADYFS_FINDING_SHARED_PAGE = 12,
  // Old data lies behind the end of a file. Mended: it is cut off.
  STEADYFS_FINDING_DIRTY_END = 13,
  // A list of removed files does not end. Mended: it is discarded.
  STEADYFS_FINDING_BAD_LIST = 14,
  // A finding that this version of the header does not list.
  STEADYFS_FINDING_OTHER = 15,
  // Small changes are lost. This file or directory may be in an earlier state.
  STEADYFS_FINDING_IN_DOUBT = 16,
  // Small changes are lost. Files may be missing with their names: at most `inode` of them.
  STEADYFS_FINDING_LOST_CHANGES = 17,
} steadyfs_finding_kind;

// Longest times of one operation of a NAND chip, transfer included, in nanoseconds. A time of
// more than 100 s is refused: STEADYFS_ERR_DRIVER. Times of 0 make bounds of 0.
//
// Every bound is computed from these numbers: use datasheet maxima for guarantees, typical
// values for expectations. If the bus has other users, add their longest transfer.
typedef struct steadyfs_nand_timing {
  // Read of a whole page and its tag.
  uint64_t read_ns;
  // Read of a tag alone.
  uint64_t read_tag_ns;
  // Program of a whole page and its tag.
  uint64_t program_ns;
  // Read of a tag followed by `copy`. If this is 0, or the driver has no `copy`: read_ns +
  // program_ns.
  uint64_t copy_ns;
  // Erase of a block.
  uint64_t erase_ns;
} steadyfs_nand_timing;

// A driver for raw NAND: erase blocks of program pages, each page with a tag of 16 bytes beside
// its data.
//
// The tag lies in user bytes of the spare area, where the ECC works. Pages of a block are
// programmed in ascending order (some may be skipped), each once per erase. An erased page
// reads as 0xFF in data and tag. Callbacks return STEADYFS_FAIL_NONE or another
// steadyfs_failure. They must not call the same volume, and must return: a longjmp out of a
// callback is undefined. The struct does not change from mount to unmount.
//
// Power loss: a page whose program is cut may hold any bytes afterwards, or read differently
// each time. So may any page of a block whose erase is cut. Every other page is unchanged. The
// same holds after a program or an erase that returned an error.
typedef struct steadyfs_nand {
  // Argument of every callback; may be null.
  void *context;
  // Data bytes of a program page, without the tag: a power of two, 256 to 16,384.
  uint32_t page_bytes;
  // Number of program pages in an erase block, 4 to 4,096.
  uint32_t pages_per_block;
  // Erase blocks of the chip: 16 to 1,048,576.
  uint32_t block_count;
  // The longest times of the operations.
  struct steadyfs_nand_timing timing;
  // Reads page_bytes of data and 16 bytes of tag. `page` is
  // `block * pages_per_block + page in block`. Returns STEADYFS_FAIL_UNCORRECTABLE or
  // STEADYFS_FAIL_DEVICE if it fails. Required.
  int (*read)(void *context, uint32_t page, void *data, uint8_t *tag);
  // Reads the tag of a page, and leaves the page in the chip's register for `copy`. Fails as
  // `read`. Required.
  int (*read_tag)(void *context, uint32_t page, uint8_t *tag);
  // Programs a page. `bytes` is page_bytes or less, and the rest stays erased. Returns
  // STEADYFS_FAIL_BAD_BLOCK if the chip reports a failure, STEADYFS_FAIL_WRITE_PROTECTED, or
  // STEADYFS_FAIL_DEVICE. Required.
  int (*program)(void *context, uint32_t page, const void *data, uint32_t bytes, const uint8_t *tag);
  // Erases a block. Fails as `program`. Required.
  int (*erase)(void *context, uint32_t block);
  // Returns 1 if the maker or `mark_bad` marked a block bad, and 0 for a good block. Returns
  // STEADYFS_FAIL_DEVICE if it fails. Takes no longer than `read_tag`. Required.
  int (*is_bad)(void *context, uint32_t block);
  // Marks a block bad for other users of the chip. Nothing in the block is needed any more.
  // Fails as `program`. Required.
  int (*mark_bad)(void *context, uint32_t block);
  // Makes durable the operations that the device answered before they were durable. Null if
  // the device has none.
  int (*sync)(void *context);
  // Programs the page that the `read_tag` just before left in the chip's register, with
  // another tag ("internal data move"). Fails as `program`. Null if the chip has no such
  // command.
  int (*copy)(void *context, uint32_t page, const uint8_t *tag);
  // Stores the number of bits that the ECC corrected in the read just before, in the worst
  // codeword. Also stores the number of bits that it can correct. Data that needed three
  // quarters of them is moved. Null if the chip does not report it.
  void (*corrected)(void *context, uint8_t *bits, uint8_t *strength);
} steadyfs_nand;

// A driver for raw NOR. Any bytes can be programmed once per erase. A program changes bits from
// 1 to 0, and an erase makes them 1 again.
//
// A chip with an ECC over several bytes, each programmed once, is no such medium. Callbacks and
// struct follow the rules of steadyfs_nand, and times the rules of steadyfs_nand_timing.
//
// Power loss: if a program is cut, any of the bits that it should clear may be cleared. In a
// block whose erase is cut, any bytes may be there.
typedef struct steadyfs_nor {
  // Argument of every callback; may be null.
  void *context;
  // Bytes of one erase: a power of two, 1,024 to 16 MiB. Chips with many small sectors are
  // grouped to larger blocks: see settings.group_sectors.
  uint32_t erase_bytes;
  // Erase sectors of the volume, together at most 4 GiB.
  uint32_t erase_count;
  // Bytes that the chip programs with one command: 256 on most chips. Bounds count programs
  // of this size.
  uint32_t program_page_bytes;
  // The longest time of a read command without its bytes, in nanoseconds.
  uint64_t read_ns;
  // Time to transfer a byte in a read, in nanoseconds, rounded up: 160 at 50 MHz and one data
  // line.
  uint32_t read_byte_ns;
  // Time to transfer a byte in a program, in nanoseconds, rounded up.
  uint32_t program_byte_ns;
  // The longest time of a program of one program page, without the transfer of its bytes, in
  // nanoseconds.
  uint64_t program_ns;
  // The longest time of an erase, in nanoseconds.
  uint64_t erase_ns;
  // Reads bytes. Returns STEADYFS_FAIL_DEVICE if it fails. Required.
  int (*read)(void *context, uint32_t address, void *data, uint32_t bytes);
  // Programs bytes. The callback splits them at the chip's program pages. A byte of 0xFF
  // leaves the present byte unchanged. A byte of 0 may be programmed over any byte. Returns
  // STEADYFS_FAIL_BAD_BLOCK if the chip or reading back shows a failure,
  // STEADYFS_FAIL_WRITE_PROTECTED, or STEADYFS_FAIL_DEVICE. Required.
  int (*program)(void *context, uint32_t address, const void *data, uint32_t bytes);
  // Erases the sector with the given index, from 0 on. Fails as `program`. Required.
  int (*erase)(void *context, uint32_t sector);
  // Makes durable the operations that the device answered before they were durable. Null if
  // the device has none.
  int (*sync)(void *context);
} steadyfs_nor;

// A piece of the bytes of a command. It is laid out as `struct iovec`, so that preadv and
// pwritev take it.
typedef struct steadyfs_part {
  // Address of the bytes. If the command writes, they are only read.
  void *data;
  // Number of the bytes; not always whole sectors.
  size_t bytes;
} steadyfs_part;

// A driver for a card or a disk: sectors of 512 bytes, read and written in any order. The
// device levels wear itself. It also replaces bad blocks, until it has no others.
//
// Callbacks and struct follow the rules of steadyfs_nand, and times the rules of
// steadyfs_nand_timing.
//
// Power loss: sectors that were written since the last `flush` may hold the old data, the
// written data, or anything. Every other sector is unchanged. The same holds for a write that
// returned an error.
typedef struct steadyfs_sectors {
  // Argument of every callback; may be null.
  void *context;
  // Sectors of the device.
  uint32_t sector_count;
  // First sector of the volume, at the start of an allocation unit. Usually 0, or the start
  // of a partition.
  uint32_t first;
  // Sectors of a block: an allocation unit of the card, or several. 0: chosen by the size. A
  // mount reads it from the medium.
  uint32_t block_sectors;
  // Bytes of a page: a power of two, 512 to 16,384. 0: 4,096. A mount reads it from the medium.
  uint32_t page_bytes;
  // Place of the tags: a value of enum steadyfs_tag_place. Default, 0: STEADYFS_TAGS_BESIDE.
  // A mount reads it from the medium.
  uint8_t tags;
  // True if the device keeps the order of its writes until a flush: a cut loses the last
  // writes, never an earlier one alone. False in doubt.
  bool keeps_order;
  // Time of a read without its sectors, in nanoseconds. Use a measured time if the
  // specification gives no maximum.
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
  // Reads sectors from `first` on, in one command. The bytes of the parts follow each other,
  // and together they are whole sectors. Returns STEADYFS_FAIL_UNCORRECTABLE or
  // STEADYFS_FAIL_DEVICE if it fails. Required.
  int (*read)(void *context, uint32_t first, const struct steadyfs_part *parts, uint32_t count);
  // Writes sectors from `first` on, in one command, with parts as in `read`. Required. If it
  // fails, it returns:
  // - STEADYFS_FAIL_BAD_BLOCK if the device answers twice that it cannot write these sectors,
  //   and no earlier write is lost. The volume never uses their block again.
  // - STEADYFS_FAIL_WRITE_PROTECTED if the device takes no writes at all any more.
  // - STEADYFS_FAIL_DEVICE for everything else. A driver may always return it.
  int (*write)(void *context, uint32_t first, const struct steadyfs_part *parts, uint32_t count);
  // Makes earlier writes durable. Null if the device answers writes only when they are
  // durable.
  int (*flush)(void *context);
  // Informs the device that the content of these sectors is not needed. Null if the device
  // has no such command. An error is ignored.
  int (*discard)(void *context, uint32_t first, uint32_t count);
} steadyfs_sectors;

// Settings of a volume, chosen when it is formatted, and stored on it. A mount uses
// `group_sectors` alone, and reads the others from the volume. `open_files` counts for
// steadyfs_memory_bytes only.
//
// The value 0 stands for the default of each setting. A struct of zeros suits most volumes.
typedef struct steadyfs_settings {
  // Number of program pages in a logical page: a power of two, 1 to 32. More: smaller map and
  // tables.
  // Less: cheaper rewrites of single program pages. Default: as many as make 4 KiB, if a
  // block holds at least 8 of these logical pages.
  uint16_t pages_per_logical_page;
  // Map changes kept in RAM, at least 40 more than transaction_pages, at most 8,192. More:
  // fewer programs per write and more usable space, for 4 bytes each (8 above 32,768 logical
  // pages). Default: by the medium's size, from 64 on.
  uint16_t overlay_entries;
  // Logical pages that one transaction may write, 2 to 1,024. More: larger transactions. With
  // less than 16 a single call may be refused. steadyfs_transaction_room returns the bytes.
  // Default: 16, or 32 on most media of 3,072 to 8,191 logical pages. On sectors: 16 to 256.
  uint16_t transaction_pages;
  // Programs between two roots, 16 to 4,096. More: fewer programs per write. Less: a faster
  // mount after a power cut. Default: by the medium's size, from 32 on.
  uint16_t checkpoint_programs;
  // Blocks that may be bad, factory and grown together, before the volume shrinks with each
  // further one. STEADYFS_NO_BAD_BLOCKS: none. Default: a fiftieth of the blocks of NAND, a
  // two-hundredth of NOR, from 2 on; none on sectors.
  uint16_t bad_blocks_max;
  // Most files and directories, up to 1,048,576. A name of more than 64 bytes, and the
  // attributes of a file, count as one each. Default: one for each two logical pages, or more
  // if these are few; 64 to 65,536.
  uint32_t files_max;
  // Largest allowed difference between the erase counts of two blocks, 8 to 200. Less: more
  // moves of data at rest. STEADYFS_NONE if the device levels wear itself. Default: 32; none
  // on sectors.
  uint8_t wear_spread;
  // Program failures that one call survives by writing elsewhere, up to 8; STEADYFS_NONE:
  // none. Default: 2; 1 on sectors.
  uint8_t failures;
  // Most bytes of a name, 1 to 255. It changes no table. Default: 255.
  uint8_t name_bytes_max;
  // Streams, 1 to 4: see STEADYFS_O_STREAM. Each but the first takes the room of one block.
  // Default: 1.
  uint8_t streams;
  // Number of program pages that reclamation moves in one command, 1 to 64, for devices that
  // level wear themselves. Default: 1; up to 16 on sectors.
  uint8_t move_group;
  // On NOR: bytes of each page of the map that are kept free for later changes, 48 to 240.
  // Default: 96, or 192 if these make more of the medium usable.
  uint8_t leaf_log_bytes;
  // On NOR: program pages of the journal's buffer, 1 to 16 and at most 4,096 bytes. Default:
  // as many pages as hold 512 bytes, or 2,048 bytes if blocks are large.
  uint8_t journal_pages;
  // True if files and directories have room for mode, owner and group. Default: false.
  bool permissions;
  // True if pages that reclamation moves stay in blocks of their stream. Default: false.
  bool moved_apart;
  // True if the volume itself finds the pages that belong to one stream. It takes 772 bytes
  // of RAM. Default: false.
  bool auto_streams;
  // On NOR: erase sectors of a block, a power of two. Default: the fewest sectors with which the
  // default settings fit, whatever the other settings here are. Larger pages_per_logical_page or
  // more overlay_entries than the defaults may need more sectors
  // (STEADYFS_ERR_CONFIG_UNIT_PAGES, STEADYFS_ERR_CONFIG_BLOCK_TOO_SMALL). A mount needs the
  // number of the format. With another number it finds no volume: STEADYFS_ERR_GEOMETRY.
  uint16_t group_sectors;
  // Files that may be open at once, for steadyfs_memory_bytes. Default: 8. Each further file
  // takes 12 bytes of memory.
  uint16_t open_files;
} steadyfs_settings;

// Configuration for steadyfs_format and steadyfs_mount. A struct of zeros with a driver and
// memory is complete.
//
// The driver's struct and the memory must stay until the unmount. This struct need not.
typedef struct steadyfs_config {
  // The driver of a NAND chip. One of the three drivers is given, and the others are null.
  const struct steadyfs_nand *nand;
  // The driver of a NOR chip. One of the three drivers is given, and the others are null.
  const struct steadyfs_nor *nor;
  // The driver of a card or a disk. One of the three drivers is given, and the others are
  // null.
  const struct steadyfs_sectors *sectors;
  // All the RAM that the volume uses beside steadyfs_t, with any alignment. It belongs to one
  // volume until the unmount.
  void *memory;
  // Bytes of `memory`. steadyfs_memory_bytes returns a size with room for 8 open files, or
  // for settings.open_files if these are more. Each further open file takes 12 bytes more.
  // With less, format and mount take fewer open files, down to none. If the rest does not
  // fit, they return STEADYFS_ERR_NOMEM.
  size_t memory_bytes;
  // Memory for pages that are written in part, or null. The pages wait there for the commit,
  // and cost one program however often they are written. Default: null, every such write is
  // programmed.
  void *cache;
  // Bytes of `cache`: see steadyfs_cache_bytes.
  size_t cache_bytes;
  // Memory for pages that are read again and again, such as pages of directories, or null.
  // Default: null, they are read from the medium each time.
  void *read_cache;
  // Bytes of `read_cache`: see steadyfs_read_cache_bytes.
  size_t read_cache_bytes;
  // True to mount for reading: nothing is ever programmed or erased. Default: false, for
  // reading and writing.
  bool read_only;
  // True if steadyfs_file_read does not verify the checksums of the data. The volume's own
  // tables are still verified. For flash behind an ECC: it saves nine tenths of a long read's
  // instructions. Default: false, everything is verified.
  bool trust_data;
  // Events after which the volume commits: of enum steadyfs_commit_event. Default, 0:
  // STEADYFS_COMMIT_ON_CLOSE. For no events: STEADYFS_COMMIT_MANUAL.
  uint16_t commit_on;
  // With STEADYFS_COMMIT_MANY: number of changing calls after which the volume commits.
  // Default, 0: no limit.
  uint32_t commit_changes;
  // With STEADYFS_COMMIT_MANY: number of written bytes after which the volume commits.
  // Default, 0: no limit.
  uint32_t commit_bytes;
  // With STEADYFS_COMMIT_TIMED: the longest time that a change waits for a commit, in the
  // unit of steadyfs_set_time. Default, 0: one second in nanoseconds.
  uint64_t commit_interval_ns;
  // Settings of the volume, for the format.
  struct steadyfs_settings settings;
} steadyfs_config;

// A volume, in memory of the caller. This struct gives C its size and alignment.
//
// The memory may hold any bytes before steadyfs_mount. Zeros are no mounted volume: a call
// before the mount is refused. The struct must not move while it is mounted. Volumes are
// independent of each other. Each takes one call at a time: several threads need a mutex.
typedef struct steadyfs_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_POINTERS];
} steadyfs_t;

// Properties of a file, directory or link.
typedef struct steadyfs_info {
  // A value of enum steadyfs_type.
  uint8_t type;
  // Number of the file or directory, which it keeps for its life.
  uint32_t inode;
  // The directory that contains it. The parent of the root is the root.
  uint32_t parent;
  // Distinguishes files that had the same number one after the other.
  uint32_t generation;
  // Directories that a directory holds.
  uint32_t subdirectories;
  // Bytes of a file, or of the target of a link; entries of a directory.
  uint64_t size;
  // Time of the last change, as set by steadyfs_set_time. 0 if no time was set.
  uint64_t modified_ns;
  // Its name, ended by a NUL. `/` for the root. Empty if the path ended with `..`.
  char name[256];
} steadyfs_info;

// Mode, owner and group of a file or directory. The file system does not enforce them: the
// caller grants access.
typedef struct steadyfs_permissions {
  // The twelve bits of chmod.
  uint16_t mode;
  // The owner.
  uint32_t uid;
  // The group.
  uint32_t gid;
} steadyfs_permissions;

// An open file, in memory of the caller. The memory may hold any bytes before
// steadyfs_file_open.
//
// A change through one handle of a file is visible through its other handles. A file that is
// renamed or removed stays the same file for its handles. A handle that is not closed keeps its
// place in the table of open files until the unmount.
typedef struct steadyfs_file_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_FILE_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_FILE_POINTERS];
} steadyfs_file_t;

// An open directory, in memory of the caller. It takes no place in a table, and need not be
// closed.
typedef struct steadyfs_dir_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_DIR_WORDS];
} steadyfs_dir_t;

// Memory of the caller for an observer. It stays until the unmount.
typedef struct steadyfs_observer_t {
  // Not for the caller.
  size_t opaque[STEADYFS_OBSERVER_WORDS];
} steadyfs_observer_t;

// Properties and use of a volume.
typedef struct steadyfs_fsinfo {
  // Version of the format on the medium.
  uint32_t disk_version;
  // Unit of allocation in bytes: a logical page.
  uint32_t block_size;
  // Logical pages that may hold data: usable_bytes / block_size.
  uint32_t block_count;
  // Most bytes of a name.
  uint32_t name_max;
  // Most bytes of a file.
  uint64_t file_max;
  // Most bytes of all attributes of a file together, two for each beside key and value.
  uint32_t attr_max;
  // Most files and directories.
  uint32_t files_max;
  // Number of files, directories, long names and sets of attributes.
  uint32_t files;
  // Room for data in bytes, taken and free together.
  uint64_t usable_bytes;
  // Taken room in bytes. It includes the pages of removed files, though writes find them: see
  // steadyfs_fs_free.
  uint64_t used_bytes;
} steadyfs_fsinfo;

// Health of the medium.
typedef struct steadyfs_health_info {
  // True if the volume can only be read, for any reason.
  bool read_only;
  // True if so many blocks are bad that the content does not leave the room that reclamation
  // needs.
  bool worn_out;
  // Wrong bits in the worst correction since the mount.
  uint8_t worst_bits;
  // Bits that can be corrected; 0 if the driver does not report them.
  uint8_t worst_strength;
  // Bad blocks, including factory bad blocks.
  uint32_t bad_blocks;
  // Blocks that may still go bad before the volume shrinks.
  uint32_t spare_blocks;
  // Blocks whose data must move because their pages needed many corrections.
  uint32_t weak_blocks;
  // Erases of the least worn block since the first format.
  uint32_t erases_min;
  // Erases of the most worn block.
  uint32_t erases_max;
  // Number of blocks that erases_total counts.
  uint32_t blocks;
  // Erases of all blocks in use.
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
  // A value of enum steadyfs_finding_kind.
  uint8_t kind;
  // The file or directory; 0 if there is none. For LOST_CHANGES a number of inodes.
  uint32_t inode;
  // The directory whose entry or count is wrong; 0 if there is none.
  uint32_t directory;
  // The logical page; 0 if there is none.
  uint32_t page;
} steadyfs_finding;

// Extent and result of a check.
typedef struct steadyfs_checked {
  // Files.
  uint32_t files;
  // Directories, the root included.
  uint32_t directories;
  // Logical pages of files and directories.
  uint32_t pages;
  // Pages of files' data that cannot be read.
  uint32_t unreadable;
  // Findings, including mended ones.
  uint32_t findings;
  // Findings that were mended.
  uint32_t mended;
} steadyfs_checked;

// The worst case of a call that is made now, if no program fails.
//
// The time is the time of the longest case. The counts are the most of each operation,
// which no single case has together.
typedef struct steadyfs_cost {
  // Reads of whole pages.
  uint32_t reads;
  // Reads of tags alone.
  uint32_t tag_reads;
  // Programs of pages.
  uint32_t programs;
  // Programs of a page that the chip already holds: `copy` of a driver.
  uint32_t copies;
  // Erases of blocks.
  uint32_t erases;
  // Time by the driver's timing, in nanoseconds.
  uint64_t time_ns;
} steadyfs_cost;

// An open file that may be compressed, in memory of the caller. The memory may hold any bytes
// before steadyfs_packed_open.
//
// The handle keeps the chunk that it decoded last. If another handle has changed the file,
// close it and open it again.
typedef struct steadyfs_packed_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_PACKED_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_PACKED_POINTERS];
} steadyfs_packed_t;

// Configuration for steadyfs_rom_mount: the place of the image, and memory. A struct of zeros
// with both is complete.
//
// Image, driver and memory must stay until the unmount. This struct need not. An image is read
// through a driver's `read` and `is_bad` alone, but the other callbacks must be there.
typedef struct steadyfs_rom_config {
  // An image that the processor reads as memory: linked into the firmware, or on mapped
  // flash. One of `image`, `nor` and `nand` is given, and the others are null.
  const void *image;
  // Bytes of `image`. The image may be shorter.
  size_t image_bytes;
  // The driver of the NOR chip with the plain bytes of the image. One of `image`, `nor` and
  // `nand` is given, and the others are null.
  const struct steadyfs_nor *nor;
  // Address of the image's first byte on NOR.
  uint32_t nor_address;
  // Bytes from `nor_address` on. The image may be shorter. Default, 0: up to the end of the
  // chip.
  uint32_t nor_bytes;
  // The driver of the NAND chip with the image behind its header, from steady pack
  // --read-only --device or from steadyfs_rom_install_begin. For an image in a part of a
  // chip, the driver counts blocks from there. One of `image`, `nor` and `nand` is given, and
  // the others are null.
  const struct steadyfs_nand *nand;
  // On NAND: most bad blocks among the blocks of the image. More: 4 bytes of memory each.
  // STEADYFS_NO_BAD_BLOCKS: none. Default, 0: a fiftieth of the blocks of the chip, 2 to 200.
  uint16_t bad_blocks_max;
  // With a public key: number of blocks of the hash tree that are kept, 1 to 8. More: fewer
  // reads and hashes. Default, 0: one for each level of the tree.
  uint8_t hash_blocks;
  // Memory that is used beside steadyfs_rom_t, with any alignment. It belongs to one image
  // until the unmount.
  void *memory;
  // Bytes of `memory`: at least steadyfs_rom_memory_bytes. More memory keeps blocks of names
  // and inodes, up to 16 of them.
  size_t memory_bytes;
  // Memory for pieces of the image that are read again and again, or null. It helps if names
  // and inodes are uncompressed (steady pack --plain-metadata), or if flash is slow. Default:
  // null, they are read from the medium each time.
  void *cache;
  // Bytes of `cache`: see steadyfs_rom_cache_bytes.
  size_t cache_bytes;
  // Bytes of a piece of the cache. Default, 0: a page of the NAND chip, or 512 on other
  // media.
  uint32_t cache_piece_bytes;
  // The Ed25519 key of 32 bytes with which the image must be signed (steady keygen, steady
  // pack --sign), or null. With a key, every block is verified each time that it is read. A
  // build without the feature rom-verify refuses a key with STEADYFS_ERR_UNSUPPORTED.
  // Default: null, nothing is verified.
  const uint8_t *public_key;
} steadyfs_rom_config;

// A read-only image, in memory of the caller. The memory may hold any bytes before
// steadyfs_rom_mount.
//
// Zeros are no mounted image: a call before the mount is refused. The struct must not move
// while it is mounted. An image takes one call at a time: several threads need a mutex. No call
// changes anything on the medium: power may fail in each, and a failed call may be repeated.
//
// Paths are names joined by '/', of any bytes. `.` and `..` are ordinary names, and symbolic
// links are not followed.
typedef struct steadyfs_rom_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_ROM_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_ROM_POINTERS];
} steadyfs_rom_t;

// An open file of an image, in memory of the caller. The memory may hold any bytes before
// steadyfs_rom_file_open. The file takes no place in a table, and need not be closed.
typedef struct steadyfs_rom_file_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_ROM_FILE_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_ROM_FILE_POINTERS];
} steadyfs_rom_file_t;

// An open directory of an image, in memory of the caller. It takes no place in a table, and
// need not be closed.
typedef struct steadyfs_rom_dir_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_ROM_DIR_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_ROM_DIR_POINTERS];
} steadyfs_rom_dir_t;

// The worst case of a call of an image: time of the medium, and work of the processor. The work
// is counted in bytes, each of which takes some cycles.
typedef struct steadyfs_rom_cost {
  // Time of the medium by the driver's timing, in nanoseconds; 0 if the image lies in memory.
  uint64_t flash_ns;
  // Bytes that are decoded.
  uint64_t decoded_bytes;
  // Bytes that are hashed: 0 without a key.
  uint64_t hashed_bytes;
} steadyfs_rom_cost;

// An image that is being written to NAND, in memory of the caller. The memory may hold any
// bytes before steadyfs_rom_install_begin.
//
// Power loss: the header, which locates the image, is erased first and written last. A cut
// during steadyfs_rom_install_begin leaves the earlier image or none. Then there is no image
// until steadyfs_rom_install_finish, and the whole new image after it. An installation that was
// cut must begin again. If one image must exist at any time, use two ranges of blocks for two
// images, each with a driver that counts from there.
typedef struct steadyfs_rom_install_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_ROM_INSTALL_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_ROM_INSTALL_POINTERS];
} steadyfs_rom_install_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the English text of an error code. The text stays valid.
//
// `code`: the result of a call. Numbers that are no errors give "no error".
const char *steadyfs_error_string(int code);

// Returns the bytes of memory that a volume needs, or an error: STEADYFS_ERR_DRIVER, or
// STEADYFS_ERR_CONFIG... for an invalid setting. Ignores the fields for memory. Calls no
// callback of the driver.
ptrdiff_t steadyfs_memory_bytes(const struct steadyfs_config *config);

// Returns the bytes that a cache of `pages` logical pages needs, or an error as
// steadyfs_memory_bytes does.
ptrdiff_t steadyfs_cache_bytes(const struct steadyfs_config *config, size_t pages);

// Returns the bytes that a cache of `pages` program pages for reads needs, or an error as
// steadyfs_memory_bytes does.
ptrdiff_t steadyfs_read_cache_bytes(const struct steadyfs_config *config, size_t pages);

// Returns the bytes of scratch memory that steadyfs_fs_check and steadyfs_fs_repair need, or an
// error as steadyfs_memory_bytes does.
ptrdiff_t steadyfs_check_bytes(const struct steadyfs_config *config);

// Stores all settings, with the defaults for fields that are 0. Returns 0, or an error as
// steadyfs_memory_bytes does.
int steadyfs_settings_of(const struct steadyfs_config *config, struct steadyfs_settings *settings);

// Stores the best settings for which steadyfs_memory_bytes is at most `memory_bytes`. It
// replaces only settings that are 0. With more memory than the defaults need, NOR gets longer
// buffers of the journal and smaller logical pages. With less memory, it saves first on parts
// that small changes need least. If no settings fit, it stores the smallest: compare
// steadyfs_memory_bytes with them. Memory that is left is best lent as a cache. Returns 0, or
// an error as steadyfs_memory_bytes does.
int steadyfs_settings_for(const struct steadyfs_config *config, size_t memory_bytes, struct steadyfs_settings *settings);

// Makes an empty volume on a medium. Everything on the medium is lost. `fs` contains no volume
// afterwards.
//
// Power loss: after a cut neither the new volume nor an earlier one is reliable. Format again.
// Cost: for each block a check of its mark and one read; also some sixteen erases and a few
// programs. Errors: the errors of steadyfs_memory_bytes, STEADYFS_ERR_NOMEM,
// STEADYFS_ERR_BADBLOCKS, STEADYFS_ERR_IO and other errors of the medium.
int steadyfs_format(struct steadyfs_t *fs, const struct steadyfs_config *config);

// Mounts a volume. `fs` and the memory of the configuration belong to the volume until
// steadyfs_unmount.
//
// A volume that is not unmounted is in the same state as after a power cut. Its memory may then
// be used for something else, and the volume may be mounted again.
//
// Power loss: power may fail during a mount, any number of times. Cost: bounded, and
// independent of the number of files: see steadyfs_bound_mount. Errors:
// STEADYFS_ERR_NOTFORMATTED, the only error that is a reason to format; STEADYFS_ERR_GEOMETRY,
// STEADYFS_ERR_VERSION, STEADYFS_ERR_NOROOT, STEADYFS_ERR_ISDISK, STEADYFS_ERR_NOMEM,
// STEADYFS_ERR_DRIVER, and the errors of the medium. If committed data is lost, the volume is
// mounted for reading: see steadyfs_damage.
//
// The division of the medium must be the same as at the format. On NOR it is erase_bytes and
// settings.group_sectors, even if the format chose group_sectors. On NAND it is page_bytes, and
// on sectors `first`. With another division the mount does not find the volume. On NOR it then
// returns STEADYFS_ERR_GEOMETRY, while the first block can be read. On NAND and on sectors it
// returns STEADYFS_ERR_NOTFORMATTED. Keep these numbers from one firmware to the next, or look
// for the old division before you format.
int steadyfs_mount(struct steadyfs_t *fs, const struct steadyfs_config *config);

// Ends the use of a volume. Commits if STEADYFS_COMMIT_UNMOUNT is chosen, which is the default.
// The next mount then searches nothing and programs nothing. Files need not be closed. `fs`
// contains no volume afterwards, even after an error. Committed data stays.
//
// Power loss: committed data stays. Cost: a commit and a root: see steadyfs_bound_unmount.
// Errors: the errors of a commit.
int steadyfs_unmount(struct steadyfs_t *fs);

// Removes a file, a link or an empty directory. It frees up to eight pages that follow each
// other at once. Later calls free the other pages of a larger file, a few each. A file that is
// open stays until it is closed.
//
// Power loss: the file is there until the next commit. Cost: steadyfs_bound_remove, for any
// size. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTEMPTY, STEADYFS_ERR_NOTDIR,
// STEADYFS_ERR_INVAL.
int steadyfs_remove(struct steadyfs_t *fs, const char *path);

// Renames or moves a file or directory. It replaces an object that has the new name: a file by
// a file, an empty directory by a directory.
//
// Power loss: before the next commit everything is as before. There is no moment at which
// neither or both names are there. Cost: steadyfs_bound_rename. Errors: STEADYFS_ERR_NOENT,
// STEADYFS_ERR_ISDIR, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_NOTEMPTY, STEADYFS_ERR_INTOITSELF,
// STEADYFS_ERR_INVAL, STEADYFS_ERR_NAMETOOLONG, STEADYFS_ERR_NOSPC.
int steadyfs_rename(struct steadyfs_t *fs, const char *from, const char *to);

// Exchanges two names of files or directories. So a tree that was written beside another takes
// its place in one step. A second exchange takes the old tree back.
//
// Power loss: before the next commit everything is as before. There is no moment at which one
// of the names is missing. Cost: steadyfs_bound_exchange. Errors: STEADYFS_ERR_NOENT,
// STEADYFS_ERR_NOTDIR, STEADYFS_ERR_INTOITSELF if one contains the other, STEADYFS_ERR_INVAL.
int steadyfs_exchange(struct steadyfs_t *fs, const char *one, const char *other);

// Stores the properties of a file or directory.
//
// Cost: steadyfs_bound_stat. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR,
// STEADYFS_ERR_NAMETOOLONG.
int steadyfs_stat(struct steadyfs_t *fs, const char *path, struct steadyfs_info *info);

// Reads an attribute of a file or directory: a small value with a name, its key. Returns the
// length of the value. The buffer contains as much of it as fits.
//
// Cost: steadyfs_bound_getattr. Errors: STEADYFS_ERR_NOATTR, STEADYFS_ERR_NOENT, and the errors
// of a path.
ptrdiff_t steadyfs_getattr(struct steadyfs_t *fs, const char *path, const char *key, void *buffer, size_t size);

// Sets an attribute of a file or directory. All attributes of one file together take up to 248
// bytes, two for each beside key and value.
//
// Power loss: the attribute is part of the open transaction, as data is. The event
// STEADYFS_COMMIT_WRITE commits it. Cost: steadyfs_bound_setattr. Errors:
// STEADYFS_ERR_ATTRIBUTES, STEADYFS_ERR_INVAL for an empty key, STEADYFS_ERR_TOOMANYFILES,
// STEADYFS_ERR_NOENT, and the errors of a path.
int steadyfs_setattr(struct steadyfs_t *fs, const char *path, const char *key, const void *buffer, size_t size);

// Removes an attribute. Power loss, cost: as steadyfs_setattr. Errors: STEADYFS_ERR_NOATTR,
// STEADYFS_ERR_NOENT, and the errors of a path.
int steadyfs_removeattr(struct steadyfs_t *fs, const char *path, const char *key);

// Makes a symbolic link with `target`, any text of one logical page at most. The file system
// stores links and follows none.
//
// Power loss: the whole link is there after the next commit. Cost: steadyfs_mkdir and a write.
// Errors: as steadyfs_mkdir.
int steadyfs_symlink(struct steadyfs_t *fs, const char *target, const char *path);

// Reads the target of a symbolic link, without a NUL. Returns its length. The buffer contains
// as much of it as fits.
//
// Cost: steadyfs_bound_stat and a read. Errors: STEADYFS_ERR_NOTALINK, and the errors of a
// path.
ptrdiff_t steadyfs_readlink(struct steadyfs_t *fs, const char *path, void *buffer, size_t size);

// Reads the permissions of a file or directory. Returns 1, or 0 if none were set or the volume
// stores none.
//
// Cost: twice steadyfs_bound_stat. Errors: the errors of a path.
int steadyfs_getpermissions(struct steadyfs_t *fs, const char *path, struct steadyfs_permissions *permissions);

// Sets the permissions of a file or directory. Power loss, cost: as steadyfs_setattr. Errors:
// STEADYFS_ERR_UNSUPPORTED if the volume stores none, and the errors of a path.
int steadyfs_setpermissions(struct steadyfs_t *fs, const char *path, const struct steadyfs_permissions *permissions);

// Opens a file. `flags`: STEADYFS_O_..., joined by |, with at least one of RDONLY, WRONLY and
// RDWR.
//
// Power loss: a created file is there after the next commit, and a cut file is cut. Cost:
// steadyfs_bound_file_open. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_EXIST, STEADYFS_ERR_ISDIR,
// STEADYFS_ERR_ISALINK, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_INVAL, STEADYFS_ERR_NAMETOOLONG,
// STEADYFS_ERR_NOTUTF8, STEADYFS_ERR_NOTWRITABLE if flags contradict each other,
// STEADYFS_ERR_TOOMANYOPEN, STEADYFS_ERR_TOOMANYFILES, STEADYFS_ERR_NOSPC.
int steadyfs_file_open(struct steadyfs_t *fs, struct steadyfs_file_t *file, const char *path, int flags);

// Opens a file by its inode (steadyfs_info), whatever its name is now. Otherwise as
// steadyfs_file_open.
int steadyfs_file_open_inode(struct steadyfs_t *fs, struct steadyfs_file_t *file, uint32_t inode, int flags);

// Closes a file. Commits if STEADYFS_COMMIT_CLOSE is chosen, which is the default, and the
// handle may write. The handle is closed even after an error.
//
// Power loss: as in steadyfs_commit, if it commits. Cost: steadyfs_bound_file_close. Errors:
// STEADYFS_ERR_BADF, and the errors of a commit.
int steadyfs_file_close(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Makes the changes of a file durable, and all other changes with them, if
// STEADYFS_COMMIT_FSYNC is chosen, which is the default.
//
// Power loss: all changes since the last commit are there, or none. Cost:
// steadyfs_bound_commit. Errors: STEADYFS_ERR_BADF, and the errors of a commit.
int steadyfs_file_sync(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Reads from the position on, and moves the position. Returns the number of bytes, less than
// `size` only at the end of the file.
//
// Cost: steadyfs_bound_file_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOTREADABLE,
// STEADYFS_ERR_STALE, STEADYFS_ERR_CORRUPT.
ptrdiff_t steadyfs_file_read(struct steadyfs_t *fs, struct steadyfs_file_t *file, void *buffer, size_t size);

// Writes at the position, or with STEADYFS_O_APPEND at the end, and moves the position behind
// the written bytes. Returns `size`. The file grows if needed. A gap reads as zeros.
//
// A write of more than one logical page consists of several writes. If one of them fails, the
// earlier ones have taken effect, and the position stays.
//
// Power loss: nothing of the write is there before the next commit. With STEADYFS_O_DURABLE
// each logical page is a commit. Cost: steadyfs_bound_file_write. Errors: STEADYFS_ERR_BADF,
// STEADYFS_ERR_NOTWRITABLE, STEADYFS_ERR_NOSPC, STEADYFS_ERR_FBIG, STEADYFS_ERR_TRANSACTION,
// STEADYFS_ERR_STALE, STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING, STEADYFS_ERR_UNKNOWN.
ptrdiff_t steadyfs_file_write(struct steadyfs_t *fs, struct steadyfs_file_t *file, const void *buffer, size_t size);

// Moves the position, also behind the end of the file. `whence`: STEADYFS_SEEK_SET, CUR or END.
// Returns the new position.
//
// Cost: nothing; with STEADYFS_SEEK_END perhaps a lookup of the inode. Errors:
// STEADYFS_ERR_BADF, STEADYFS_ERR_INVAL for a position before the start or an unknown `whence`,
// STEADYFS_ERR_FBIG for a position that no file reaches.
int64_t steadyfs_file_seek(struct steadyfs_t *fs, struct steadyfs_file_t *file, int64_t offset, int whence);

// Cuts a file, or extends it with zeros. The position stays.
//
// Power loss: the old size or the new one. Cost: steadyfs_bound_file_truncate, for any sizes.
// Errors: as steadyfs_file_write; STEADYFS_ERR_UNSUPPORTED in a build without the feature
// `truncate`.
int steadyfs_file_truncate(struct steadyfs_t *fs, struct steadyfs_file_t *file, uint64_t size);

// Returns the position. Costs nothing. Errors: STEADYFS_ERR_BADF.
int64_t steadyfs_file_tell(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Moves the position to the start. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_file_rewind(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Returns the size of a file in bytes. Cost: nothing, or a lookup of the inode. Errors:
// STEADYFS_ERR_BADF, STEADYFS_ERR_STALE.
int64_t steadyfs_file_size(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Reserves room for the bytes `from` to `to` of a file, so that writes there cannot fail for
// lack of room. The size of the file stays.
//
// Takes pages that follow each other, and returns the position up to which there is room now.
// Call it again from this position until it returns `to` or more.
//
// Power loss: the room is reserved after the next commit. Cost: steadyfs_bound_file_write of 65
// bytes. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOSPC, STEADYFS_ERR_FBIG,
// STEADYFS_ERR_NOTWRITABLE, STEADYFS_ERR_STALE.
int64_t steadyfs_file_reserve(struct steadyfs_t *fs, struct steadyfs_file_t *file, uint64_t from, uint64_t to);

// Returns the inode of a file: the number that it keeps for its life. Costs nothing. Errors:
// STEADYFS_ERR_BADF.
int64_t steadyfs_file_inode(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Makes a directory.
//
// Power loss: the directory is there after the next commit. Cost: steadyfs_bound_mkdir. Errors:
// STEADYFS_ERR_EXIST, STEADYFS_ERR_NOENT if a directory of the path is missing,
// STEADYFS_ERR_NOTDIR, STEADYFS_ERR_INVAL, STEADYFS_ERR_NAMETOOLONG, STEADYFS_ERR_TOOMANYFILES,
// STEADYFS_ERR_NOSPC.
int steadyfs_mkdir(struct steadyfs_t *fs, const char *path);

// Opens a directory.
//
// Cost: steadyfs_bound_stat. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR.
int steadyfs_dir_open(struct steadyfs_t *fs, struct steadyfs_dir_t *dir, const char *path);

// Closes a directory. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_dir_close(struct steadyfs_t *fs, struct steadyfs_dir_t *dir);

// Reads the next entry of a directory. Returns 1, or 0 at the end. There are no entries `.` and
// `..`. An entry that exists from the first call to the last is returned once, whatever is
// created and removed meanwhile. Entries come in the order of a hash.
//
// Cost: steadyfs_bound_dir_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOENT if the directory
// was removed, STEADYFS_ERR_CORRUPT.
int steadyfs_dir_read(struct steadyfs_t *fs, struct steadyfs_dir_t *dir, struct steadyfs_info *info);

// Moves to a place that steadyfs_dir_tell returned, in this or an earlier mount. Costs nothing.
// Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_INVAL.
int steadyfs_dir_seek(struct steadyfs_t *fs, struct steadyfs_dir_t *dir, int64_t place);

// Returns the place in a directory. It stays valid after any change of the directory. Costs
// nothing. Errors: STEADYFS_ERR_BADF.
int64_t steadyfs_dir_tell(struct steadyfs_t *fs, struct steadyfs_dir_t *dir);

// Moves to the start of a directory. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_dir_rewind(struct steadyfs_t *fs, struct steadyfs_dir_t *dir);

// Makes all changes durable, with any chosen events.
//
// Power loss: all changes since the last commit are there, across files and directories, or
// none. Cost: steadyfs_bound_commit; nothing if nothing has changed. Errors: STEADYFS_ERR_IO,
// STEADYFS_ERR_CORRUPT, STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING,
// STEADYFS_ERR_TRANSACTION, STEADYFS_ERR_UNKNOWN.
int steadyfs_commit(struct steadyfs_t *fs);

// Commits as steadyfs_commit, if STEADYFS_COMMIT_SYNC is chosen, which is the default.
int steadyfs_sync(struct steadyfs_t *fs);

// Undoes all changes since the last commit. Handles of files that were created since then
// become stale: STEADYFS_ERR_STALE.
//
// Power loss: a cut undoes the same changes. Cost: a read of the journal page (on NOR, of all
// records of its block), reads of the allocation map, and two lookups for each open file.
// Errors: STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT, STEADYFS_ERR_UNKNOWN. After an error nothing
// has changed.
int steadyfs_rollback(struct steadyfs_t *fs);

// Returns 1 if changes wait for a commit, else 0. Costs nothing.
int steadyfs_has_changes(struct steadyfs_t *fs);

// Returns the number of bytes that one write or append surely takes before the open transaction
// is full. After steadyfs_commit this is the room of a whole transaction.
//
// A call that does not fit is refused with STEADYFS_ERR_TRANSACTION, and nothing has changed.
// With STEADYFS_COMMIT_FULL the volume commits instead. All presets but STEADYFS_COMMIT_MANUAL
// contain it. More transaction_pages give more room. Costs nothing. Errors: the errors of a
// wrong handle.
int64_t steadyfs_transaction_room(struct steadyfs_t *fs);

// Chooses the events after which the volume commits: see commit_on of steadyfs_config. Costs
// nothing. Errors: STEADYFS_ERR_INVAL.
int steadyfs_set_commit_on(struct steadyfs_t *fs, uint16_t commit_on);

// Sets the volume's time: nanoseconds since 1970, or of any clock that does not go back. The
// volume stamps changes with it. Without it, changes have no stamp, and an overwrite through a
// durable handle costs one program less. Costs nothing.
int steadyfs_set_time(struct steadyfs_t *fs, uint64_t now_ns);

// Sets the time, and makes the commit of STEADYFS_COMMIT_TIMED if it is due. Returns the time
// of the next call, or 0 if nothing waits.
//
// Power loss, cost, errors: as steadyfs_commit, if it commits.
int64_t steadyfs_poll(struct steadyfs_t *fs, uint64_t now_ns);

// Calls `changed` for every change of the volume, in the call that makes it and after the
// change. `changed` must not call the volume. A later observer replaces an earlier one. No
// bound includes its time. Errors: STEADYFS_ERR_INVAL.
int steadyfs_observe(struct steadyfs_t *fs,
                     struct steadyfs_observer_t *observer,
                     void (*changed)(void *context, int event, uint32_t inode),
                     void *context);

// Stores the properties and the use of a volume. Costs nothing.
int steadyfs_fs_stat(struct steadyfs_t *fs, struct steadyfs_fsinfo *info);

// Returns the taken bytes, as used_bytes of steadyfs_fsinfo. littlefs counts blocks here. Costs
// nothing.
int64_t steadyfs_fs_size(struct steadyfs_t *fs);

// Returns the bytes of all free pages, and of the pages that removed files still hold. It is 0
// if no write finds a page. It includes pages that keep track of data, so one file may get
// less: see steadyfs_fs_available. Cost: two lookups for each removed file that still holds
// pages, and one at each page of its indexes.
int64_t steadyfs_fs_free(struct steadyfs_t *fs);

// Returns the bytes that the next writes to one file get for certain. These are the free pages
// and the pages that removed files still hold, less the pages that keep track of them. Cost: as
// steadyfs_fs_free.
int64_t steadyfs_fs_available(struct steadyfs_t *fs);

// Prepares the volume in idle time, so that the next `burst_bytes` of writes need neither
// reclamation nor an erase. Returns 1 if nothing is left to prepare, else 0.
//
// It frees the pages of removed files, moves data that keeps blocks from being erased, erases
// blocks, and writes parts of the map. It stops at `budget_ns`: the time of the medium, by the
// driver's timing. In `burst_bytes` a durable write of less than a program page counts as one
// page.
//
// Power loss: committed data stays, and an open transaction stays open. Cost: never more than
// the budget, if no operation fails. Errors: STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT,
// STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING.
int steadyfs_fs_gc(struct steadyfs_t *fs, uint64_t budget_ns, uint64_t burst_bytes);

// Reads data at rest for `budget_ns`, so that flipped bits are found while the ECC still
// corrects them. Goes on where the last call stopped. Returns 1 if a round through everything
// is complete, else 0.
//
// Cost: never more than the budget. Errors: STEADYFS_ERR_IO; STEADYFS_ERR_UNSUPPORTED in a
// build without the feature `scrub`.
int steadyfs_fs_scrub(struct steadyfs_t *fs, uint64_t budget_ns);

// Stores the health of the medium. Costs nothing.
int steadyfs_health(struct steadyfs_t *fs, struct steadyfs_health_info *health);

// Returns the damage, of enum steadyfs_damage_kind, or an error. Costs nothing.
int steadyfs_damage(struct steadyfs_t *fs);

// Verifies every page and every reference of the volume, and calls `report` for each fault, if
// it is not null. With `repair`, mends the faults that can be mended, each in its own
// transaction, and commits earlier changes first. Close all files before the call. `checked`
// may be null.
//
// Power loss: mended faults stay mended. Cost: reads the whole volume. Errors:
// STEADYFS_ERR_NOMEM if `scratch` has fewer bytes than steadyfs_check_bytes, STEADYFS_ERR_IO;
// with `repair` the errors of a commit. Damage is a finding, not an error.
int steadyfs_fs_check(struct steadyfs_t *fs,
                      void *scratch,
                      size_t scratch_bytes,
                      bool repair,
                      void (*report)(void *context, const struct steadyfs_finding *finding),
                      void *context,
                      struct steadyfs_checked *checked);

// Accepts the damage as lost data, checks the volume, and mends the consequences, so that the
// volume can be changed again. Does nothing if nothing is missing: see steadyfs_damage.
//
// Power loss: the volume can only be read until a repair ends. A repair that was cut is begun
// again. Cost: a mount, and a check with `repair`. Errors: STEADYFS_ERR_CORRUPT if the loss
// cannot be mended. STEADYFS_ERR_READONLY if the volume was mounted for reading, or if the
// damage was found after the mount. The errors of steadyfs_fs_check.
int steadyfs_fs_repair(struct steadyfs_t *fs,
                       void *scratch,
                       size_t scratch_bytes,
                       void (*report)(void *context, const struct steadyfs_finding *finding),
                       void *context,
                       struct steadyfs_checked *checked);

// Stores the worst case of steadyfs_file_open. Costs nothing, as every bound. Errors:
// STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_file_open(struct steadyfs_t *fs, const char *path, int flags, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_file_close, also of a removed file.
int steadyfs_bound_file_close(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_commit, steadyfs_sync and steadyfs_file_sync.
int steadyfs_bound_commit(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_file_read of `size` bytes.
int steadyfs_bound_file_read(struct steadyfs_t *fs, size_t size, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_file_write of `size` bytes at the position of a file, for
// any data there. The time is the worst case of the whole write. The counts are sums over the
// logical pages that the write touches. The first page counts with the present state of the
// volume, each further page with the present fill. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_file_write(struct steadyfs_t *fs, struct steadyfs_file_t *file, size_t size, struct steadyfs_cost *cost);

// Stores the worst case of an overwrite of one whole existing logical page of a file, with
// STEADYFS_O_DURABLE and without a clock.
int steadyfs_bound_overwrite(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case, in nanoseconds, of `count` overwrites in a row, such as one write of
// several whole pages. It is less than `count` times the worst case of one overwrite.
int steadyfs_bound_overwrites(struct steadyfs_t *fs, uint32_t count, uint64_t *time_ns);

// Stores the worst case of steadyfs_file_truncate.
int steadyfs_bound_file_truncate(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_remove. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_remove(struct steadyfs_t *fs, const char *path, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_rename. It holds if a moved directory lies no deeper than
// the number of names in both paths. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_rename(struct steadyfs_t *fs, const char *from, const char *to, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_exchange. It holds if directories lie no deeper than the
// number of names in both paths. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_exchange(struct steadyfs_t *fs, const char *one, const char *other, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_stat and steadyfs_dir_open. Errors: STEADYFS_ERR_INVAL,
// STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_stat(struct steadyfs_t *fs, const char *path, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_getattr. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_getattr(struct steadyfs_t *fs, const char *path, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_setattr and steadyfs_removeattr. Errors:
// STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_setattr(struct steadyfs_t *fs, const char *path, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_mkdir. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_mkdir(struct steadyfs_t *fs, const char *path, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_dir_read of one entry. Each empty bucket of the directory
// adds a lookup.
int steadyfs_bound_dir_read(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case of the next steadyfs_mount of this volume after a power cut, at any
// fill. It takes twice as much if the medium turns out to take no program.
int steadyfs_bound_mount(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_unmount: a commit and a root.
int steadyfs_bound_unmount(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Returns the memory that steadyfs_packed_open needs for a file in chunks of `chunk_bytes`
// bytes (4096, 8192, … 65536). With STEADYFS_O_RDONLY alone the memory suffices for reads, else
// also for writes. Errors: STEADYFS_ERR_INVAL.
ptrdiff_t steadyfs_packed_memory_bytes(size_t chunk_bytes, int flags);

// Opens a file, compressed or not. Compressed files come from steady pack --compress, from
// mounted directories, and from firmware. `flags` as in steadyfs_file_open. `memory` belongs to
// the handle until it is closed.
//
// An existing file keeps its own format. A new file is compressed (LZ4) in chunks of
// `chunk_bytes`. If `chunk_bytes` is 0, the attribute steadyfs.compress of its directory
// decides. Without the attribute the file is not compressed. A handle that reads another method
// than LZ4 returns STEADYFS_ERR_UNSUPPORTED.
//
// Power loss, cost: as steadyfs_file_open; for a new file, also as steadyfs_setattr. Errors:
// the errors of these calls, STEADYFS_ERR_NOMEM (steadyfs_packed_memory_bytes),
// STEADYFS_ERR_INVAL for an invalid `chunk_bytes`.
int steadyfs_packed_open(struct steadyfs_t *fs,
                         struct steadyfs_packed_t *file,
                         const char *path,
                         int flags,
                         size_t chunk_bytes,
                         void *memory,
                         size_t memory_bytes);

// Closes a file, as steadyfs_file_close. The memory is free again.
int steadyfs_packed_close(struct steadyfs_t *fs, struct steadyfs_packed_t *file);

// Returns the bytes of a chunk of a file, or 0 if the file is not compressed. Costs nothing.
// Errors: STEADYFS_ERR_BADF.
ptrdiff_t steadyfs_packed_chunk_bytes(struct steadyfs_t *fs, struct steadyfs_packed_t *file);

// Reads from the position on, and moves the position, as steadyfs_file_read. Cost:
// steadyfs_bound_packed_read. Errors: the errors of steadyfs_file_read; STEADYFS_ERR_CORRUPT
// for a chunk that cannot be decoded, STEADYFS_ERR_UNSUPPORTED for a chunk of another method.
ptrdiff_t steadyfs_packed_read(struct steadyfs_t *fs, struct steadyfs_packed_t *file, void *buffer, size_t size);

// Writes at the position, or with STEADYFS_O_APPEND at the end, as steadyfs_file_write. A long
// write consists of one write for each chunk.
//
// Power loss: nothing of the write is there before the next commit. With STEADYFS_O_DURABLE a
// write commits at its end. Cost: steadyfs_bound_packed_write. Errors: the
// errors of steadyfs_file_write, STEADYFS_ERR_CORRUPT for a chunk that cannot be decoded.
ptrdiff_t steadyfs_packed_write(struct steadyfs_t *fs, struct steadyfs_packed_t *file, const void *buffer, size_t size);

// Moves the position, as steadyfs_file_seek. With STEADYFS_SEEK_END it reads the size: 8 bytes.
int64_t steadyfs_packed_seek(struct steadyfs_t *fs, struct steadyfs_packed_t *file, int64_t offset, int whence);

// Cuts a file, or extends it with zeros, as steadyfs_file_truncate. Cost:
// steadyfs_bound_packed_truncate.
int steadyfs_packed_truncate(struct steadyfs_t *fs, struct steadyfs_packed_t *file, uint64_t size);

// Returns the size of the content. Cost: a read of 8 bytes. Errors: STEADYFS_ERR_BADF,
// STEADYFS_ERR_STALE, STEADYFS_ERR_CORRUPT.
int64_t steadyfs_packed_size(struct steadyfs_t *fs, struct steadyfs_packed_t *file);

// Stores the worst case of steadyfs_packed_read of `size` bytes. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_packed_read(struct steadyfs_t *fs, struct steadyfs_packed_t *file, uint32_t size, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_packed_write of `size` bytes at any position. It counts
// each chunk or logical page that the write touches, and the zeros before the write. Errors:
// STEADYFS_ERR_BADF.
int steadyfs_bound_packed_write(struct steadyfs_t *fs, struct steadyfs_packed_t *file, uint32_t size, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_packed_truncate. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_packed_truncate(struct steadyfs_t *fs, struct steadyfs_packed_t *file, struct steadyfs_cost *cost);

// Reads the image's own description, and returns the bytes of memory that steadyfs_rom_mount
// needs for it, key and NAND included.
//
// `metadata_blocks`: number of blocks of names and inodes with their own place, up to 16.
// - 0: the least that a mount needs. The lookup of a path evicts the block of a file that was
//   read, and the other way round.
// - 1: neither evicts the other.
// - More: paths of several names decode less.
//
// An image whose names and inodes are uncompressed needs 0.
//
// On NAND the call reads into the `memory` of the configuration, which no mounted image may
// use: a page, and 4 bytes for each of bad_blocks_max. On other media it ignores the fields for
// memory.
//
// Cost: a few reads. Errors: as steadyfs_rom_mount, except that signatures are not checked.
ptrdiff_t steadyfs_rom_memory_bytes(const struct steadyfs_rom_config *config, size_t metadata_blocks);

// Returns the bytes that a cache of `pieces` pieces needs, 1 to 64. Calls no callback of the
// driver. Errors: STEADYFS_ERR_INVAL.
ptrdiff_t steadyfs_rom_cache_bytes(const struct steadyfs_rom_config *config, size_t pieces);

// Mounts an image. `rom` and the memory of the configuration belong to the image until
// steadyfs_rom_unmount.
//
// Cost: a read of 96 bytes. On NAND also the mark and a page of the first block, or of up to 32
// blocks if some are bad. If the image does not list bad blocks, also the mark of each of its
// blocks. With a key also a few reads and the check of a signature.
//
// Errors:
// - STEADYFS_ERR_NOTFORMATTED if there is no squashfs image.
// - STEADYFS_ERR_VERSION.
// - STEADYFS_ERR_UNSUPPORTED if the image is compressed by another method than LZ4 or LZO, or
//   if the build lacks the medium or rom-verify.
// - STEADYFS_ERR_NOMEM (steadyfs_rom_memory_bytes, steadyfs_rom_cache_bytes).
// - STEADYFS_ERR_DRIVER if no place was given, or more than one.
// - STEADYFS_ERR_INVAL if the chip has no such place.
// - STEADYFS_ERR_CONFIG_PAGE_BYTES, STEADYFS_ERR_CONFIG_BLOCKS.
// - STEADYFS_ERR_BADBLOCKS if more blocks are bad than bad_blocks_max.
// - STEADYFS_ERR_NOTSIGNED, STEADYFS_ERR_NOTAUTHENTIC, STEADYFS_ERR_CORRUPT, and the errors of
//   the medium.
int steadyfs_rom_mount(struct steadyfs_rom_t *rom, const struct steadyfs_rom_config *config);

// Ends the use of an image. Its memory is free again. Files and directories need not be closed.
// Costs nothing. Errors: STEADYFS_ERR_NOTMOUNTED.
int steadyfs_rom_unmount(struct steadyfs_rom_t *rom);

// Stores the properties of a path of an image. An image does not store `parent`, `generation`
// and `subdirectories`, nor the size of a directory: they are 0.
//
// Cost: steadyfs_bound_rom_stat. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR,
// STEADYFS_ERR_CORRUPT, STEADYFS_ERR_NOTAUTHENTIC, and the errors of the medium.
int steadyfs_rom_stat(struct steadyfs_rom_t *rom, const char *path, struct steadyfs_info *info);

// Reads mode, owner and group of a path of an image.
//
// Cost: steadyfs_rom_stat, and twice a block of names and inodes. Errors: the errors of
// steadyfs_rom_stat.
int steadyfs_rom_getpermissions(struct steadyfs_rom_t *rom, const char *path, struct steadyfs_permissions *permissions);

// Reads the target of a symbolic link of an image, without a NUL. Returns its length. If the
// length is more than `size`, nothing is read.
//
// Cost: steadyfs_rom_stat, and the blocks with the text. Errors: STEADYFS_ERR_NOTALINK, and the
// errors of steadyfs_rom_stat.
ptrdiff_t steadyfs_rom_readlink(struct steadyfs_rom_t *rom, const char *path, void *buffer, size_t size);

// Opens a file of an image for reading.
//
// Cost: steadyfs_bound_rom_file_open. Errors: STEADYFS_ERR_ISDIR, STEADYFS_ERR_ISALINK,
// STEADYFS_ERR_UNSUPPORTED for a device, a pipe or a socket, and the errors of
// steadyfs_rom_stat.
int steadyfs_rom_file_open(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file, const char *path);

// Closes a file of an image. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_rom_file_close(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file);

// Reads from the position on, and moves the position. Returns the number of bytes, less than
// `size` only at the end of the file.
//
// Cost: steadyfs_bound_rom_file_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_CORRUPT for a
// block that cannot be decoded, STEADYFS_ERR_NOTAUTHENTIC, and the errors of the medium. The
// position stays after an error.
ptrdiff_t steadyfs_rom_file_read(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file, void *buffer, size_t size);

// Moves the position, also behind the end, and returns it. `whence`: STEADYFS_SEEK_.... Costs
// nothing. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_INVAL.
int64_t steadyfs_rom_file_seek(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file, int64_t offset, int whence);

// Returns the position. Costs nothing. Errors: STEADYFS_ERR_BADF.
int64_t steadyfs_rom_file_tell(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file);

// Returns the size of a file in bytes. Costs nothing. Errors: STEADYFS_ERR_BADF.
int64_t steadyfs_rom_file_size(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file);

// Opens a directory of an image.
//
// Cost: steadyfs_bound_rom_stat. Errors: the errors of steadyfs_rom_stat.
int steadyfs_rom_dir_open(struct steadyfs_rom_t *rom, struct steadyfs_rom_dir_t *dir, const char *path);

// Closes a directory of an image. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_rom_dir_close(struct steadyfs_rom_t *rom, struct steadyfs_rom_dir_t *dir);

// Reads the next entry of a directory of an image. Returns 1, or 0 at the end. Entries come in
// the order of the bytes of their names, without `.` and `..`. `info` is filled as by
// steadyfs_rom_stat.
//
// Cost: steadyfs_bound_rom_dir_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NAMETOOLONG for a
// name of 256 bytes, and the errors of steadyfs_rom_stat. After STEADYFS_ERR_NAMETOOLONG the
// next call goes on behind this name.
int steadyfs_rom_dir_read(struct steadyfs_rom_t *rom, struct steadyfs_rom_dir_t *dir, struct steadyfs_info *info);

// Stores the worst case of steadyfs_rom_stat and steadyfs_rom_dir_open of this path. It depends
// on the directories of the path. So this call reads them, with the cost and the errors of
// these calls.
int steadyfs_bound_rom_stat(struct steadyfs_rom_t *rom, const char *path, struct steadyfs_rom_cost *cost);

// Stores the worst case of steadyfs_rom_file_open of this path. Cost and errors: as
// steadyfs_bound_rom_stat.
int steadyfs_bound_rom_file_open(struct steadyfs_rom_t *rom, const char *path, struct steadyfs_rom_cost *cost);

// Stores the worst case of steadyfs_rom_file_read of `size` bytes at any position. A read that
// continues the read before it costs less, because it has the place of its block. Costs
// nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_rom_file_read(struct steadyfs_rom_t *rom,
                                 struct steadyfs_rom_file_t *file,
                                 uint32_t size,
                                 struct steadyfs_rom_cost *cost);

// Stores the worst case of steadyfs_rom_dir_read of one entry. Costs nothing. Errors:
// STEADYFS_ERR_BADF.
int steadyfs_bound_rom_dir_read(struct steadyfs_rom_t *rom, struct steadyfs_rom_dir_t *dir, struct steadyfs_rom_cost *cost);

// Returns the bytes of memory that an installation needs: two pages, and 4 bytes for each of
// bad_blocks_max. Reads only `nand` and bad_blocks_max of the configuration, and calls no
// callback of the driver. Errors: STEADYFS_ERR_INVAL without a driver, STEADYFS_ERR_DRIVER if
// the driver lacks a callback, STEADYFS_ERR_CONFIG_PAGE_BYTES, STEADYFS_ERR_CONFIG_BLOCKS.
ptrdiff_t steadyfs_rom_install_bytes(const struct steadyfs_rom_config *config);

// Begins to write an image to the NAND chip of a configuration. An earlier image is lost. The
// call uses only `nand`, bad_blocks_max and the memory of the configuration. The memory belongs
// to the installation until it is finished.
//
// Power loss: there is no image, or the earlier one. Cost: an erase for each of the first three
// good blocks, and a check of the marks up to there. Errors: STEADYFS_ERR_NOMEM,
// STEADYFS_ERR_BADBLOCKS if more blocks are bad than bad_blocks_max, STEADYFS_ERR_NOSPC, and
// the errors of steadyfs_rom_install_bytes and of the medium.
int steadyfs_rom_install_begin(struct steadyfs_rom_install_t *install, const struct steadyfs_rom_config *config);

// Writes the next bytes of an image, in pieces of any size. An error ends the installation:
// begin again.
//
// Power loss: there is no image. Cost: a program for each page that the bytes fill, and an
// erase for each block. If a block goes bad, also a read and a program for each of its pages.
// Errors: STEADYFS_ERR_NOTMOUNTED if no installation was begun, STEADYFS_ERR_NOSPC if the chip
// is full, STEADYFS_ERR_BADBLOCKS, and the errors of the medium.
int steadyfs_rom_install_push(struct steadyfs_rom_install_t *install, const void *data, size_t size);

// Ends an installation: the image is there. Even after an error no installation is open, and
// the memory is free again.
//
// Power loss: there is no image, or the whole of it. Cost: three programs. Errors:
// STEADYFS_ERR_NOTMOUNTED if no installation was begun, STEADYFS_ERR_MEDIAFAILING if the chip
// does not take the header (begin again), and the errors of the medium.
int steadyfs_rom_install_finish(struct steadyfs_rom_install_t *install);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STEADYFS_H */
