/*
 * SteadyFS: a flash file system that keeps time. It runs on raw NAND and NOR and on cards, without
 * a heap, in a few KiB of RAM. Every call has a computed worst case. docs/guide/c.md has a guide,
 * and lists the equivalent of each call of littlefs, SPIFFS and FatFs.
 *
 * A call returns 0, a number that its comment describes, or a negative steadyfs_error. Paths are
 * UTF-8, with names joined by '/'. If a pointer that a call needs is null, the call returns
 * STEADYFS_ERR_INVAL. From mount to unmount, the struct of a driver and the memory of a
 * configuration belong to the volume alone. A volume takes one call at a time: several threads need
 * a mutex. Callbacks must not call their volume, and must return.
 *
 * "Costs nothing" means that the call does not access the medium.
 *
 * The comment of a call lists the errors of this call. Some errors are common to many calls:
 * - Calls that access the medium (the errors of the medium): STEADYFS_ERR_IO,
 *   STEADYFS_ERR_CORRUPT.
 * - Calls that change the volume (also an open that creates or truncates): STEADYFS_ERR_READONLY,
 *   STEADYFS_ERR_MEDIAFAILING, STEADYFS_ERR_TRANSACTION, STEADYFS_ERR_UNKNOWN.
 * - Calls with a mounted volume: STEADYFS_ERR_NOTMOUNTED, STEADYFS_ERR_BUSY.
 * - Calls with a handle: STEADYFS_ERR_BADF.
 * - Calls with a path (the errors of a path): STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR,
 *   STEADYFS_ERR_INVAL, STEADYFS_ERR_NAMETOOLONG, STEADYFS_ERR_NOTUTF8.
 *
 * The library detects null and misaligned pointers, invalid text and numbers, handles that are
 * closed or belong to another volume, and calls from a callback. It detects a volume that is not
 * mounted, if its steadyfs_t is zero. It cannot detect wrong lengths of buffers, memory that is
 * lent twice, and dangling pointers.
 *
 * Generated from crates/steadyfs-c by its tests. Make changes there.
 */

#ifndef STEADYFS_H
#define STEADYFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Value of a setting that means "none". The value 0 stands for the default.
#define STEADYFS_NONE 255

// Value of bad_blocks_max that means "none".
#define STEADYFS_NO_BAD_BLOCKS 65535

// Number of 64-bit words of steadyfs_t.
#define STEADYFS_WORDS 112

// Number of pointer-sized words of steadyfs_t.
#define STEADYFS_POINTERS 52

// Maximum number of bytes of a name, without the NUL.
#define STEADYFS_NAME_MAX 255

// Open for reading.
#define STEADYFS_O_RDONLY 1

// Open for writing.
#define STEADYFS_O_WRONLY 2

// Open for reading and writing.
#define STEADYFS_O_RDWR 3

// Create the file if it does not exist. This flag needs STEADYFS_O_WRONLY.
#define STEADYFS_O_CREAT 256

// In addition to STEADYFS_O_CREAT: fail with STEADYFS_ERR_EXIST if the file exists.
#define STEADYFS_O_EXCL 512

// Truncate the file to zero bytes. This flag needs STEADYFS_O_WRONLY.
#define STEADYFS_O_TRUNC 1024

// Write all data at the end of the file.
#define STEADYFS_O_APPEND 2048

// Make every change through this handle durable before its call returns. This includes the file's
// creation. The commit makes all other changes of the volume durable, too.
#define STEADYFS_O_DURABLE 4096

// STEADYFS_O_STREAM * 0 to STEADYFS_O_STREAM * 3 select the stream of a created file. Files that
// are rewritten equally often should share a stream. Other files should use another stream.
// Without this flag, data is in stream 0.
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
// Any other number is treated as STEADYFS_FAIL_DEVICE.
typedef enum steadyfs_failure {
  // The operation succeeded.
  STEADYFS_FAIL_NONE = 0,
  // The page cannot be read: more bits flipped than the ECC can correct. Only callbacks that
  // read return this value.
  STEADYFS_FAIL_UNCORRECTABLE = -1,
  // The chip reports that a program or an erase failed: the block has gone bad.
  STEADYFS_FAIL_BAD_BLOCK = -2,
  // The chip has locked itself. It no longer accepts programs and erases, but can still be read.
  STEADYFS_FAIL_WRITE_PROTECTED = -3,
  // The device does not answer: bus fault, timeout, power lost.
  STEADYFS_FAIL_DEVICE = -4,
} steadyfs_failure;

// The reason why a call failed. A call that succeeds returns 0, or a number that its documentation
// describes. A call that fails returns one of these codes.
//
// If littlefs has a code with the same meaning, the numbers are equal. After every error except
// STEADYFS_ERR_UNKNOWN, the call has changed nothing, and the open transaction can continue. A
// long write consists of several writes (steadyfs_file_write). The writes before the failed one
// have taken effect.
typedef enum steadyfs_error {
  // No error.
  STEADYFS_ERR_OK = 0,
  // The medium does not answer. Committed data is not lost. Mount the volume again.
  STEADYFS_ERR_IO = -5,
  // The data that was read is not the data that was written. The checksum of a page is wrong, or
  // its tag belongs to another page.
  STEADYFS_ERR_CORRUPT = -84,
  // There is no file or directory with this name or number.
  STEADYFS_ERR_NOENT = -2,
  // A file or directory of this name exists already.
  STEADYFS_ERR_EXIST = -17,
  // The path leads to a file, but the call needs a directory.
  STEADYFS_ERR_NOTDIR = -20,
  // The path leads to a directory, but the call needs a file.
  STEADYFS_ERR_ISDIR = -21,
  // The directory has entries.
  STEADYFS_ERR_NOTEMPTY = -39,
  // The file or directory is not open on this volume, or was opened before the mount.
  STEADYFS_ERR_BADF = -9,
  // The file would become larger than the volume allows.
  STEADYFS_ERR_FBIG = -27,
  // An argument is invalid: a null pointer, an unknown flag, a position before the start of
  // the file, or a name that is empty, `.` or `..`.
  STEADYFS_ERR_INVAL = -22,
  // The volume is full: every logical page is in use.
  STEADYFS_ERR_NOSPC = -28,
  // The lent memory is too small: see steadyfs_memory_bytes, or steadyfs_check_bytes for a
  // check.
  STEADYFS_ERR_NOMEM = -12,
  // The file has no such attribute.
  STEADYFS_ERR_NOATTR = -61,
  // A name is longer than 255 bytes, or longer than the volume's name_bytes_max.
  STEADYFS_ERR_NAMETOOLONG = -36,
  // A path or a key is not UTF-8.
  STEADYFS_ERR_NOTUTF8 = -200,
  // The object contains no mounted volume or image, or no installation has begun.
  STEADYFS_ERR_NOTMOUNTED = -201,
  // Another call of this volume is in progress. A callback or another thread made this call.
  STEADYFS_ERR_BUSY = -202,
  // More programs failed in one call than the volume's `failures` setting tolerates.
  STEADYFS_ERR_MEDIAFAILING = -203,
  // The volume can only be read. It was mounted for reading, it is worn out, the chip has locked
  // itself, or the result of an earlier call is unknown. If a result is unknown, mount the
  // volume again.
  STEADYFS_ERR_READONLY = -204,
  // The library cannot determine if the change took effect. The volume can only be read until it
  // is mounted again.
  STEADYFS_ERR_UNKNOWN = -205,
  // The volume holds as many files as its settings allow.
  STEADYFS_ERR_TOOMANYFILES = -206,
  // The call does not fit into the open transaction. Commit more often.
  STEADYFS_ERR_TRANSACTION = -207,
  // The file of this handle no longer exists, because its creation was rolled back.
  STEADYFS_ERR_STALE = -209,
  // The path leads to a symbolic link, but the call needs a file.
  STEADYFS_ERR_ISALINK = -210,
  // The path does not lead to a symbolic link, but the call needs one.
  STEADYFS_ERR_NOTALINK = -211,
  // A directory would move into itself.
  STEADYFS_ERR_INTOITSELF = -212,
  // The handle was not opened for reading.
  STEADYFS_ERR_NOTREADABLE = -213,
  // The handle was not opened for writing. Or an open has flags that change the file, but not
  // STEADYFS_O_WRONLY.
  STEADYFS_ERR_NOTWRITABLE = -214,
  // The table of open files in the lent memory is full: see open_files.
  STEADYFS_ERR_TOOMANYOPEN = -215,
  // The attributes of one file take more than 248 bytes.
  STEADYFS_ERR_ATTRIBUTES = -216,
  // The build, or the volume, lacks a requirement of the call: a feature of the library, or
  // permissions.
  STEADYFS_ERR_UNSUPPORTED = -217,
  // No superblock was found. There are three possible reasons. The device was never formatted.
  // Or the driver and the settings divide the device in another way than its format (see
  // steadyfs_mount). Or the device contains no image.
  STEADYFS_ERR_NOTFORMATTED = -220,
  // The volume has a version of the format that this library does not support.
  STEADYFS_ERR_VERSION = -221,
  // The volume was formatted for another chip, or with another division of the chip
  // (erase_bytes, group_sectors).
  STEADYFS_ERR_GEOMETRY = -222,
  // More blocks are bad than bad_blocks_max allows, or a block is bad that must hold tables of
  // the volume itself.
  STEADYFS_ERR_BADBLOCKS = -223,
  // The volume is a disk of sectors, which this API does not mount.
  STEADYFS_ERR_ISDISK = -224,
  // The volume has a superblock, but no root of it can be read.
  STEADYFS_ERR_NOROOT = -225,
  // The image has no hash tree, or no signature that matches the key.
  STEADYFS_ERR_NOTSIGNED = -226,
  // The data that was read from the image is not the signed data.
  STEADYFS_ERR_NOTAUTHENTIC = -227,
  // No driver or more than one driver was set. Or the driver lacks a callback, or contains a
  // time of more than 100 s.
  STEADYFS_ERR_DRIVER = -230,
  // page_bytes must be a power of two from 256 to 16,384. On sectors it must be at least 512.
  STEADYFS_ERR_CONFIG_PAGE_BYTES = -231,
  // A block must have 4 to 4,096 pages, and a medium 16 to 1,048,576 blocks.
  STEADYFS_ERR_CONFIG_BLOCKS = -232,
  // pages_per_logical_page must be a power of two up to 32, and a block must hold at least 4
  // logical pages. Decrease pages_per_logical_page or, on NOR, increase group_sectors.
  STEADYFS_ERR_CONFIG_UNIT_PAGES = -233,
  // transaction_pages must be 2 to 1,024.
  STEADYFS_ERR_CONFIG_TRANSACTION_PAGES = -234,
  // overlay_entries must be at least 40 more than transaction_pages, and at most 8,192.
  STEADYFS_ERR_CONFIG_OVERLAY_ENTRIES = -235,
  // checkpoint_programs must be 16 to 4,096. Except on NOR it must also be at most the number of
  // pages in (24 - failures) blocks.
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
  // files_max requires more logical pages than a map entry can address.
  STEADYFS_ERR_CONFIG_TOO_MANY_PAGES = -242,
  // A block must hold a root with its copies, three logical pages and a journal page. Decrease
  // overlay_entries or make blocks larger. On NOR, increase group_sectors.
  STEADYFS_ERR_CONFIG_BLOCK_TOO_SMALL = -243,
  // The medium has too few blocks: the blocks for bad_blocks_max, root ring and reserve leave no
  // space for data.
  STEADYFS_ERR_CONFIG_TOO_FEW_BLOCKS = -244,
  // Garbage collection of a block would not gain space for a page. Increase overlay_entries or
  // make blocks larger.
  STEADYFS_ERR_CONFIG_NO_GAIN = -245,
  // leaf_log_bytes must be 48 to 240, and at most three quarters of a page.
  STEADYFS_ERR_CONFIG_LEAF_LOG = -246,
  // journal_pages must be 1 to 16. If there is more than one page, these pages must have at most
  // 4,096 bytes together.
  STEADYFS_ERR_CONFIG_JOURNAL = -247,
  // A setting breaks a rule for which this version of the library has no code.
  STEADYFS_ERR_CONFIG = -249,
} steadyfs_error;

