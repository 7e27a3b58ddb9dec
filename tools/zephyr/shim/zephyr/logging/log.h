/* Zephyr's log, which is empty here. */
#ifndef SHIM_LOG_H
#define SHIM_LOG_H
#define LOG_MODULE_REGISTER(...) struct shim_log
#define LOG_ERR(...) ((void)0)
#define LOG_WRN(...) ((void)0)
#define LOG_DBG(...) ((void)0)
#endif
