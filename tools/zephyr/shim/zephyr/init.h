/* Zephyr's start: it calls functions before main. */
#ifndef SHIM_INIT_H
#define SHIM_INIT_H
#include <zephyr/kernel.h>

/* Before Zephyr 3.4, the function has an argument. */
#define SYS_INIT(function, ...)                                           \
    __attribute__((constructor)) static void shim_call_##function(void)   \
    {                                                                     \
        ((int (*)())function)(NULL);                                      \
    }                                                                     \
    struct shim_init
struct device;
#endif