// Events after which a volume commits by itself: single events combined with |, or one of the
// presets.
typedef enum steadyfs_commit_event {
  // steadyfs_unmount was called. If this event is not set, an unmount discards uncommitted
  // changes.
  STEADYFS_COMMIT_UNMOUNT = 1,
  // A file was created.
  STEADYFS_COMMIT_CREATE = (1 << 1),
  // A file or directory was removed.
  STEADYFS_COMMIT_REMOVE = (1 << 2),
  // A directory was created.
  STEADYFS_COMMIT_MKDIR = (1 << 3),
  // A file or directory was renamed.
  STEADYFS_COMMIT_RENAME = (1 << 4),
  // A handle that may write was closed.
  STEADYFS_COMMIT_CLOSE = (1 << 5),
  // Bytes of a file or its attributes were written. In a long write this event occurs after each
  // logical page.
  STEADYFS_COMMIT_WRITE = (1 << 6),
  // steadyfs_file_sync was called.
  STEADYFS_COMMIT_FSYNC = (1 << 7),
  // A file was truncated or enlarged.
  STEADYFS_COMMIT_TRUNCATE = (1 << 8),
  // Without a commit, the next call might not fit into the transaction or on the volume.
  STEADYFS_COMMIT_FULL = (1 << 9),
  // steadyfs_sync was called.
  STEADYFS_COMMIT_SYNC = (1 << 10),
  // commit_interval_ns has passed since the first change of the transaction: see
  // steadyfs_poll.
  STEADYFS_COMMIT_TIMED = (1 << 11),
  // commit_changes or commit_bytes is reached.
  STEADYFS_COMMIT_MANY = (1 << 12),
  // Preset, the default: commits after changes of names, and when a file is closed or synced, as
  // littlefs does. It contains STEADYFS_COMMIT_FULL. So a file that is larger than
  // steadyfs_transaction_room is committed in pieces, and a power cut can leave a part of it. To
  // replace such a file in one step, write and close a file with another name, and rename it.
  STEADYFS_COMMIT_ON_CLOSE = ((2047 & ~(1 << 6)) & ~(1 << 8)),
  // Preset: commits with steadyfs_file_sync, steadyfs_sync and unmount, and if the transaction
  // or the volume becomes full. For many small files this is faster than a commit after each
  // close.
  STEADYFS_COMMIT_ON_FLUSH = (((1 | (1 << 7)) | (1 << 9)) | (1 << 10)),
  // Preset: every change is durable when its call returns.
  STEADYFS_COMMIT_EVERY_WRITE = 2047,
  // Preset: no event commits. Only steadyfs_commit commits, and each change through a handle
  // with STEADYFS_O_DURABLE: such a change commits all changes of the volume. A call that does
  // not fit into the transaction is refused: see steadyfs_transaction_room.
  STEADYFS_COMMIT_MANUAL = 32768,
} steadyfs_commit_event;

// Place of the tags of pages on a card or a disk.
typedef enum steadyfs_tag_place {
  // Each tag lies in its own sector before its page. This suits cards best.
  STEADYFS_TAGS_BESIDE = 0,
  // The tags lie in a table at the start of each block. Pages are aligned, but each page needs a
  // second write for its tag.
  STEADYFS_TAGS_TABLE = 1,
  // Each tag lies in the last 32 bytes of its page, which holds 32 bytes less of data. An eighth
  // more of the device holds data, but the volume cannot be a disk of sectors. This suits data
  // that is written in order or in whole pages. A write of 4,096 bytes at another offset touches
  // two pages.
  STEADYFS_TAGS_WITHIN = 2,
} steadyfs_tag_place;

// Kind of the object that has a name: see steadyfs_info.
typedef enum steadyfs_type {
  // A file.
  STEADYFS_TYPE_REG = 1,
  // A directory.
  STEADYFS_TYPE_DIR = 2,
  // A symbolic link.
  STEADYFS_TYPE_LINK = 3,
  // A device, a pipe or a socket. It exists only in read-only images.
  STEADYFS_TYPE_OTHER = 4,
} steadyfs_type;

// Events that an observer receives.
typedef enum steadyfs_event {
  // A file or directory was created.
  STEADYFS_EVENT_CREATED = 1,
  // The bytes, the size or the attributes of a file were changed.
  STEADYFS_EVENT_UPDATED = 2,
  // A file or directory was renamed.
  STEADYFS_EVENT_RENAMED = 3,
  // A file or directory was removed.
  STEADYFS_EVENT_REMOVED = 4,
  // All changes since the last commit were undone. The inode is 0.
  STEADYFS_EVENT_ROLLED_BACK = 5,
} steadyfs_event;

// Damage that a mount found, or that a later write-back of a part of the map found. The volume can
// only be read until steadyfs_fs_repair.
typedef enum steadyfs_damage_kind {
  // The volume has no damage.
  STEADYFS_DAMAGE_NONE = 0,
  // No copy of the newest root can be read. Changes that were committed since the root before
  // it may be missing.
  STEADYFS_DAMAGE_ROOT = 1,
  // A journal record that was written after the newest root can no longer be read.
  STEADYFS_DAMAGE_RECORD = 2,
  // The newest journal page can no longer be read, so the small changes in it are missing. On a
  // volume with few files these may be all small changes since the format.
  STEADYFS_DAMAGE_JOURNAL = 3,
  // A repair began and did not end.
  STEADYFS_DAMAGE_REPAIR = 4,
  // A page of the file system's own tables can no longer be read.
  STEADYFS_DAMAGE_TABLES = 5,
  // A leaf of the map can no longer be read. Reads of its pages return STEADYFS_ERR_CORRUPT
  // until these pages are written again.
  STEADYFS_DAMAGE_LEAF = 6,
  // Damage that this version of the header does not list.
  STEADYFS_DAMAGE_OTHER = 7,
} steadyfs_damage_kind;

// Kind of a finding of a check.
typedef enum steadyfs_finding_kind {
  // A page of the file system's own tables cannot be read. Repair: the page is written again
  // without the unreadable part.
  STEADYFS_FINDING_UNREADABLE_TABLE = 1,
  // A page of a file or directory cannot be read. Repair: a page of a directory or an index is
  // mended. A page of data stays unreadable until it is written again.
  STEADYFS_FINDING_UNREADABLE_PAGE = 2,
  // An inode in use is invalid. A repair mends it.
  STEADYFS_FINDING_BAD_INODE = 3,
  // The rest of a long name, or the attributes of a file, are missing. Repair: the file then has
  // no attributes, or another name.
  STEADYFS_FINDING_LOST_EXTENSION = 4,
  // An entry of a directory leads to an object that is missing, or that belongs to another
  // directory. Or two entries lead to the same object. Repair: the entry is removed.
  STEADYFS_FINDING_BAD_ENTRY = 5,
  // The counts in a directory are wrong. A repair mends them.
  STEADYFS_FINDING_WRONG_COUNT = 6,
  // No directory has an entry for this file or directory. Repair: it receives its old name, or
  // an entry in the root. The name of this entry is `lost-` and the object's number.
  STEADYFS_FINDING_LOST = 7,
  // An inode is in use but marked as free. A repair mends this.
  STEADYFS_FINDING_UNMARKED_INODE = 8,
  // An inode is marked as used but empty. A repair mends this.
  STEADYFS_FINDING_LEAKED_INODE = 9,
  // A page is marked as used but belongs to no file. A repair mends this.
  STEADYFS_FINDING_LEAKED_PAGE = 10,
  // A page belongs to a file but is marked as free. A repair mends this.
  STEADYFS_FINDING_UNMARKED_PAGE = 11,
  // A page belongs to two files. Repair: the second file is then empty, and the page of the
  // first file cannot be read.
  STEADYFS_FINDING_SHARED_PAGE = 12,
  // Old data lies behind the end of a file. Repair: this data is removed.
  STEADYFS_FINDING_DIRTY_END = 13,
  // A list of removed files has no end. Repair: the list is discarded.
  STEADYFS_FINDING_BAD_LIST = 14,
  // A finding that this version of the header does not list.
  STEADYFS_FINDING_OTHER = 15,
  // Small changes were lost. This file or directory may have an earlier state.
  STEADYFS_FINDING_IN_DOUBT = 16,
  // Small changes were lost. Up to `inode` files may be missing, together with their names.
  STEADYFS_FINDING_LOST_CHANGES = 17,
} steadyfs_finding_kind;

// Longest times of single operations of a NAND chip, in nanoseconds. They include the transfer on
// the bus. A time of more than 100 s is refused: STEADYFS_ERR_DRIVER. If the times are 0, the
// bounds are 0.
//
// Every bound is computed from these numbers: use datasheet maxima for guarantees, or typical
// values for expectations. If the bus has other users, add their longest transfer. Add the
// driver's own time for each call, too. Otherwise no bound contains it.
typedef struct steadyfs_nand_timing {
  // Time to read a whole page and its tag.
  uint64_t read_ns;
  // Time to read a tag without its page.
  uint64_t read_tag_ns;
  // Time to program a whole page and its tag.
  uint64_t program_ns;
  // Time to read a tag and then copy its page with `copy`. If this is 0, or if the driver has no
  // `copy`, bounds use read_ns + program_ns.
  uint64_t copy_ns;
  // Time to erase a block.
  uint64_t erase_ns;
} steadyfs_nand_timing;

