/* The parts of ESP-IDF's esp_err.h that the shim needs, so that it compiles without ESP-IDF. */
#ifndef STUB_ESP_ERR_H
#define STUB_ESP_ERR_H
typedef int esp_err_t;
#define ESP_OK 0
#endif
