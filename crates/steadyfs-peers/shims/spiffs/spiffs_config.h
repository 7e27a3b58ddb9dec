/* The settings of SPIFFS: its defaults, except the settings that a user must choose. */
#ifndef STEADY_SPIFFS_CONFIG_H
#define STEADY_SPIFFS_CONFIG_H

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int32_t s32_t;
typedef uint32_t u32_t;
typedef int16_t s16_t;
typedef uint16_t u16_t;
typedef int8_t s8_t;
typedef uint8_t u8_t;

/* Types of the numbers of blocks, pages, objects and spans. */
typedef u16_t spiffs_block_ix;
typedef u16_t spiffs_page_ix;
typedef u16_t spiffs_obj_id;
typedef u16_t spiffs_span_ix;
#define SPIFFS_TYPES_OVERRIDE 1

/* The mount sets the shape of the chip. Nothing is printed, and nothing locks. */
#define SPIFFS_SINGLETON 0
#define SPIFFS_HAL_CALLBACK_EXTRA 1
#define SPIFFS_DBG(...)
#define SPIFFS_API_DBG(...)
#define SPIFFS_GC_DBG(...)
#define SPIFFS_CACHE_DBG(...)
#define SPIFFS_CHECK_DBG(...)
#define SPIFFS_TEST_VISUALISATION 0
#define SPIFFS_CACHE_STATS 0
#define SPIFFS_GC_STATS 0

/* The simulated chip refuses a program of ones over zeros, as chips with an ECC do. This setting makes
 * SPIFFS read before it programs. */
#define SPIFFS_NO_BLIND_WRITES 1

/* The wiki of SPIFFS recommends these for a volume that other code may have formatted. */
#define SPIFFS_USE_MAGIC 1
#define SPIFFS_USE_MAGIC_LENGTH 1

#include "default/spiffs_config.h"

#endif