// A driver for raw NAND. An erase block consists of program pages, and each page has a tag of 16
// bytes beside its data.
//
// The tag lies in user bytes of the spare area that the ECC covers. Pages of a block are
// programmed in ascending order (some may be skipped). Each page is programmed at most once per
// erase. Data and tag of an erased page read as 0xFF. Callbacks return STEADYFS_FAIL_NONE or
// another steadyfs_failure. They must not call the same volume. They must return: a longjmp out of
// a callback is undefined. The struct must not change from mount to unmount.
//
// Power loss: a page whose program was interrupted may hold any bytes afterwards, or may read
// differently each time. The same holds for each page of a block whose erase was interrupted.
// Every other page is unchanged. A program or an erase that returned an error has the same
// effects.
typedef struct steadyfs_nand {
  // Argument of every callback. It may be null.
  void *context;
  // Number of data bytes of a program page, without the tag: a power of two, 256 to 16,384.
  uint32_t page_bytes;
  // Number of program pages in an erase block, 4 to 4,096.
  uint32_t pages_per_block;
  // Number of erase blocks of the chip: 16 to 1,048,576.
  uint32_t block_count;
  // The longest times of the operations.
  struct steadyfs_nand_timing timing;
  // Reads page_bytes of data and 16 bytes of tag. `page` is
  // `block * pages_per_block + page in block`. If it fails, returns STEADYFS_FAIL_UNCORRECTABLE
  // or STEADYFS_FAIL_DEVICE. Required.
  int (*read)(void *context, uint32_t page, void *data, uint8_t *tag);
  // Reads the tag of a page, and leaves the page in the chip's page register for `copy`. Returns
  // the same failures as `read`. Required.
  int (*read_tag)(void *context, uint32_t page, uint8_t *tag);
  // Programs the first `bytes` bytes of a page. `bytes` is at most page_bytes, and the rest of
  // the page stays erased. Returns STEADYFS_FAIL_BAD_BLOCK if the chip reports a failure,
  // STEADYFS_FAIL_WRITE_PROTECTED, or STEADYFS_FAIL_DEVICE. Required.
  int (*program)(void *context, uint32_t page, const void *data, uint32_t bytes, const uint8_t *tag);
  // Erases a block. Returns the same failures as `program`. Required.
  int (*erase)(void *context, uint32_t block);
  // Returns 1 if the maker or `mark_bad` marked a block bad, and 0 for a good block. If it
  // fails, returns STEADYFS_FAIL_DEVICE. It must not take longer than `read_tag`. Required.
  int (*is_bad)(void *context, uint32_t block);
  // Marks a block bad for other users of the chip. The content of the block is no longer needed.
  // Returns the same failures as `program`. Required.
  int (*mark_bad)(void *context, uint32_t block);
  // Some devices report an operation as done before it is durable. This callback makes all such
  // operations durable. Null if each operation is durable when its callback returns.
  int (*sync)(void *context);
  // Programs the page that is in the chip's page register, with another tag ("internal data
  // move"). The last callback before it was the `read_tag` of this page. Returns the same
  // failures as `program`. Null if the chip has no such command.
  int (*copy)(void *context, uint32_t page, const uint8_t *tag);
  // Stores the number of bits that the ECC corrected in the worst codeword of the last read.
  // Also stores the number of bits that the ECC can correct in a codeword. Data that needed
  // three quarters of these corrections is moved. Null if the chip does not report corrections.
  void (*corrected)(void *context, uint8_t *bits, uint8_t *strength);
} steadyfs_nand;

// A driver for raw NOR. Any bytes can be programmed once per erase. A program changes bits from 1
// to 0, and an erase changes all bits back to 1.
//
// A chip whose ECC covers several bytes, which can only be programmed together, is unsuitable. The
// rules of steadyfs_nand also hold for these callbacks and this struct. The rules of
// steadyfs_nand_timing hold for the times.
//
// Power loss: if a program is cut, any of the bits that it should clear may be cleared. A block
// whose erase is cut may hold any bytes.
typedef struct steadyfs_nor {
  // Argument of every callback. It may be null.
  void *context;
  // Number of bytes of one erase: a power of two, from 1,024 bytes to 16 MiB. If a chip has many
  // small sectors, the volume groups them into larger blocks: see settings.group_sectors.
  uint32_t erase_bytes;
  // Number of erase sectors of the volume. Together they have at most 4 GiB.
  uint32_t erase_count;
  // Number of bytes that the chip programs with one command: 256 on most chips. Bounds use
  // programs of this size.
  uint32_t program_page_bytes;
  // The longest time of a read command, in nanoseconds. The time of its bytes is added.
  uint64_t read_ns;
  // Time to transfer a byte in a read, in nanoseconds, rounded up. It is 160 for a clock of 50
  // MHz and one data line.
  uint32_t read_byte_ns;
  // Time to transfer a byte in a program, in nanoseconds, rounded up.
  uint32_t program_byte_ns;
  // The longest time of a program of one program page, without the transfer of its bytes, in
  // nanoseconds.
  uint64_t program_ns;
  // The longest time of an erase, in nanoseconds.
  uint64_t erase_ns;
  // Reads bytes. If it fails, returns STEADYFS_FAIL_DEVICE. Required.
  int (*read)(void *context, uint32_t address, void *data, uint32_t bytes);
  // Programs bytes. The callback splits them at the chip's program pages. A byte of 0xFF leaves
  // the present byte unchanged. A byte of 0 may be programmed over any byte. Returns
  // STEADYFS_FAIL_BAD_BLOCK if the chip reports a failure or the bytes read back differ. Other
  // failures are STEADYFS_FAIL_WRITE_PROTECTED and STEADYFS_FAIL_DEVICE. Required.
  int (*program)(void *context, uint32_t address, const void *data, uint32_t bytes);
  // Erases the sector with the given index. The first sector has index 0. Returns the same
  // failures as `program`. Required.
  int (*erase)(void *context, uint32_t sector);
  // Some devices report an operation as done before it is durable. This callback makes all such
  // operations durable. Null if each operation is durable when its callback returns.
  int (*sync)(void *context);
} steadyfs_nor;

// A piece of the bytes of a command. It has the layout of `struct iovec`, so it can be passed to
// preadv and pwritev.
typedef struct steadyfs_part {
  // Address of the bytes. The callback `write` must only read these bytes.
  void *data;
  // Number of bytes. It need not be a whole number of sectors.
  size_t bytes;
} steadyfs_part;

// A driver for a card or a disk: sectors of 512 bytes, which are read and written in any order.
// The device itself levels wear. It also replaces bad blocks until it has no more spare blocks.
//
// The rules of steadyfs_nand also hold for these callbacks and this struct. The rules of
// steadyfs_nand_timing hold for the times.
//
// Power loss: sectors that were written since the last `flush` may hold the old data, the written
// data, or any bytes. Every other sector is unchanged. A write that returned an error has the same
// effects.
typedef struct steadyfs_sectors {
  // Argument of every callback. It may be null.
  void *context;
  // Number of sectors of the device.
  uint32_t sector_count;
  // Number of the first sector of the volume, at the start of an allocation unit. Usually 0, or
  // the start of a partition.
  uint32_t first;
  // Number of sectors of a block: one or more allocation units of the card. 0 selects a number
  // by the size of the device. A mount reads this number from the medium.
  uint32_t block_sectors;
  // Number of bytes of a page: a power of two, 512 to 16,384. 0 stands for 4,096. A mount reads
  // this number from the medium.
  uint32_t page_bytes;
  // Place of the tags: a value of enum steadyfs_tag_place. The default, 0, is
  // STEADYFS_TAGS_BESIDE. A mount reads this value from the medium.
  uint8_t tags;
  // True if the device keeps the order of its writes between two flushes. A power cut then loses
  // a write only if it also loses all later writes. If in doubt, set it to false.
  bool keeps_order;
  // Time of a read command, in nanoseconds. The time of its sectors is added. Use a measured
  // time if the specification gives no maximum.
  uint64_t read_ns;
  // Time of each sector that is read, in nanoseconds.
  uint64_t read_sector_ns;
  // Time of a write command, in nanoseconds. The time of its sectors is added.
  uint64_t write_ns;
  // Time of each sector that is written, in nanoseconds.
  uint64_t write_sector_ns;
  // Time of a discard, in nanoseconds.
  uint64_t discard_ns;
  // Time of a flush, in nanoseconds.
  uint64_t flush_ns;
  // Reads sectors from `first` on, in one command. The bytes of the parts are consecutive, and
  // together they are whole sectors. If it fails, returns STEADYFS_FAIL_UNCORRECTABLE or
  // STEADYFS_FAIL_DEVICE. Required.
  int (*read)(void *context, uint32_t first, const struct steadyfs_part *parts, uint32_t count);
  // Writes sectors from `first` on, in one command. The parts are as in `read`. Required. If it
  // fails, it returns one of these values:
  // - STEADYFS_FAIL_BAD_BLOCK if the device reported twice that it cannot write these sectors,
  //   and no earlier write is lost. The volume never uses their block again.
  // - STEADYFS_FAIL_WRITE_PROTECTED if the device no longer accepts any writes.
  // - STEADYFS_FAIL_DEVICE for all other failures. A driver may always return this value.
  int (*write)(void *context, uint32_t first, const struct steadyfs_part *parts, uint32_t count);
  // Makes earlier writes durable. Null if each write is durable when its callback returns.
  int (*flush)(void *context);
  // Informs the device that the content of these sectors is not needed. Null if the device has
  // no such command. The volume ignores an error of this callback.
  int (*discard)(void *context, uint32_t first, uint32_t count);
} steadyfs_sectors;

// Settings of a volume. They are chosen at the format and stored on the volume. A mount uses only
// `group_sectors`, and reads the other settings from the volume. Only steadyfs_memory_bytes uses
// `open_files`.
//
// The value 0 stands for the default of each setting. A struct of zeros suits most volumes.
typedef struct steadyfs_settings {
  // Number of program pages in a logical page: a power of two, 1 to 32. More make the map and
  // tables smaller. Fewer make rewrites of single program pages cheaper. Default: the number
  // that makes 4 KiB, if a block holds at least 8 such logical pages.
  uint16_t pages_per_logical_page;
  // Number of map changes that RAM holds. At least transaction_pages + 40, and at most 8,192.
  // More give fewer programs per write and more usable space. Each takes 4 bytes of RAM, or 8
  // bytes if all blocks together hold more than 32,768 logical pages. Default: 64 or more,
  // depending on the medium's size.
  uint16_t overlay_entries;
  // Number of logical pages that one transaction may write, 2 to 1,024. More allow larger
  // transactions. If the number is less than 16, even a single call may be refused.
  // steadyfs_transaction_room returns the bytes that still fit. Default: 16, or 32 on most media
  // of 3,072 to 8,191 logical pages. On sectors: 16 to 256.
  uint16_t transaction_pages;
  // Number of programs between two roots, 16 to 4,096. More give fewer programs per write. Fewer
  // give a faster mount after a power cut. Default: 32 or more, depending on the medium's size.
  uint16_t checkpoint_programs;
  // Number of bad blocks, factory and grown together, that do not shrink the volume. Each
  // further bad block makes it smaller. STEADYFS_NO_BAD_BLOCKS means none. Default: 1/50 of the
  // blocks of NAND or 1/200 of the blocks of NOR, but at least 2. On sectors none.
  uint16_t bad_blocks_max;
  // Maximum number of files and directories, up to 1,048,576. A name of more than 64 bytes
  // counts as one more file. So do the attributes of a file. Default: one for each two logical
  // pages, or more if the volume has few logical pages. The default is 64 to 65,536.
  uint32_t files_max;
  // Largest allowed difference between the erase counts of two blocks, 8 to 200. A smaller value
  // causes more moves of data at rest. Use STEADYFS_NONE if the device itself levels wear.
  // Default: 32. On sectors none.
  uint8_t wear_spread;
  // Number of failed programs that one call tolerates by writing to other pages, up to 8.
  // STEADYFS_NONE means none. Default: 2. On sectors 1.
  uint8_t failures;
  // Maximum number of bytes of a name, 1 to 255. This number does not change the size of any
  // table. Default: 255.
  uint8_t name_bytes_max;
  // Number of streams, 1 to 4: see STEADYFS_O_STREAM. Each stream except the first takes the
  // space of one block. Default: 1.
  uint8_t streams;
  // Number of program pages that garbage collection moves in one command, 1 to 64. A number
  // above 1 is only for devices that level wear themselves. Default: 1. On sectors up to 16.
  uint8_t move_group;
  // On NOR: number of bytes of each map page that stay free for later changes, 48 to 240.
  // Default: 96, or 192 if 192 makes more of the medium usable.
  uint8_t leaf_log_bytes;
  // On NOR: number of program pages of the journal's buffer, 1 to 16. Together they have at most
  // 4,096 bytes. Default: the pages that hold 512 bytes, or 2,048 bytes if blocks are large.
  uint8_t journal_pages;
  // True if the volume stores mode, owner and group of files and directories. Default: false.
  bool permissions;
  // True if garbage collection moves pages only to blocks of the same stream. Default: false.
  bool moved_apart;
  // True if the volume itself assigns pages to streams. This needs 772 bytes of RAM. Default:
  // false.
  bool auto_streams;
  // On NOR: number of erase sectors of a block, a power of two. Default: the smallest number
  // with which the default settings fit. The other settings of this struct do not change this
  // default. If pages_per_logical_page or overlay_entries exceeds its default, more sectors may
  // be necessary (STEADYFS_ERR_CONFIG_UNIT_PAGES, STEADYFS_ERR_CONFIG_BLOCK_TOO_SMALL). A mount
  // needs the same number as the format. With another number it does not find the volume, and
  // returns STEADYFS_ERR_GEOMETRY.
  uint16_t group_sectors;
  // Number of files that may be open at once. steadyfs_memory_bytes adds memory for them.
  // Default: 8. Each further file takes 12 bytes of memory.
  uint16_t open_files;
} steadyfs_settings;

