/*
 * Zephyr's test framework in small: an assertion that does not hold ends the program. The runner
 * calls the tests, so the macros for suites only define functions.
 */
#ifndef SHIM_ZTEST_H
#define SHIM_ZTEST_H
#include <stdlib.h>
#include <string.h>
#include <zephyr/kernel.h>

#define TC_PASS 0
#define TC_FAIL 1
#define TC_PRINT(...) ((void)0)

#define SHIM_TEST(holds, text)                                                    \
    do {                                                                          \
        if (!(holds)) {                                                           \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, text);         \
            exit(1);                                                              \
        }                                                                         \
    } while (0)
#define SHIM_EQUAL(one, other, text)                                              \
    do {                                                                          \
        intptr_t shim_one = (intptr_t)(one), shim_other = (intptr_t)(other);      \
        if (shim_one != shim_other) {                                             \
            fprintf(stderr, "%s:%d: not %s: %" PRIdPTR ", %" PRIdPTR "\n",        \
                    __FILE__, __LINE__, text, shim_one, shim_other);              \
            exit(1);                                                              \
        }                                                                         \
    } while (0)
#define zassert(holds, ...) SHIM_TEST(holds, #holds)
#define zassert_true(holds, ...) SHIM_TEST(holds, #holds)
#define zassert_false(holds, ...) SHIM_TEST(!(holds), "!(" #holds ")")
#define zassert_ok(result, ...) SHIM_EQUAL(result, 0, #result " == 0")
#define zassert_equal(one, other, ...) SHIM_EQUAL(one, other, #one " == " #other)
#define zassert_str_equal(one, other, ...) \
    SHIM_TEST(strcmp(one, other) == 0, #one " equals " #other)
#define zassert_mem_equal(one, other, bytes, ...) \
    SHIM_TEST(memcmp(one, other, bytes) == 0, #one " equals " #other)

#define ZTEST(suite, name) void suite##_##name(void)
#define ZTEST_SUITE(name, ...) struct shim_suite_##name
#endif
