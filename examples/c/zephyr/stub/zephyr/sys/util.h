/* The part of Zephyr's util.h that the glue needs, so that it compiles without Zephyr. */
#ifndef STUB_ZEPHYR_UTIL_H
#define STUB_ZEPHYR_UTIL_H
#define BIT(number) (1u << (number))
#endif