// Configuration for steadyfs_format and steadyfs_mount. A struct of zeros needs only a driver and
// memory to be complete.
//
// The driver's struct and the memory must remain valid until the unmount. This struct need not.
typedef struct steadyfs_config {
  // The driver of a NAND chip. Set exactly one of the three drivers. The others are null.
  const struct steadyfs_nand *nand;
  // The driver of a NOR chip. Set exactly one of the three drivers. The others are null.
  const struct steadyfs_nor *nor;
  // The driver of a card or a disk. Set exactly one of the three drivers. The others are null.
  const struct steadyfs_sectors *sectors;
  // All the RAM that the volume uses in addition to steadyfs_t. It may have any alignment. It
  // belongs to one volume until the unmount.
  void *memory;
  // Number of bytes of `memory`. steadyfs_memory_bytes returns a size that is enough for 8 open
  // files, or for settings.open_files if that is more. Each further open file needs 12 bytes
  // more. If the memory is smaller, format and mount reduce the number of open files, down to
  // none. If that is not enough, they return STEADYFS_ERR_NOMEM.
  size_t memory_bytes;
  // Memory for pages that are written in part, or null. The pages stay in this memory until the
  // commit. So several writes of a page cost one program. Default: null. Each such write is then
  // programmed.
  void *cache;
  // Number of bytes of `cache`: see steadyfs_cache_bytes.
  size_t cache_bytes;
  // Memory that caches pages that are read often, such as pages of directories, or null.
  // Default: null. Each read then accesses the medium.
  void *read_cache;
  // Number of bytes of `read_cache`: see steadyfs_read_cache_bytes.
  size_t read_cache_bytes;
  // True to mount for reading only. The volume then never programs or erases the medium.
  // Default: false.
  bool read_only;
  // True if steadyfs_file_read does not verify the checksums of the data. The volume's own
  // tables are still verified. Use it for flash with an ECC: it saves nine tenths of the
  // instructions of a long read. Default: false. All data is then verified.
  bool trust_data;
  // Time of an instruction of the processor, in picoseconds. All bounds then contain the time of
  // the processor, and the budget of steadyfs_maintain limits it. A Cortex-M3 of 72 MHz takes 1.3
  // cycles for an instruction: 18,056 picoseconds. Default: 0. The bounds then contain flash and
  // driver alone.
  uint32_t instruction_ps;
  // Events after which the volume commits: values of enum steadyfs_commit_event. The default, 0,
  // stands for STEADYFS_COMMIT_ON_CLOSE. STEADYFS_COMMIT_MANUAL stands for no events.
  uint16_t commit_on;
  // If STEADYFS_COMMIT_MANY is set: number of calls with changes after which the volume commits.
  // The default, 0, means no limit.
  uint32_t commit_changes;
  // If STEADYFS_COMMIT_MANY is set: number of written bytes after which the volume commits. The
  // default, 0, means no limit.
  uint32_t commit_bytes;
  // If STEADYFS_COMMIT_TIMED is set: the longest time that a change waits for a commit, in the
  // unit of steadyfs_set_time. The default, 0, means one second in nanoseconds.
  uint64_t commit_interval_ns;
  // Settings of the volume. Only a format uses all of them.
  struct steadyfs_settings settings;
} steadyfs_config;

// A volume, in memory of the caller. This struct gives C its size and alignment.
//
// The memory may hold any bytes before steadyfs_mount. If the memory is filled with zeros, calls
// before the mount are refused. The struct must not move while it is mounted. Volumes are
// independent of each other. A volume takes one call at a time: several threads need a mutex.
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
  // Inode number of the file or directory. The number never changes.
  uint32_t inode;
  // Inode number of the directory that contains the object. The parent of the root is the root.
  uint32_t parent;
  // Number that distinguishes files which had the same inode number one after the other.
  uint32_t generation;
  // Number of directories in a directory.
  uint32_t subdirectories;
  // Number of bytes of a file, or of the target of a link. For a directory, number of its
  // entries.
  uint64_t size;
  // Time of the last change, as set by steadyfs_set_time. It is 0 if no time was set.
  uint64_t modified_ns;
  // Name of the object, followed by a NUL. It is `/` for the root, and empty if the path ended
  // with `..`.
  char name[256];
} steadyfs_info;

// Mode, owner and group of a file or directory. The file system does not enforce them: the
// caller grants access.
typedef struct steadyfs_permissions {
  // The twelve bits of chmod.
  uint16_t mode;
  // User ID of the owner.
  uint32_t uid;
  // ID of the group.
  uint32_t gid;
} steadyfs_permissions;

// An open file, in memory of the caller. The memory may hold any bytes before
// steadyfs_file_open.
//
// A change through one handle of a file is visible through its other handles. If a file is renamed
// or removed, its handles still access the same file. A handle that is not closed occupies its
// entry in the table of open files until the unmount or steadyfs_file_close_all. If its file is
// removed, it also keeps the room of the file.
typedef struct steadyfs_file_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_FILE_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_FILE_POINTERS];
} steadyfs_file_t;

// An open directory, in memory of the caller. It occupies no entry of a table, and need not be
// closed.
typedef struct steadyfs_dir_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_DIR_WORDS];
} steadyfs_dir_t;

// Memory of the caller for an observer. It must remain valid until the unmount.
typedef struct steadyfs_observer_t {
  // Not for the caller.
  size_t opaque[STEADYFS_OBSERVER_WORDS];
} steadyfs_observer_t;

// Properties and use of a volume.
typedef struct steadyfs_fsinfo {
  // Version of the format on the medium.
  uint32_t disk_version;
  // Number of bytes of the unit of allocation: a logical page.
  uint32_t block_size;
  // Number of logical pages that may hold data: usable_bytes / block_size.
  uint32_t block_count;
  // Maximum number of bytes of a name.
  uint32_t name_max;
  // Maximum number of bytes of a file.
  uint64_t file_max;
  // Maximum number of bytes of all attributes of a file together. An attribute takes the bytes
  // of its key and its value, and two more bytes.
  uint32_t attr_max;
  // Maximum number of files and directories.
  uint32_t files_max;
  // Number of files, directories, long names and sets of attributes.
  uint32_t files;
  // Number of bytes for data, used and free together.
  uint64_t usable_bytes;
  // Number of used bytes. It includes the pages of removed files, although writes can reuse
  // these pages: see steadyfs_fs_free.
  uint64_t used_bytes;
} steadyfs_fsinfo;

// Health of the medium.
typedef struct steadyfs_health_info {
  // True if the volume can only be read, for any reason.
  bool read_only;
  // True if so many blocks are bad that the content leaves too little space for garbage
  // collection.
  bool worn_out;
  // Number of wrong bits in the worst correction since the mount.
  uint8_t worst_bits;
  // Number of bits that the ECC can correct in a codeword. It is 0 if the driver does not report
  // corrections.
  uint8_t worst_strength;
  // Number of bad blocks, including factory bad blocks.
  uint32_t bad_blocks;
  // Number of blocks that may still go bad before the volume shrinks.
  uint32_t spare_blocks;
  // Number of blocks whose data must be moved because their pages needed many corrections.
  uint32_t weak_blocks;
  // Number of erases of the least worn block since the first format.
  uint32_t erases_min;
  // Number of erases of the most worn block since the first format.
  uint32_t erases_max;
  // Number of blocks whose erases are in erases_total.
  uint32_t blocks;
  // Total number of erases of all blocks in use.
  uint64_t erases_total;
  // Number of reads since the mount.
  uint32_t reads;
  // Number of reads since the mount that needed a correction.
  uint32_t corrected_reads;
  // Number of reads since the mount that could not be corrected.
  uint32_t lost_reads;
} steadyfs_health_info;

// One finding of a check.
typedef struct steadyfs_finding {
  // A value of enum steadyfs_finding_kind.
  uint8_t kind;
  // Inode number of the file or directory: 0 is the root. These kinds have no inode, and store
  // 0: UNREADABLE_TABLE, WRONG_COUNT, LEAKED_PAGE, UNMARKED_PAGE, BAD_LIST, OTHER. For
  // LOST_CHANGES it is a number of inodes.
  uint32_t inode;
  // Inode number of the directory whose entry or count is wrong: 0 is the root. Only BAD_ENTRY
  // and WRONG_COUNT have a directory. Other kinds store 0.
  uint32_t directory;
  // Number of the logical page. Only UNREADABLE_TABLE, UNREADABLE_PAGE, LEAKED_PAGE,
  // UNMARKED_PAGE and SHARED_PAGE have a page. Other kinds store 0.
  uint32_t page;
} steadyfs_finding;

// Extent and result of a check.
typedef struct steadyfs_checked {
  // Number of files.
  uint32_t files;
  // Number of directories, including the root.
  uint32_t directories;
  // Number of logical pages of files and directories.
  uint32_t pages;
  // Number of data pages of files that cannot be read.
  uint32_t unreadable;
  // Number of findings, including mended findings.
  uint32_t findings;
  // Number of findings that were mended.
  uint32_t mended;
} steadyfs_checked;

// The worst case of a call that is made now.
//
// - It holds for the next call alone. After a change, later calls may have larger bounds. So do
//   not add up bounds that were asked in advance.
// - It belongs to the present state. It grows with the fill of the volume, and with the small
//   changes that wait in its buffers.
// - It includes a commit that the handle or commit_on causes. A steadyfs_commit by the caller is
//   a separate call.
// - It holds if no program fails. Each failure adds the programs of a logical page and of a root,
//   and an erase. Only Rust computes bounds with failures (CallBounds::with_failures).
// - It costs nothing: the call that stores it only computes.
//
// steadyfs_format has no bound. A run of `steady evaluate` with `--fill` and `--timing maximum`
// prints the largest bound at a fill.
//
// `time_ns` is the time of the slowest case. Each other field is the maximum number of one
// operation. The maxima may belong to different cases.
typedef struct steadyfs_cost {
  // Number of reads of whole pages.
  uint32_t reads;
  // Number of reads of tags without their pages.
  uint32_t tag_reads;
  // Number of programs of pages.
  uint32_t programs;
  // Number of programs that copy a page inside the chip: calls of the driver's `copy`.
  uint32_t copies;
  // Number of erases of blocks.
  uint32_t erases;
  // Number of instructions of the processor, beside those of the operations.
  uint32_t instructions;
  // Time in nanoseconds, computed from the timing of the driver and steadyfs_config.instruction_ps.
  uint64_t time_ns;
} steadyfs_cost;

// An open file that may be compressed, in memory of the caller. The memory may hold any bytes
// before steadyfs_packed_open.
//
// The handle caches the chunk that it decoded last. If another handle has changed the file, close
// this handle and open the file again.
typedef struct steadyfs_packed_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_PACKED_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_PACKED_POINTERS];
} steadyfs_packed_t;

