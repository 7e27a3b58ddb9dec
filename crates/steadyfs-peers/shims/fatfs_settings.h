/* Appended to the settings of FatFs: the choices that every user has to make. */
#undef FF_USE_MKFS
#define FF_USE_MKFS 1
#undef FF_USE_FASTSEEK
#define FF_USE_FASTSEEK 1
#undef FF_USE_TRIM
#define FF_USE_TRIM 1
#undef FF_MAX_SS
#define FF_MAX_SS 4096
#undef FF_FS_NORTC
#define FF_FS_NORTC 1
#undef FF_CODE_PAGE
#define FF_CODE_PAGE 437
#undef FF_USE_LFN
#define FF_USE_LFN 2
