/* What the shim needs of ESP-IDF's header of this name, to compile without it. */
#ifndef STUB_ESP_ERR_H
#define STUB_ESP_ERR_H
typedef int esp_err_t;
#define ESP_OK 0
#endif