// Configuration for steadyfs_rom_mount: the medium that contains the image, and memory. A struct
// of zeros needs only these two to be complete.
//
// Image, driver and memory must remain valid until the unmount. This struct need not. A mounted
// image uses only the driver's callbacks `read` and `is_bad`, but the driver must have all
// required callbacks.
typedef struct steadyfs_rom_config {
  // An image that the processor reads as memory: linked into the firmware, or on mapped flash.
  // Set exactly one of `image`, `nor` and `nand`. The others are null.
  const void *image;
  // Number of bytes of `image`. The image may be shorter.
  size_t image_bytes;
  // The driver of the NOR chip with the plain bytes of the image. Set exactly one of `image`,
  // `nor` and `nand`. The others are null.
  const struct steadyfs_nor *nor;
  // Address of the image's first byte on NOR.
  uint32_t nor_address;
  // Number of bytes from `nor_address` on. The image may be shorter. The default, 0, means all
  // bytes up to the end of the chip.
  uint32_t nor_bytes;
  // The driver of the NAND chip that contains the image behind its header.
  // `steady pack --read-only --device` or steadyfs_rom_install_begin has written it. If the
  // image lies in a part of a chip, block 0 of the driver is the first block of this part. Set
  // exactly one of `image`, `nor` and `nand`. The others are null.
  const struct steadyfs_nand *nand;
  // On NAND: maximum number of bad blocks among the blocks of the image. Each takes 4 bytes of
  // memory. STEADYFS_NO_BAD_BLOCKS means none. The default, 0, means 1/50 of the blocks of the
  // chip, but at least 2 and at most 200.
  uint16_t bad_blocks_max;
  // If there is a public key: number of blocks of the hash tree that are cached, 1 to 8. More
  // blocks give fewer reads and hashes. The default, 0, means one block for each level of the
  // tree.
  uint8_t hash_blocks;
  // Memory that the image uses in addition to steadyfs_rom_t. It may have any alignment. It
  // belongs to one image until the unmount.
  void *memory;
  // Number of bytes of `memory`: at least steadyfs_rom_memory_bytes. More memory caches up to 16
  // blocks of names and inodes.
  size_t memory_bytes;
  // Memory that caches pieces of the image that are read often, or null. It helps if names and
  // inodes are uncompressed (steady pack --plain-metadata), or if flash is slow. Default: null.
  // Each read then accesses the medium.
  void *cache;
  // Number of bytes of `cache`: see steadyfs_rom_cache_bytes.
  size_t cache_bytes;
  // Number of bytes of a piece of the cache. The default, 0, means a page of the NAND chip, or
  // 512 bytes on other media.
  uint32_t cache_piece_bytes;
  // The Ed25519 key of 32 bytes with which the image must be signed (steady keygen, steady pack
  // --sign), or null. If there is a key, every block is verified each time it is read. A build
  // without the feature rom-verify refuses a key with STEADYFS_ERR_UNSUPPORTED. Default: null.
  // Nothing is then verified.
  const uint8_t *public_key;
} steadyfs_rom_config;

// A read-only image, in memory of the caller. The memory may hold any bytes before
// steadyfs_rom_mount.
//
// If the memory is filled with zeros, calls before the mount are refused. The struct must not move
// while it is mounted. An image takes one call at a time: several threads need a mutex. Calls
// never change the medium. So a power cut at any time does no harm, and a failed call may be
// repeated.
//
// A path consists of names that are separated by '/'. Names may contain any other bytes. `.` and
// `..` are ordinary names. Calls do not follow symbolic links.
typedef struct steadyfs_rom_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_ROM_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_ROM_POINTERS];
} steadyfs_rom_t;

// An open file of an image, in memory of the caller. The memory may hold any bytes before
// steadyfs_rom_file_open. The file occupies no entry of a table, and need not be closed.
typedef struct steadyfs_rom_file_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_ROM_FILE_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_ROM_FILE_POINTERS];
} steadyfs_rom_file_t;

// An open directory of an image, in memory of the caller. It occupies no entry of a table, and
// need not be closed.
typedef struct steadyfs_rom_dir_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_ROM_DIR_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_ROM_DIR_POINTERS];
} steadyfs_rom_dir_t;

// The worst case of a call of an image: time of the medium, and work of the processor. The work is
// measured in bytes. Each byte takes some processor cycles.
typedef struct steadyfs_rom_cost {
  // Time of the medium in nanoseconds, computed from the driver's timing. It is 0 if the image
  // lies in memory.
  uint64_t flash_ns;
  // Number of bytes that are decoded.
  uint64_t decoded_bytes;
  // Number of bytes that are hashed. It is 0 if there is no key.
  uint64_t hashed_bytes;
} steadyfs_rom_cost;

// An image that is being written to NAND, in memory of the caller. The memory may hold any
// bytes before steadyfs_rom_install_begin.
//
// Power loss: the header, which locates the image, is erased first and written last. A power cut
// during steadyfs_rom_install_begin leaves the earlier image or no image. From then on there is no
// image until steadyfs_rom_install_finish. When this call returns, the new image is complete.
// After a power cut the installation must begin again. If an image must exist at any time, use two
// ranges of blocks for two images. Each range has its own driver, whose block 0 is the first block
// of the range.
typedef struct steadyfs_rom_install_t {
  // Not for the caller.
  uint64_t opaque[STEADYFS_ROM_INSTALL_WORDS];
  // Not for the caller.
  size_t pointers[STEADYFS_ROM_INSTALL_POINTERS];
} steadyfs_rom_install_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the English text of an error code. The text stays valid for ever.
//
// `code` is the result of a call. For a number that is not an error, the text is "no error".
const char *steadyfs_error_string(int code);

// Returns the number of bytes of memory that a volume needs, or an error: STEADYFS_ERR_DRIVER,
// STEADYFS_ERR_CONFIG... for an invalid setting, or STEADYFS_ERR_UNSUPPORTED if the build lacks
// the feature of the medium or of a setting. The call ignores the fields for memory. It calls no
// callback of the driver.
ptrdiff_t steadyfs_memory_bytes(const struct steadyfs_config *config);

// Returns the number of bytes that a cache of `pages` logical pages needs. Errors: as
// steadyfs_memory_bytes.
ptrdiff_t steadyfs_cache_bytes(const struct steadyfs_config *config, size_t pages);

// Returns the number of bytes that a read cache of `pages` program pages needs. Errors: as
// steadyfs_memory_bytes.
ptrdiff_t steadyfs_read_cache_bytes(const struct steadyfs_config *config, size_t pages);

// Returns the number of bytes of scratch memory that steadyfs_fs_check and steadyfs_fs_repair
// need. Errors: as steadyfs_memory_bytes.
ptrdiff_t steadyfs_check_bytes(const struct steadyfs_config *config);

// Stores all settings. Fields that are 0 are replaced by their defaults. Returns 0, or an error as
// steadyfs_memory_bytes does.
int steadyfs_settings_of(const struct steadyfs_config *config, struct steadyfs_settings *settings);

// Stores the best settings for which steadyfs_memory_bytes is at most `memory_bytes`. The call
// replaces only settings that are 0. If the memory is larger than the defaults need, NOR gets
// larger journal buffers and smaller logical pages. If the memory is smaller, the call first
// reduces the tables that matter least for small changes. If no settings fit, it stores the
// smallest settings. So compare steadyfs_memory_bytes of the result with `memory_bytes`. Lend the
// remaining memory as a cache. On sectors `memory_bytes` does not change the settings. Returns 0,
// or an error as steadyfs_memory_bytes does.
int steadyfs_settings_for(const struct steadyfs_config *config, size_t memory_bytes, struct steadyfs_settings *settings);

// Creates an empty volume on a medium. All data on the medium is lost. `fs` contains no volume
// afterwards.
//
// Power loss: after a power cut neither the new volume nor an earlier volume is reliable. Format
// again. Cost: a check of the bad-block mark and one read for each block. Also about sixteen
// erases and a few programs. Errors: the errors of steadyfs_memory_bytes, STEADYFS_ERR_NOMEM,
// STEADYFS_ERR_BADBLOCKS, STEADYFS_ERR_IO and other errors of the medium.
int steadyfs_format(struct steadyfs_t *fs, const struct steadyfs_config *config);

// Mounts a volume. `fs` and the memory of the configuration belong to the volume until
// steadyfs_unmount.
//
// If a volume is not unmounted, its state is the same as after a power cut. The caller may then
// use its memory for other purposes, and may mount the volume again.
//
// Power loss: power cuts during mounts do no harm, even many in a row. Cost: bounded, and
// independent of the number of files: see steadyfs_bound_mount. Errors: STEADYFS_ERR_NOTFORMATTED
// is the only error after which you may format. Others are STEADYFS_ERR_GEOMETRY,
// STEADYFS_ERR_VERSION, STEADYFS_ERR_NOROOT, STEADYFS_ERR_ISDISK, STEADYFS_ERR_NOMEM,
// STEADYFS_ERR_DRIVER, and the errors of the medium. If committed data is lost, the volume is
// mounted for reading: see steadyfs_damage.
//
// The division of the medium must be the same as at the format. On NOR the division is erase_bytes
// and settings.group_sectors, even if the format itself chose group_sectors. On NAND it is
// page_bytes, and on sectors it is `first`. If the division differs, the mount does not find the
// volume. On NOR it then returns STEADYFS_ERR_GEOMETRY, if the first block can be read. On NAND
// and on sectors it returns STEADYFS_ERR_NOTFORMATTED. Do not change these numbers in a new
// firmware, or look for the old division before you format.
int steadyfs_mount(struct steadyfs_t *fs, const struct steadyfs_config *config);

// Ends the use of a volume. Commits if STEADYFS_COMMIT_UNMOUNT is set, as it is by default. The
// next mount is then fast: it need not search for changes, and programs nothing. Files need not be
// closed. `fs` contains no volume afterwards, even after an error. Committed data is not lost.
//
// Power loss: committed data is not lost. Cost: a commit and a root, see steadyfs_bound_unmount.
// Errors: the errors of a commit.
int steadyfs_unmount(struct steadyfs_t *fs);

// Removes a file, a link or an empty directory. The call itself frees up to eight consecutive
// pages. If the file is larger, each later call frees a few more of its pages. A file that is open
// still exists until it is closed.
//
// Power loss: the removal is durable after the next commit. Cost: steadyfs_bound_remove, for any
// size. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTEMPTY, STEADYFS_ERR_NOTDIR,
// STEADYFS_ERR_INVAL.
int steadyfs_remove(struct steadyfs_t *fs, const char *path);

// Renames or moves a file or directory. If the new name already exists, its object is replaced. A
// file can replace a file, and a directory can replace an empty directory.
//
// Power loss: before the next commit the old name exists, and after it the new name. There is
// never a moment with both names, or with neither. Cost: steadyfs_bound_rename. Errors:
// STEADYFS_ERR_NOENT, STEADYFS_ERR_ISDIR, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_NOTEMPTY,
// STEADYFS_ERR_INTOITSELF, STEADYFS_ERR_INVAL, STEADYFS_ERR_NAMETOOLONG, STEADYFS_ERR_NOSPC.
int steadyfs_rename(struct steadyfs_t *fs, const char *from, const char *to);

// Exchanges two names of files or directories. So a new tree can be written beside an old tree,
// and then replace it in one step. A second exchange restores the old tree.
//
// Power loss: before the next commit the names are not exchanged. There is never a moment at which
// one of the names is missing. Cost: steadyfs_bound_exchange. Errors: STEADYFS_ERR_NOENT,
// STEADYFS_ERR_NOTDIR, STEADYFS_ERR_INTOITSELF if one contains the other, STEADYFS_ERR_INVAL.
int steadyfs_exchange(struct steadyfs_t *fs, const char *one, const char *other);

