/* Zephyr's integers. */
#ifndef SHIM_TYPES_H
#define SHIM_TYPES_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#endif
