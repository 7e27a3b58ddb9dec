#!/bin/bash
# Runs Zephyr's own tests of file systems on the glue of examples/c/zephyr, on the host:
#
#   ZEPHYR=~/zephyrproject/zephyr tools/zephyr-tests.sh
#
# It compiles Zephyr's subsys/fs/fs.c and the tests of the checkout: tests/subsys/fs/common, and the
# tests of FAT that also suit another file system. tools/zephyr/shim replaces Zephyr's kernel, log
# and test framework. The chip is simulated NOR. CI does not run it, because the checkout comes from
# the network. STEADYFS_LIBRARY names a built libsteadyfs_c.a of the host.
set -euo pipefail
[ -n "${ZEPHYR:-}" ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
CC=${CC:-gcc}
build=${CARGO_TARGET_DIR:-$PWD/target}
library=${STEADYFS_LIBRARY:-$build/release/libsteadyfs_c.a}
[ -n "${STEADYFS_LIBRARY:-}" ] ||
    cargo rustc --quiet -p steadyfs-c --release --lib --crate-type staticlib --target-dir "$build"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

glue=examples/c/zephyr
# The tests of FAT need a disk's name, and mount a volume of type FS_FATFS.
flags=(-std=gnu17 -g -Itools/zephyr/shim -I"$ZEPHYR/include" -I$glue -Iexamples/c
    -Icrates/steadyfs-c/include
    -DCONFIG_ARM=1 -DCONFIG_CPU_CORTEX_M=1 -DCONFIG_FS_LOG_LEVEL=0 -DCONFIG_DISK_DRIVER_RAM=1
    -DCONFIG_FILE_SYSTEM_MAX_TYPES=2 -DCONFIG_FILE_SYSTEM_MAX_FILE_NAME=255
    -DCONFIG_SYS_CLOCK_TICKS_PER_SEC=100 -DCONFIG_SYS_CLOCK_HW_CYCLES_PER_SEC=1000000
    -DCONFIG_SYS_CLOCK_MAX_TIMEOUT_DAYS=365 -DCONFIG_DISK_RAM_VOLUME_NAME='"RAM"'
    -fsanitize=undefined -fno-sanitize-recover=all)
if grep -q mkfs "$ZEPHYR/include/zephyr/fs/fs_sys.h"; then
    flags+=(-DCONFIG_FILE_SYSTEM_MKFS=1)
fi

# Our files are free of warnings. Zephyr's files are as they are.
compile() { # object, file, flags
    local object=$made/$1 file=$2
    shift 2
    "$CC" "${flags[@]}" "$@" -c "$file" -o "$object"
}

tests() { # a folder of tests/subsys/fs, the names of files that may be in it
    local folder=$ZEPHYR/tests/subsys/fs/$1 name
    shift
    for name in "$@"; do
        [ ! -f "$folder/$name.c" ] || compile "$name.o" "$folder/$name.c" -w
    done
}

echo "Zephyr $(sed -n '1,3s/.*= *//p' "$ZEPHYR/VERSION" | paste -sd .)"
fat=()
for type in FS_TYPE_EXTERNAL_BASE FS_FATFS; do
    rm -f "$made"/*.o
    own=(-DSTEADYFS_ZEPHYR_TYPE=$type)
    [ $type != FS_FATFS ] || fat=(-include "$ZEPHYR/tests/subsys/fs/fat_fs_api/src/test_fat.h")
    compile glue.o $glue/steadyfs_zephyr.c -Wall -Wextra -Werror "${own[@]}"
    compile run.o tools/zephyr/run.c -Wall -Wextra -Werror -Wno-address "${own[@]}" "${fat[@]}"
    compile chip.o examples/c/chip.c
    compile host.o examples/c/host.c
    compile fs.o "$ZEPHYR/subsys/fs/fs.c" -w
    if [ $type = FS_FATFS ]; then
        tests fat_fs_api/src test_fat_file test_fat_dir test_fat_fs test_fat_rename \
            test_fat_rd_only_mount
    else
        tests common test_fs_util test_fs_basic test_fs_dirops test_fs_mkfs test_fs_mount_flags \
            test_fs_open_flags
    fi
    "$CC" -fsanitize=undefined "$made"/*.o "$library" -lpthread -ldl -lm -o "$made/run"
    for test in $("$made/run"); do
        if (cd "$ZEPHYR" && "$made/run" "$test"); then
            echo "  $test: holds"
        else
            echo "  $test: fails"
            touch "$made/failed"
        fi
    done
done
[ ! -e "$made/failed" ]
