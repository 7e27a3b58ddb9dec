/* The tests of FAT run on a volume of SteadyFS: it stands for the work area of a FAT volume. */
#ifndef SHIM_FF_H
#define SHIM_FF_H
#include "steadyfs_zephyr.h"

typedef struct steadyfs_zephyr FATFS;
typedef uint32_t DWORD;
#endif