// Stores the properties of a file or directory.
//
// Cost: steadyfs_bound_stat. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR,
// STEADYFS_ERR_NAMETOOLONG.
int steadyfs_stat(struct steadyfs_t *fs, const char *path, struct steadyfs_info *info);

// Reads an attribute of a file or directory: a small value with a name, its key. Returns the
// length of the value. The buffer receives as much of the value as fits.
//
// Cost: steadyfs_bound_getattr. Errors: STEADYFS_ERR_NOATTR, STEADYFS_ERR_NOENT, and the errors
// of a path.
ptrdiff_t steadyfs_getattr(struct steadyfs_t *fs, const char *path, const char *key, void *buffer, size_t size);

// Sets an attribute of a file or directory. All attributes of one file together take up to 248
// bytes. An attribute takes the bytes of its key and its value, and two more bytes.
//
// Power loss: the attribute belongs to the open transaction, as data does. If
// STEADYFS_COMMIT_WRITE is set, the call commits. Cost: steadyfs_bound_setattr. Errors:
// STEADYFS_ERR_ATTRIBUTES, STEADYFS_ERR_INVAL for an empty key, STEADYFS_ERR_TOOMANYFILES,
// STEADYFS_ERR_NOENT, and the errors of a path.
int steadyfs_setattr(struct steadyfs_t *fs, const char *path, const char *key, const void *buffer, size_t size);

// Removes an attribute. Power loss, cost: as steadyfs_setattr. Errors: STEADYFS_ERR_NOATTR,
// STEADYFS_ERR_NOENT, and the errors of a path.
int steadyfs_removeattr(struct steadyfs_t *fs, const char *path, const char *key);

// Creates a symbolic link. `target` is any text that fits into one logical page. The file system
// stores links, but never follows them.
//
// Power loss: the whole link is durable after the next commit. Cost: steadyfs_mkdir and a write.
// Errors: as steadyfs_mkdir.
int steadyfs_symlink(struct steadyfs_t *fs, const char *target, const char *path);

// Reads the target of a symbolic link, without a NUL. Returns its length. The buffer receives as
// much of the target as fits.
//
// Cost: steadyfs_bound_stat and a read. Errors: STEADYFS_ERR_NOTALINK, and the errors of a
// path.
ptrdiff_t steadyfs_readlink(struct steadyfs_t *fs, const char *path, void *buffer, size_t size);

// Reads the permissions of a file or directory. Returns 1. Returns 0 if no permissions were set,
// or if the volume stores no permissions.
//
// Cost: twice steadyfs_bound_stat. Errors: the errors of a path.
int steadyfs_getpermissions(struct steadyfs_t *fs, const char *path, struct steadyfs_permissions *permissions);

// Sets the permissions of a file or directory. Power loss, cost: as steadyfs_setattr. Errors:
// STEADYFS_ERR_UNSUPPORTED if the volume stores no permissions, and the errors of a path.
int steadyfs_setpermissions(struct steadyfs_t *fs, const char *path, const struct steadyfs_permissions *permissions);

// Opens a file. `flags` combines STEADYFS_O_... with |, and contains at least one of RDONLY,
// WRONLY and RDWR.
//
// Power loss: the creation or truncation of the file is durable after the next commit. Cost:
// steadyfs_bound_file_open. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_EXIST, STEADYFS_ERR_ISDIR,
// STEADYFS_ERR_ISALINK, STEADYFS_ERR_NOTDIR, STEADYFS_ERR_INVAL, STEADYFS_ERR_NAMETOOLONG,
// STEADYFS_ERR_NOTUTF8, STEADYFS_ERR_NOTWRITABLE if flags contradict each other,
// STEADYFS_ERR_TOOMANYOPEN, STEADYFS_ERR_TOOMANYFILES, STEADYFS_ERR_NOSPC.
int steadyfs_file_open(struct steadyfs_t *fs, struct steadyfs_file_t *file, const char *path, int flags);

// Opens a file by its inode number (steadyfs_info), even if it was renamed. In all other respects
// it is like steadyfs_file_open.
int steadyfs_file_open_inode(struct steadyfs_t *fs, struct steadyfs_file_t *file, uint32_t inode, int flags);

