/* Its place before Zephyr 3.2. */
#include <zephyr/ztest.h>
