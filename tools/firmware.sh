#!/bin/bash
# Builds the firmware of examples/firmware for a Cortex-M3 and runs it in QEMU (mps2-an385); the exit status is that of the firmware.
#
#   tools/firmware.sh         in C and in Rust
#   tools/firmware.sh c       one of them
#   tools/firmware.sh rust
#
# Compiler and tools are found, or installed, as tools/bare-metal.sh says. Where that cannot be it says that it skips the firmware.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-both} in both | c | rust) ;; *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
# Both in one directory: the core library is built once.
build=${CARGO_TARGET_DIR:-$root/target}/firmware

. "$root/tools/bare-metal.sh"
if ! find_bare_metal arm-none-eabi-gcc qemu-system-arm make; then
    echo "skipped: the firmware, because there is no Rust compiler with its library's source, arm-none-eabi-gcc or qemu-system-arm" >&2
    exit 0
fi
export RUSTFLAGS="-Zunstable-options -Cpanic=immediate-abort" CARGO_TARGET_DIR=$build/cargo CARGO_TARGET_THUMBV7M_NONE_EABI_LINKER=arm-none-eabi-ld

if [ "${1:-both}" != rust ]; then
    timeout 1200 make -C "$root/examples/firmware/c" run BUILD="$build" TARGET="$CARGO_TARGET_DIR" CARGO_FLAGS="-Zbuild-std=core" </dev/null
fi
if [ "${1:-both}" != c ]; then
    (cd "$root/examples/firmware/rust" && timeout 1200 cargo run --quiet --release --locked -Zbuild-std=core </dev/null)
fi
