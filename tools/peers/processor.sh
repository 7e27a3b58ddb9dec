#!/bin/bash
# Counts the instructions of littlefs, SPIFFS, FatFs on Dhara and SteadyFS on a Cortex-M3 in QEMU.
# Writes crates/steadyfs-compare/assets/processor.json and docs/results/processor.md, in about a
# quarter of an hour.
#
#   tools/peers/processor.sh [NAME...]   count the named file systems (default all), write the page
#   tools/peers/processor.sh --page      write the page again from the kept counts
#   tools/peers/processor.sh --check     fail if the page does not match the kept counts
#
# NAME: steadyfs, littlefs, spiffs, fatfs-on-dhara. All make the rounds of tools/footprint.sh. The
# sources of the peers are cloned at the commits below into target/peers. LITTLEFS, SPIFFS, DHARA
# and FATFS name other places to clone from. Nothing of them is kept here. tools/bare-metal.sh finds
# the compilers and tools. With STEADYFS_INSTALL=1 it installs them.
set -euo pipefail

littlefs=adad0fbbcf5382c20978d07f94f9c13be9041c1b # 2.11
spiffs=0b2e1290110b7bcc4e56c7141b6ca49f830a5fcf
dhara=1b166e41b74b4a62ee6001ba5fab7a8805e80ea2 # 2022-03-15
fatfs=ab992fcf2926b8a1ee3f0a8f9cefb6584174100d # R0.16 patch 3

root=$(cd "$(dirname "$0")/../.." && pwd)
package=$root/tools/footprint
shims=$root/crates/steadyfs-peers/shims
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
work=$CARGO_TARGET_DIR/peers
target=thumbv7m-none-eabi

case ${1:-} in
--page | --check) exec python3 "$root/tools/peers/processor.py" "$1" ;;
-*) sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
[ $# -gt 0 ] || set -- steadyfs littlefs spiffs fatfs-on-dhara

. "$root/tools/bare-metal.sh"
if ! find_bare_metal arm-none-eabi-ld arm-none-eabi-gcc qemu-system-arm || ! arm-none-eabi-gcc -E -include string.h - </dev/null >/dev/null 2>&1; then
    install_debian libnewlib-arm-none-eabi qemu-system-arm || { echo "error: needs a Rust compiler with its library's source, arm-none-eabi-gcc with newlib, and qemu-system-arm" >&2; exit 1; }
fi
export RUSTFLAGS="-Clinker=arm-none-eabi-ld -Clink-arg=-T$package/link.x -Clink-arg=--gc-sections \
-Zunstable-options -Cpanic=immediate-abort -Zemit-stack-sizes"
# The level of docs/results/footprint.md.
CARGO_PROFILE_RELEASE_OPT_LEVEL=$(sed -n 's/.*`opt-level = "\([zs]\)"`.*/\1/p' "$root/docs/results/footprint.md" | head -n 1)
export CARGO_PROFILE_RELEASE_OPT_LEVEL
features=nor,long-names,permissions,truncate,cache,read-cache,scrub,wear-levelling,streams,fast-checksum

cpu="-mcpu=cortex-m3 -mthumb"
flags="-Os $cpu -std=gnu11 -ffunction-sections -fdata-sections"

# Clones a source: name, place, commit.
fetch() {
    [ -d "$work/$1" ] || git clone --quiet "$2" "$work/$1" >&2
    git -C "$work/$1" cat-file -e "$3" 2>/dev/null || git -C "$work/$1" fetch --quiet "$2" >&2
    git -C "$work/$1" checkout --quiet "$3"
}

# Compiles the library of a file system in the current directory: its name in C, arguments. Each
# firmware has one file system, and its table is `peer`.
compile() {
    arm-none-eabi-gcc $flags -w -D_Thread_local= "-Dpeer_$1=peer" -I"$shims" -c "$shims/$1.c" "${@:2}"
    arm-none-eabi-ar rcs libpeer.a ./*.o
}

compile_peer() {
    rm -rf "$work/$1-arm"
    mkdir -p "$work/$1-arm"
    cd "$work/$1-arm"
    case $1 in
    littlefs)
        fetch littlefs "${LITTLEFS:-https://github.com/littlefs-project/littlefs}" $littlefs
        compile littlefs -DLFS_NO_ASSERT -DLFS_NO_DEBUG -DLFS_NO_WARN -DLFS_NO_ERROR -I"$work/littlefs" "$work"/littlefs/{lfs,lfs_util}.c
        ;;
    spiffs)
        fetch spiffs "${SPIFFS:-https://github.com/pellepl/spiffs}" $spiffs
        compile spiffs -I"$shims/spiffs" -I"$work/spiffs/src" "$work"/spiffs/src/spiffs_{cache,check,gc,hydrogen,nucleus}.c
        ;;
    fatfs-on-dhara)
        fetch dhara "${DHARA:-https://github.com/dlbeer/dhara}" $dhara
        fetch fatfs "${FATFS:-https://github.com/abbrev/fatfs}" $fatfs
        cp "$work"/fatfs/source/{ff.c,ff.h,diskio.h,ffunicode.c} .
        cat "$work/fatfs/source/ffconf.h" "$shims/fatfs_settings.h" >ffconf.h
        compile fatfs_dhara -I. -I"$work/dhara" ff.c ffunicode.c "$work"/dhara/dhara/{map,journal,error}.c
        ;;
    esac
}

# Builds a firmware: name of its program, arguments of the linker.
firmware() {
    cargo rustc --quiet --locked --release --manifest-path "$package/Cargo.toml" --target $target -Zbuild-std=core \
        --bin "$1" --features "$features" -- "${@:2}" >&2
}

# Counts the instructions of a file system. The simulated chip is a file in the working directory.
count() {
    mkdir -p "$work/$1-arm"
    if [ "$1" = steadyfs ]; then
        firmware cycles
        cp "$CARGO_TARGET_DIR/$target/release/cycles" "$work/$1-arm/image"
    else
        (compile_peer "$1")
        STEADYFS_PEER=$1 firmware peers "-Clink-arg=$work/$1-arm/libpeer.a" \
            "-Clink-arg=$(arm-none-eabi-gcc $cpu -print-file-name=libc_nano.a)" "-Clink-arg=$(arm-none-eabi-gcc $cpu -print-libgcc-file-name)"
        cp "$CARGO_TARGET_DIR/$target/release/peers" "$work/$1-arm/image"
    fi
    (cd "$work/$1-arm" && timeout 3600 qemu-system-arm -M mps2-an385 -nographic -monitor none -serial none -icount shift=6 \
        -semihosting-config enable=on,target=native -kernel image </dev/null 2>counts.txt)
    rm -f "$work/$1-arm/chip"
}

for name in "$@"; do
    case $name in steadyfs | littlefs | spiffs | fatfs-on-dhara) ;; *) echo "error: no such file system: $name" >&2; exit 2 ;; esac
done
for name in "$@"; do
    echo "counting $name" >&2
    count "$name"
    compiler="$(arm-none-eabi-gcc --version | head -n 1), \`$flags\`"
    [ "$name" != steadyfs ] || compiler="$("$RUSTC" --version), \`opt-level = \"$CARGO_PROFILE_RELEASE_OPT_LEVEL\"\`, \`lto = \"fat\"\`"
    python3 "$root/tools/peers/processor.py" --keep "$name" "$work/$name-arm/counts.txt" "$compiler"
done
exec python3 "$root/tools/peers/processor.py" --page
