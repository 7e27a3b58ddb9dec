/* The parts of Zephyr's kernel that its file systems and their tests need, for one thread. */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zephyr/sys/util.h>

struct k_mutex {
    int locks;
};
#define K_MUTEX_DEFINE(name) struct k_mutex name
#define K_FOREVER 0
#define k_mutex_init(mutex) ((void)((mutex)->locks = 0))
#define k_mutex_lock(mutex, timeout) ((void)(timeout), (mutex)->locks++)
#define k_mutex_unlock(mutex) ((mutex)->locks--)
#define K_MSEC(milliseconds) (milliseconds)
#define k_sleep(time) ((void)(time))
#define printk(...) ((void)0)
#endif
