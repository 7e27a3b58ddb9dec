/* SPIFFS's default settings ask for this file of its tests. */