// Closes a file. Commits if the handle may write and STEADYFS_COMMIT_CLOSE is set, as it is by
// default. The handle is closed even after an error.
//
// Power loss: if the call commits, as in steadyfs_commit. Cost: steadyfs_bound_file_close. Errors:
// STEADYFS_ERR_BADF, and the errors of a commit.
int steadyfs_file_close(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Closes all files of the volume, also those whose handles are lost. Later calls refuse the
// handles with STEADYFS_ERR_BADF. They also free the room of files that were removed and still
// open, a few pages in each call.
//
// Power loss: if the call commits, as in steadyfs_commit. Cost: nothing, or steadyfs_bound_commit
// if STEADYFS_COMMIT_CLOSE is set, as it is by default. Errors: the errors of a commit.
int steadyfs_file_close_all(struct steadyfs_t *fs);

// If STEADYFS_COMMIT_FSYNC is set, as it is by default, makes the changes of a file and all other
// changes durable.
//
// Power loss: the volume contains all changes since the last commit, or none of them. Cost:
// steadyfs_bound_commit. Errors: STEADYFS_ERR_BADF, and the errors of a commit.
int steadyfs_file_sync(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Reads from the position on, and moves the position. Returns the number of bytes that were read.
// Only at the end of the file it is less than `size`.
//
// Cost: steadyfs_bound_file_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOTREADABLE,
// STEADYFS_ERR_STALE, STEADYFS_ERR_CORRUPT.
ptrdiff_t steadyfs_file_read(struct steadyfs_t *fs, struct steadyfs_file_t *file, void *buffer, size_t size);

// Writes at the position, and moves the position behind the written bytes. If the handle has
// STEADYFS_O_APPEND, writes at the end of the file. Returns `size`. The file grows if needed. A
// gap reads as zeros.
//
// A write of more than one logical page consists of several writes. If one of them fails, the
// earlier writes have taken effect, and the position does not move.
//
// Power loss: before the next commit, the file has none of the written data. If the handle has
// STEADYFS_O_DURABLE, each logical page is committed separately. If STEADYFS_COMMIT_FULL is set, a
// write that does not fit into the transaction is committed in pieces.
//
// Cost: steadyfs_bound_file_write. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOTWRITABLE,
// STEADYFS_ERR_NOSPC, STEADYFS_ERR_FBIG, STEADYFS_ERR_TRANSACTION, STEADYFS_ERR_STALE,
// STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING, STEADYFS_ERR_UNKNOWN.
ptrdiff_t steadyfs_file_write(struct steadyfs_t *fs, struct steadyfs_file_t *file, const void *buffer, size_t size);

// Moves the position, which may also be behind the end of the file. `whence` is STEADYFS_SEEK_SET,
// CUR or END. Returns the new position.
//
// Cost: nothing, but STEADYFS_SEEK_END may need a look-up of the inode. Errors: STEADYFS_ERR_BADF,
// STEADYFS_ERR_INVAL for a position before the start or an unknown `whence`, STEADYFS_ERR_FBIG for
// a position that no file reaches.
int64_t steadyfs_file_seek(struct steadyfs_t *fs, struct steadyfs_file_t *file, int64_t offset, int whence);

// Truncates a file, or extends it with zeros. The position does not move.
//
// Power loss: the file has the old size or the new size. Cost: steadyfs_bound_file_truncate, for
// all sizes. Errors: as steadyfs_file_write. STEADYFS_ERR_UNSUPPORTED in a build without the
// feature `truncate`.
int steadyfs_file_truncate(struct steadyfs_t *fs, struct steadyfs_file_t *file, uint64_t size);

// Returns the position. Costs nothing. Errors: STEADYFS_ERR_BADF.
int64_t steadyfs_file_tell(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Moves the position to the start. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_file_rewind(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Returns the size of a file in bytes. Cost: nothing, or a look-up of the inode. Errors:
// STEADYFS_ERR_BADF, STEADYFS_ERR_STALE.
int64_t steadyfs_file_size(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Reserves space for the bytes `from` to `to` of a file, so that writes to these bytes cannot fail
// because the volume is full. The size of the file does not change.
//
// One call reserves consecutive pages, and returns the position up to which space is reserved now.
// Repeat the call from this position until it returns `to` or more.
//
// Power loss: the reservation is durable after the next commit. Cost: steadyfs_bound_file_write of
// 65 bytes. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOSPC, STEADYFS_ERR_FBIG,
// STEADYFS_ERR_NOTWRITABLE, STEADYFS_ERR_STALE.
int64_t steadyfs_file_reserve(struct steadyfs_t *fs, struct steadyfs_file_t *file, uint64_t from, uint64_t to);

// Returns the inode number of a file. The number never changes. Costs nothing. Errors:
// STEADYFS_ERR_BADF.
int64_t steadyfs_file_inode(struct steadyfs_t *fs, struct steadyfs_file_t *file);

// Creates a directory.
//
// Power loss: the directory is durable after the next commit. Cost: steadyfs_bound_mkdir. Errors:
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
// `..`. An entry that exists from the first call to the last call is returned exactly once, even
// if other entries are created or removed between the calls. Entries come in the order of a hash.
//
// Cost: steadyfs_bound_dir_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NOENT if the directory
// was removed, STEADYFS_ERR_CORRUPT.
int steadyfs_dir_read(struct steadyfs_t *fs, struct steadyfs_dir_t *dir, struct steadyfs_info *info);

// Moves to a position that steadyfs_dir_tell returned, in this or an earlier mount. Costs nothing.
// Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_INVAL.
int steadyfs_dir_seek(struct steadyfs_t *fs, struct steadyfs_dir_t *dir, int64_t place);

// Returns the position in a directory. The position stays valid after any change of the directory.
// Costs nothing. Errors: STEADYFS_ERR_BADF.
int64_t steadyfs_dir_tell(struct steadyfs_t *fs, struct steadyfs_dir_t *dir);

// Moves to the start of a directory. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_dir_rewind(struct steadyfs_t *fs, struct steadyfs_dir_t *dir);

// Makes all changes durable, for any value of commit_on.
//
// Power loss: the volume contains all changes since the last commit, across files and directories,
// or none of them. Cost: steadyfs_bound_commit, or nothing if there are no changes. Errors:
// STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT, STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING,
// STEADYFS_ERR_TRANSACTION, STEADYFS_ERR_UNKNOWN.
int steadyfs_commit(struct steadyfs_t *fs);

// If STEADYFS_COMMIT_SYNC is set, as it is by default, commits as steadyfs_commit does.
int steadyfs_sync(struct steadyfs_t *fs);

// Undoes all changes since the last commit. Handles of files that were created after the last
// commit become stale: STEADYFS_ERR_STALE.
//
// Power loss: a power cut undoes the same changes. Cost: steadyfs_bound_rollback. Errors:
// STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT, STEADYFS_ERR_UNKNOWN. After an error nothing has changed.
int steadyfs_rollback(struct steadyfs_t *fs);

// Returns 1 if changes wait for a commit, else 0. Costs nothing.
int steadyfs_has_changes(struct steadyfs_t *fs);

// Returns the number of bytes that one write or append can certainly add to the open transaction.
// On a new volume this is the size of a whole transaction. On a volume in use it can be much less,
// even 0 right after steadyfs_commit, because it assumes the worst case. A write may fit all the
// same: only STEADYFS_ERR_TRANSACTION means that there is no room.
//
// A call that does not fit is refused with STEADYFS_ERR_TRANSACTION, and changes nothing. But a
// write of more than one logical page may have written its first pages: call steadyfs_rollback. If
// STEADYFS_COMMIT_FULL is set, the volume commits instead. All presets except
// STEADYFS_COMMIT_MANUAL contain this event. More transaction_pages make transactions larger.
// Costs nothing.
int64_t steadyfs_transaction_room(struct steadyfs_t *fs);

// Sets the events after which the volume commits: see commit_on of steadyfs_config. Costs nothing.
// Errors: STEADYFS_ERR_INVAL.
int steadyfs_set_commit_on(struct steadyfs_t *fs, uint16_t commit_on);

// Sets the volume's time: nanoseconds since 1970, or the time of any clock that never goes back.
// The volume stores this time with each change. If no time was set, changes have no time, and an
// overwrite through a durable handle costs one program less. Costs nothing.
int steadyfs_set_time(struct steadyfs_t *fs, uint64_t now_ns);

// Sets the time, and makes the commit of STEADYFS_COMMIT_TIMED if it is due. Returns the time at
// which the next call is due, or 0 if no change waits for a commit.
//
// Power loss, cost, errors: if the call commits, as steadyfs_commit.
int64_t steadyfs_poll(struct steadyfs_t *fs, uint64_t now_ns);

// Calls `changed` after every change of the volume, within the call that makes the change.
// `changed` must not call the volume. A later observer replaces the earlier observer. Bounds do
// not include the time of `changed`. Errors: STEADYFS_ERR_INVAL.
int steadyfs_observe(struct steadyfs_t *fs,
                     struct steadyfs_observer_t *observer,
                     void (*changed)(void *context, int event, uint32_t inode),
                     void *context);

// Stores the properties and the use of a volume. Costs nothing.
int steadyfs_fs_stat(struct steadyfs_t *fs, struct steadyfs_fsinfo *info);

// Returns the number of used bytes, which is used_bytes of steadyfs_fsinfo. The call of littlefs
// returns a number of blocks. Costs nothing.
int64_t steadyfs_fs_size(struct steadyfs_t *fs);

// Returns the number of bytes of all free pages, and of the pages that removed files still hold.
// The result is 0 only if a write finds no page. A part of these pages will hold indexes, so one
// file can grow by fewer bytes: see steadyfs_fs_available. Cost: two look-ups for each removed
// file that still holds pages, and one look-up for each page of its indexes.
int64_t steadyfs_fs_free(struct steadyfs_t *fs);

// Returns the number of bytes that the next writes to one file can certainly store. These are the
// free pages and the pages that removed files still hold, minus the pages for indexes. Cost: as
// steadyfs_fs_free.
int64_t steadyfs_fs_available(struct steadyfs_t *fs);

// Prepares the volume in idle time, so that the next `burst_bytes` of writes need neither garbage
// collection nor an erase. Returns 1 if the preparation is complete, else 0.
//
// The call frees the pages of removed files, moves data out of blocks that shall be erased, erases
// blocks, and writes parts of the map. It stops before the medium has worked for `budget_ns`,
// computed from the driver's timing. In `burst_bytes` a durable write that is shorter than a
// program page counts as a whole page.
//
// Power loss: committed data is not lost. The call does not end an open transaction. Cost: at most
// the budget, if no operation fails. Errors: STEADYFS_ERR_IO, STEADYFS_ERR_CORRUPT,
// STEADYFS_ERR_READONLY, STEADYFS_ERR_MEDIAFAILING.
int steadyfs_fs_gc(struct steadyfs_t *fs, uint64_t budget_ns, uint64_t burst_bytes);

// Reads data at rest for `budget_ns`, so that flipped bits are found while the ECC still corrects
// them. The call continues where the last call stopped. Returns 1 if a round through all data is
// complete, else 0.
//
// This call moves no data. Later calls that change the volume move the data of weak pages, and so
// does steadyfs_fs_gc.
//
// Cost: at most the budget. Errors: STEADYFS_ERR_IO. STEADYFS_ERR_UNSUPPORTED in a build without
// the feature `scrub`.
int steadyfs_fs_scrub(struct steadyfs_t *fs, uint64_t budget_ns);

// Stores the health of the medium. Costs nothing.
int steadyfs_health(struct steadyfs_t *fs, struct steadyfs_health_info *health);

// Returns the damage, a value of enum steadyfs_damage_kind, or an error. Costs nothing.
int steadyfs_damage(struct steadyfs_t *fs);

// Verifies every page and every reference of the volume, and calls `report` for each fault, if
// `report` is not null. If `repair` is true, first commits earlier changes, and mends each fault
// that can be mended in its own transaction. Close all files before the call. `checked` may be
// null.
//
// Power loss: mended faults stay mended. Cost: the call reads the whole volume. Errors:
// STEADYFS_ERR_NOMEM if `scratch` has fewer bytes than steadyfs_check_bytes, and STEADYFS_ERR_IO.
// If `repair` is true, also the errors of a commit. Damage is a finding, not an error.
int steadyfs_fs_check(struct steadyfs_t *fs,
                      void *scratch,
                      size_t scratch_bytes,
                      bool repair,
                      void (*report)(void *context, const struct steadyfs_finding *finding),
                      void *context,
                      struct steadyfs_checked *checked);

// Accepts the damage as lost data, checks the volume, and mends the consequences, so that the
// volume can be changed again. Does nothing if the volume has no damage: see steadyfs_damage.
//
// Power loss: the volume can only be read until a repair ends. After a power cut during the
// repair, the repair begins again. Cost: a mount, and a steadyfs_fs_check with `repair`. Errors:
// STEADYFS_ERR_CORRUPT if the loss cannot be mended. STEADYFS_ERR_READONLY if the volume was
// mounted for reading, or if the damage was found after the mount. The errors of
// steadyfs_fs_check.
int steadyfs_fs_repair(struct steadyfs_t *fs,
                       void *scratch,
                       size_t scratch_bytes,
                       void (*report)(void *context, const struct steadyfs_finding *finding),
                       void *context,
                       struct steadyfs_checked *checked);

// Stores the worst case of steadyfs_file_open. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_file_open(struct steadyfs_t *fs, const char *path, int flags, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_file_close. It also holds for a file that was removed.
int steadyfs_bound_file_close(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_commit, steadyfs_sync and steadyfs_file_sync.
int steadyfs_bound_commit(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_file_read of `size` bytes.
int steadyfs_bound_file_read(struct steadyfs_t *fs, size_t size, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_file_write of `size` bytes at the position of a file, for any
// existing data at this position. `time_ns` is the worst case of the whole write. The other fields
// are sums over the logical pages that the write touches. The sum for the first page is computed
// from the present state of the volume. The sums for the other pages are computed from its present
// fill.
//
// If the handle has STEADYFS_O_APPEND, and the file was changed through another handle, the call
// looks up the inode. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_file_write(struct steadyfs_t *fs, struct steadyfs_file_t *file, size_t size, struct steadyfs_cost *cost);

// Stores the worst case of an overwrite of one whole existing logical page of a file, through a
// handle with STEADYFS_O_DURABLE. It holds if no time was set with steadyfs_set_time.
int steadyfs_bound_overwrite(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case, in nanoseconds, of `count` overwrites in a row, such as one write of
// several whole pages. This time is less than `count` times the worst case of one overwrite.
int steadyfs_bound_overwrites(struct steadyfs_t *fs, uint32_t count, uint64_t *time_ns);

// Stores the worst case of steadyfs_file_truncate.
int steadyfs_bound_file_truncate(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_remove. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_remove(struct steadyfs_t *fs, const char *path, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_rename. The bound holds if the depth of a moved directory is
// at most the number of names in both paths. Errors: STEADYFS_ERR_INVAL, STEADYFS_ERR_NOTUTF8.
int steadyfs_bound_rename(struct steadyfs_t *fs, const char *from, const char *to, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_exchange. The bound holds if the depth of each exchanged
// directory is at most the number of names in both paths. Errors: STEADYFS_ERR_INVAL,
// STEADYFS_ERR_NOTUTF8.
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

// Stores the worst case of steadyfs_dir_read of one entry. Each empty bucket of the directory adds
// a look-up.
int steadyfs_bound_dir_read(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case of the next steadyfs_mount of this volume after a power cut, at any fill.
// If the mount detects that the medium accepts no programs, it costs twice as much.
int steadyfs_bound_mount(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case of the next steadyfs_mount of this volume, if steadyfs_unmount ends its
// use now. This mount programs nothing. If nothing was changed since a power cut in an unmount or
// behind it, the worst case is that of steadyfs_bound_mount.
int steadyfs_bound_clean_mount(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_rollback.
int steadyfs_bound_rollback(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_unmount: a commit and a root.
int steadyfs_bound_unmount(struct steadyfs_t *fs, struct steadyfs_cost *cost);

// Returns the number of bytes of memory that steadyfs_packed_open needs for a file in chunks of
// `chunk_bytes` bytes (4096, 8192, … 65536). If `flags` is only STEADYFS_O_RDONLY, the memory is
// enough for reads. Otherwise it is also enough for writes. Errors: STEADYFS_ERR_INVAL.
ptrdiff_t steadyfs_packed_memory_bytes(size_t chunk_bytes, int flags);

// Opens a file, compressed or not. Compressed files come from steady pack --compress, from mounted
// directories, and from firmware. `flags` has the same meaning as in steadyfs_file_open. `memory`
// belongs to the handle until the file is closed.
//
// An existing file keeps its own format. A new file is compressed (LZ4) in chunks of
// `chunk_bytes`. If `chunk_bytes` is 0, the attribute steadyfs.compress of its directory decides.
// If there is no such attribute, the file is not compressed. If an existing file uses another
// method than LZ4, its reads return STEADYFS_ERR_UNSUPPORTED.
//
// Power loss, cost: as steadyfs_file_open. A new file adds a steadyfs_setattr. Errors: the errors
// of these two calls, STEADYFS_ERR_NOMEM (steadyfs_packed_memory_bytes), and STEADYFS_ERR_INVAL
// for an invalid `chunk_bytes`.
int steadyfs_packed_open(struct steadyfs_t *fs,
                         struct steadyfs_packed_t *file,
                         const char *path,
                         int flags,
                         size_t chunk_bytes,
                         void *memory,
                         size_t memory_bytes);

// Closes a file, as steadyfs_file_close does. The caller may then use the memory again.
int steadyfs_packed_close(struct steadyfs_t *fs, struct steadyfs_packed_t *file);

// Returns the number of bytes of a chunk of a file, or 0 if the file is not compressed. Costs
// nothing. Errors: STEADYFS_ERR_BADF.
ptrdiff_t steadyfs_packed_chunk_bytes(struct steadyfs_t *fs, struct steadyfs_packed_t *file);

// Reads from the position on, and moves the position, as steadyfs_file_read does. Cost:
// steadyfs_bound_packed_read. Errors: the errors of steadyfs_file_read. STEADYFS_ERR_CORRUPT for a
// chunk that cannot be decoded. STEADYFS_ERR_UNSUPPORTED for a chunk of another method.
ptrdiff_t steadyfs_packed_read(struct steadyfs_t *fs, struct steadyfs_packed_t *file, void *buffer, size_t size);

// Writes at the position, or at the end if the handle has STEADYFS_O_APPEND, as
// steadyfs_file_write does. A long write consists of one write for each chunk.
//
// Power loss: before the next commit, the file has none of the written data. If the handle has
// STEADYFS_O_DURABLE, a write commits at its end. Cost: steadyfs_bound_packed_write. Errors: the
// errors of steadyfs_file_write, STEADYFS_ERR_CORRUPT for a chunk that cannot be decoded.
ptrdiff_t steadyfs_packed_write(struct steadyfs_t *fs, struct steadyfs_packed_t *file, const void *buffer, size_t size);

// Moves the position, as steadyfs_file_seek does. STEADYFS_SEEK_END reads the size, which has 8
// bytes.
int64_t steadyfs_packed_seek(struct steadyfs_t *fs, struct steadyfs_packed_t *file, int64_t offset, int whence);

// Truncates a file, or extends it with zeros, as steadyfs_file_truncate does. Cost:
// steadyfs_bound_packed_truncate.
int steadyfs_packed_truncate(struct steadyfs_t *fs, struct steadyfs_packed_t *file, uint64_t size);

// Returns the size of the content. Cost: a read of 8 bytes. Errors: STEADYFS_ERR_BADF,
// STEADYFS_ERR_STALE, STEADYFS_ERR_CORRUPT.
int64_t steadyfs_packed_size(struct steadyfs_t *fs, struct steadyfs_packed_t *file);

// Stores the worst case of steadyfs_packed_read of `size` bytes. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_packed_read(struct steadyfs_t *fs, struct steadyfs_packed_t *file, uint32_t size, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_packed_write of `size` bytes at any position. The bound
// includes each chunk or logical page that the write touches, and the zeros between the end of the
// file and the write. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_packed_write(struct steadyfs_t *fs, struct steadyfs_packed_t *file, uint32_t size, struct steadyfs_cost *cost);

// Stores the worst case of steadyfs_packed_truncate. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_packed_truncate(struct steadyfs_t *fs, struct steadyfs_packed_t *file, struct steadyfs_cost *cost);

// Reads the image's superblock, and returns the number of bytes of memory that steadyfs_rom_mount
// needs for the image. The number includes the memory for the key and for NAND.
//
// `metadata_blocks` is the number of blocks of names and inodes that are cached, up to 16.
// - 0: the minimum for a mount. The look-up of a path evicts the cached block of a file, and a
//   read of a file evicts the cached block of names.
// - 1: names and files no longer evict each other.
// - More: the look-up of a path with several names decodes fewer blocks.
//
// An image whose names and inodes are uncompressed needs 0.
//
// On NAND the call uses the `memory` of the configuration, so no mounted image may use this
// memory. It needs a page, and 4 bytes for each of bad_blocks_max. On other media the call ignores
// the fields for memory.
//
// Cost: a few reads. Errors: as steadyfs_rom_mount, but the call does not check signatures.
ptrdiff_t steadyfs_rom_memory_bytes(const struct steadyfs_rom_config *config, size_t metadata_blocks);

// Returns the number of bytes that a cache of `pieces` pieces needs. `pieces` is 1 to 64. The call
// does not use the driver's callbacks. Errors: STEADYFS_ERR_INVAL.
ptrdiff_t steadyfs_rom_cache_bytes(const struct steadyfs_rom_config *config, size_t pieces);

// Mounts an image. `rom` and the memory of the configuration belong to the image until
// steadyfs_rom_unmount.
//
// Cost: a read of 96 bytes. On NAND the call also reads the bad-block mark and a page of the first
// block. If blocks are bad, it does this for up to 32 blocks. If the image does not list bad
// blocks, it also reads the mark of each block of the image. If there is a key, it also makes a
// few reads and checks a signature.
//
// Errors:
// - STEADYFS_ERR_NOTFORMATTED if there is no squashfs image.
// - STEADYFS_ERR_VERSION.
// - STEADYFS_ERR_UNSUPPORTED if the image is compressed by another method than LZ4 or LZO, or
//   if the build lacks the medium or rom-verify.
// - STEADYFS_ERR_NOMEM (steadyfs_rom_memory_bytes, steadyfs_rom_cache_bytes).
// - STEADYFS_ERR_DRIVER if none of `image`, `nor` and `nand` is set, or more than one.
// - STEADYFS_ERR_INVAL if the range of the image lies outside the chip.
// - STEADYFS_ERR_CONFIG_PAGE_BYTES, STEADYFS_ERR_CONFIG_BLOCKS.
// - STEADYFS_ERR_BADBLOCKS if more blocks are bad than bad_blocks_max.
// - STEADYFS_ERR_NOTSIGNED, STEADYFS_ERR_NOTAUTHENTIC, STEADYFS_ERR_CORRUPT, and the errors of
//   the medium.
int steadyfs_rom_mount(struct steadyfs_rom_t *rom, const struct steadyfs_rom_config *config);

// Ends the use of an image. The caller may then use the memory again. Files and directories need
// not be closed. Costs nothing. Errors: STEADYFS_ERR_NOTMOUNTED.
int steadyfs_rom_unmount(struct steadyfs_rom_t *rom);

// Stores the properties of the object at a path of an image. `parent`, `generation`,
// `subdirectories` and the size of a directory are 0, because an image does not store them.
//
// Cost: steadyfs_bound_rom_stat. Errors: STEADYFS_ERR_NOENT, STEADYFS_ERR_NOTDIR,
// STEADYFS_ERR_CORRUPT, STEADYFS_ERR_NOTAUTHENTIC, and the errors of the medium.
int steadyfs_rom_stat(struct steadyfs_rom_t *rom, const char *path, struct steadyfs_info *info);

// Reads mode, owner and group of the object at a path of an image.
//
// Cost: steadyfs_rom_stat, and reads of two blocks of names and inodes. Errors: the errors of
// steadyfs_rom_stat.
int steadyfs_rom_getpermissions(struct steadyfs_rom_t *rom, const char *path, struct steadyfs_permissions *permissions);

// Reads the target of a symbolic link of an image, without a NUL. Returns the length of the
// target. If it is more than `size`, nothing is stored.
//
// Cost: steadyfs_rom_stat, and reads of the blocks that contain the target. Errors:
// STEADYFS_ERR_NOTALINK, and the errors of steadyfs_rom_stat.
ptrdiff_t steadyfs_rom_readlink(struct steadyfs_rom_t *rom, const char *path, void *buffer, size_t size);

// Opens a file of an image for reading.
//
// Cost: steadyfs_bound_rom_file_open. Errors: STEADYFS_ERR_ISDIR, STEADYFS_ERR_ISALINK,
// STEADYFS_ERR_UNSUPPORTED for a device, a pipe or a socket, and the errors of
// steadyfs_rom_stat.
int steadyfs_rom_file_open(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file, const char *path);

// Closes a file of an image. Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_rom_file_close(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file);

// Reads from the position on, and moves the position. Returns the number of bytes that were read.
// Only at the end of the file it is less than `size`.
//
// Cost: steadyfs_bound_rom_file_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_CORRUPT for a block
// that cannot be decoded, STEADYFS_ERR_NOTAUTHENTIC, and the errors of the medium. After an error
// the position is unchanged.
ptrdiff_t steadyfs_rom_file_read(struct steadyfs_rom_t *rom, struct steadyfs_rom_file_t *file, void *buffer, size_t size);

// Moves the position, and returns the new position. It may be behind the end of the file. `whence`
// is STEADYFS_SEEK_SET, CUR or END. Costs nothing. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_INVAL.
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

// Reads the next entry of a directory of an image. Returns 1, or 0 at the end. Entries come in the
// order of the bytes of their names. There are no entries `.` and `..`. `info` is filled as by
// steadyfs_rom_stat.
//
// Cost: steadyfs_bound_rom_dir_read. Errors: STEADYFS_ERR_BADF, STEADYFS_ERR_NAMETOOLONG for a
// name of 256 bytes, and the errors of steadyfs_rom_stat. After STEADYFS_ERR_NAMETOOLONG the next
// call continues behind this name.
int steadyfs_rom_dir_read(struct steadyfs_rom_t *rom, struct steadyfs_rom_dir_t *dir, struct steadyfs_info *info);

// Stores the worst case of steadyfs_rom_stat and steadyfs_rom_dir_open of this path. The worst
// case depends on the directories of the path. So this call reads these directories, and has the
// cost and the errors of a steadyfs_rom_stat.
int steadyfs_bound_rom_stat(struct steadyfs_rom_t *rom, const char *path, struct steadyfs_rom_cost *cost);

// Stores the worst case of steadyfs_rom_file_open of this path. Cost and errors: as
// steadyfs_bound_rom_stat.
int steadyfs_bound_rom_file_open(struct steadyfs_rom_t *rom, const char *path, struct steadyfs_rom_cost *cost);

// Stores the worst case of steadyfs_rom_file_read of `size` bytes at any position. A read that
// continues the previous read costs less, because the position of its block is already known.
// Costs nothing. Errors: STEADYFS_ERR_BADF.
int steadyfs_bound_rom_file_read(struct steadyfs_rom_t *rom,
                                 struct steadyfs_rom_file_t *file,
                                 uint32_t size,
                                 struct steadyfs_rom_cost *cost);

// Stores the worst case of steadyfs_rom_dir_read of one entry. Costs nothing. Errors:
// STEADYFS_ERR_BADF.
int steadyfs_bound_rom_dir_read(struct steadyfs_rom_t *rom, struct steadyfs_rom_dir_t *dir, struct steadyfs_rom_cost *cost);

// Returns the number of bytes of memory that an installation needs: two pages, and 4 bytes for
// each of bad_blocks_max. The call uses only `nand` and bad_blocks_max of the configuration, and
// does not use the driver's callbacks. Errors: STEADYFS_ERR_INVAL if there is no driver,
// STEADYFS_ERR_DRIVER if the driver lacks a callback, STEADYFS_ERR_CONFIG_PAGE_BYTES,
// STEADYFS_ERR_CONFIG_BLOCKS.
ptrdiff_t steadyfs_rom_install_bytes(const struct steadyfs_rom_config *config);

// Begins to write an image to the NAND chip of a configuration. An earlier image on the chip is
// lost. The call uses only `nand`, bad_blocks_max and the memory of the configuration. The memory
// belongs to the installation until it is finished.
//
// Power loss: the chip has no image, or the earlier image. Cost: an erase of each of the first
// three good blocks, and reads of the bad-block marks up to the third good block. Errors:
// STEADYFS_ERR_NOMEM, STEADYFS_ERR_BADBLOCKS if more blocks are bad than bad_blocks_max,
// STEADYFS_ERR_NOSPC, and the errors of steadyfs_rom_install_bytes and of the medium.
int steadyfs_rom_install_begin(struct steadyfs_rom_install_t *install, const struct steadyfs_rom_config *config);

// Writes the next bytes of an image. The pieces may have any size. An error ends the installation,
// which must then begin again.
//
// Power loss: the chip has no image. Cost: a program for each page that the bytes fill, and an
// erase for each block. If a block goes bad, also a read and a program for each of its programmed
// pages. Errors: STEADYFS_ERR_NOTMOUNTED if no installation has begun, STEADYFS_ERR_NOSPC if the
// chip is full, STEADYFS_ERR_BADBLOCKS, and the errors of the medium.
int steadyfs_rom_install_push(struct steadyfs_rom_install_t *install, const void *data, size_t size);

// Ends an installation, and completes the image. The installation ends even after an error, and
// the caller may then use the memory again.
//
// Power loss: the chip has no image, or the complete image. Cost: three programs. Errors:
// STEADYFS_ERR_NOTMOUNTED if no installation has begun, STEADYFS_ERR_MEDIAFAILING if the header
// could not be programmed (begin again), and the errors of the medium.
int steadyfs_rom_install_finish(struct steadyfs_rom_install_t *install);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STEADYFS_H */
