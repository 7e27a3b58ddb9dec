/* The parts of ESP-IDF's sys/dirent.h that the shim needs, so that it compiles without ESP-IDF. */
#ifndef STUB_DIRENT_H
#define STUB_DIRENT_H
#include <stdint.h>
#include <sys/types.h>
typedef struct {
    uint16_t dd_vfs_idx;
    uint16_t dd_rsv;
} DIR;
struct dirent {
    ino_t d_ino;
    uint8_t d_type;
    char d_name[256];
};
#define DT_UNKNOWN 0
#define DT_REG 1
#define DT_DIR 2
#endif
