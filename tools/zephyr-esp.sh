#!/bin/bash
# Compiles the glue of examples/c against the headers of Zephyr and ESP-IDF, builds the component of
# ESP-IDF with CMake, and prints versions. CI does not run it, because the checkouts come from the
# network:
#
#   ZEPHYR=~/zephyrproject/zephyr IDF=~/esp/esp-idf tools/zephyr-esp.sh
#
# One of the two is enough. CC and CFLAGS choose a compiler and a C library, such as
# CC=arm-none-eabi-gcc CFLAGS='-mcpu=cortex-m4 -mthumb'. The default is gcc with the host's library.
# This script replaces the headers that a build generates, and FreeRTOS, by minimal ones.
set -euo pipefail
cd "$(dirname "$0")/.."

CC=${CC:-gcc}
read -ra flags <<<"${CFLAGS:-}"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

compile() { # file, flags
    local file=$1
    shift
    "$CC" -std=gnu17 -fsyntax-only -Wall -Wextra -Werror "${flags[@]}" "$@" \
        -Icrates/steadyfs-c/include "$file"
}

# Returns true if the C library has this code.
has() { # code, flags
    local code=$1
    shift
    "$CC" -fsyntax-only "${flags[@]}" "$@" -x c - <<<"$code" 2>/dev/null
}

zephyr() {
    local headers=$ZEPHYR/include names mkfs=()
    echo "Zephyr $(sed -n '1,3s/.*= *//p' "$ZEPHYR/VERSION" | paste -sd .)"
    if grep -q mkfs "$headers/zephyr/fs/fs_sys.h"; then
        mkfs=(-DCONFIG_FILE_SYSTEM_MKFS=1)
    fi
    # -1 is Zephyr's default.
    for names in -1 255; do
        compile examples/c/zephyr/steadyfs_zephyr.c -DCONFIG_ARM=1 -DCONFIG_CPU_CORTEX_M=1 \
            -DCONFIG_SYS_CLOCK_TICKS_PER_SEC=100 -DCONFIG_SYS_CLOCK_HW_CYCLES_PER_SEC=1000000 \
            -DCONFIG_SYS_CLOCK_MAX_TIMEOUT_DAYS=365 -DCONFIG_FILE_SYSTEM_MAX_FILE_NAME=$names "${mkfs[@]}" -I"$headers"
    done
}

idf() {
    local own=$IDF/components/newlib/platform_include/sys/dirent.h directories header
    local headers=(-I"$made" -I"$IDF/components/vfs/include" -I"$IDF/components/esp_common/include")
    local version=$IDF/tools/cmake/version.cmake
    echo "ESP-IDF $(sed -n '1,3s/.* \([0-9]*\))/\1/p' "$version" | paste -sd .)"
    mkdir -p "$made/freertos" "$made/sys"
    echo '#include <stdbool.h>
typedef int BaseType_t;' >"$made/freertos/FreeRTOS.h"
    touch "$made/freertos/semphr.h" "$made/sdkconfig.h"
    # A C library that is not Espressif's lacks some headers.
    for header in reent termios poll; do
        has "#include <sys/$header.h>" -I"$made" ||
            echo 'struct _reent; struct termios;' >"$made/sys/$header.h"
    done
    has '#include <sys/types.h>
#ifndef _SYS_TYPES_FD_SET
#error
#endif' || headers+=(-D_SYS_TYPES_FD_SET=1)
    if ! has '#include <dirent.h>
unsigned place(DIR *dir) { return dir->dd_vfs_idx; }' -I"$made"; then
        [ -e "$own" ] || own=$PWD/examples/c/esp-idf/stub/dirent.h
        echo "#include \"$own\"" | tee "$made/sys/dirent.h" >"$made/dirent.h"
    fi
    for directories in -DCONFIG_VFS_SUPPORT_DIR=1 -UCONFIG_VFS_SUPPORT_DIR; do
        compile examples/c/esp-idf/steadyfs_vfs.c -DCONFIG_VFS_SUPPORT_SELECT=1 \
            -DCONFIG_VFS_SUPPORT_TERMIOS=1 $directories "${headers[@]}"
    done
    component "$(printf '%s\n' "${headers[@]}" | sed -n 's/^-I//p' | paste -sd ';')"
}

# Builds the component with stand-ins for the functions of ESP-IDF that it calls. The library is an
# empty file.
component() {
    local chip
    mkdir -p "$made/project"
    touch "$made/library.a"
    cat >"$made/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(stand_in C)
add_library(idf_vfs INTERFACE)
target_include_directories(idf_vfs INTERFACE ${HEADERS})
target_compile_definitions(idf_vfs INTERFACE CONFIG_VFS_SUPPORT_DIR=1 _SYS_TYPES_FD_SET=1)
set(CONFIG_STEADYFS_LIBRARY ${LIBRARY})
set(COMPONENT_LIB idf_steadyfs)
function(idf_build_get_property variable name)
  set(${variable} ${${name}} PARENT_SCOPE)
endfunction()
function(idf_component_register)
  cmake_parse_arguments(own "" "" "SRCS;INCLUDE_DIRS;REQUIRES" ${ARGN})
  if(own_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "unknown: ${own_UNPARSED_ARGUMENTS}")
  endif()
  add_library(${COMPONENT_LIB} STATIC ${own_SRCS})
  target_include_directories(${COMPONENT_LIB} PUBLIC ${own_INCLUDE_DIRS})
  target_compile_options(${COMPONENT_LIB} PRIVATE -Wall -Wextra -Werror)
  list(TRANSFORM own_REQUIRES PREPEND idf_)
  target_link_libraries(${COMPONENT_LIB} PUBLIC ${own_REQUIRES})
endfunction()
add_subdirectory(${COMPONENT} component)
get_directory_property(target DIRECTORY ${COMPONENT} DEFINITION STEADYFS_TARGET)
message(STATUS "${IDF_TARGET}: ${target}")
END
    for chip in linux esp32 esp32s3 esp32c3 esp32c6 esp32p4; do
        rm -rf "$made/built"
        cmake -S "$made/project" -B "$made/built" -DIDF_TARGET=$chip -DLIBRARY="$made/library.a" \
            -DCOMPONENT="$PWD/examples/c/esp-idf/steadyfs" -DHEADERS="$1" | grep -F -- "-- $chip: "
        cmake --build "$made/built" >/dev/null
    done
}

[ -n "${ZEPHYR:-}${IDF:-}" ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
"$CC" --version | head -n 1
[ -z "${ZEPHYR:-}" ] || zephyr
[ -z "${IDF:-}" ] || idf
