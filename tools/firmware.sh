#!/bin/bash
# Builds the firmware of examples/firmware for a Cortex-M3 and runs it in QEMU (mps2-an385). The
# exit status is the status of the firmware.
#
#   tools/firmware.sh         in C and in Rust
#   tools/firmware.sh c       in C alone
#   tools/firmware.sh rust    in Rust alone
#   tools/firmware.sh boards  the logger for Embassy, for two boards (three minutes of processor
#                             time: it builds the HALs, and runs nothing)
#
# Fails also if a page states another size. Stack in docs/guide/c.md must be at least the measured
# stack, and at most a fifth more, for the driver. Stack in docs/guide/getting-started.md may differ
# by a tenth, code of a logger in C in docs/results/footprint.md by 3 %.
#
# tools/bare-metal.sh finds compiler and tools. With STEADYFS_INSTALL=1 it installs them. Without
# them the firmware is skipped with a message.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-both} in both | c | rust | boards) ;; *) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
# Both use one directory and one profile, so that the core library is built once.
build=${CARGO_TARGET_DIR:-$root/target}/firmware

package=$root/tools/footprint
. "$root/tools/bare-metal.sh"
. "$package/builds.sh"
if ! find_bare_metal arm-none-eabi-gcc qemu-system-arm make; then
    echo "skipped: the firmware, because there is no Rust compiler with its library's source, arm-none-eabi-gcc or qemu-system-arm" >&2
    exit 0
fi
export RUSTFLAGS="-Zunstable-options -Cpanic=immediate-abort" CARGO_TARGET_DIR=$build/cargo CARGO_TARGET_THUMBV7M_NONE_EABI_LINKER=arm-none-eabi-ld

# Compares the largest stack of a mount, and of another call, with the numbers of a page. Arguments:
# page, the text around its two numbers, output, and the least and the largest ratio of a number of
# the page to the measured number.
told() {
    local page=$1 kib
    kib=$(sed -n "s/.*$2\([0-9.]*\)$3\([0-9.]*[0-9]\)$4.*/\1 \2/p" "$root/$page")
    awk -v told="$kib" -v page="$page" -v least="$6" -v largest="$7" '
        / bytes of stack/ { call = /^ *mount/ ? 1 : 2; if ($(NF - 3) > most[call]) most[call] = $(NF - 3) }
        END {
            split(told, kib)
            for (call = 1; call <= 2; call++) if (1024 * kib[call] < least * most[call] || 1024 * kib[call] > largest * most[call]) {
                printf "%s tells %s KiB of stack, it is %.2f\n", page, kib[call], most[call] / 1024
                failed = 1
            }
            exit failed
        }' "$5" >&2
}

# Compares the code of a logger on NOR in C, with all features, with the last row of the builds.
told_code() {
    local page=$root/docs/results/footprint.md code told
    link_c "$CARGO_TARGET_DIR/thumbv7m-none-eabi/size/libsteadyfs_c.a" "$build/logger" "${c_logger[@]}"
    code=$(code_of "$build/logger")
    told=$(sed -n 's/^| size, core | nightly | [0-9,]* | \([0-9,]*\) .*/\1/p' "$page" | tr -d ,)
    echo "a logger on NOR in C: $code bytes of code, the page has ${told:-none}"
    # Another compiler makes other code.
    grep -qF "$("$RUSTC" --version)" "$page" || return 0
    awk -v code="$code" -v told="$told" 'BEGIN { exit !(code < 1.03 * told && code > 0.97 * told) }'
}

# Builds the logger for Embassy for a processor. Arguments: target, more arguments of cargo.
embassy() {
    local target=$1
    shift
    (cd "$root/examples/firmware/embassy" && timeout 2400 cargo build --quiet --release --locked -Zbuild-std=core --target "$target" "$@" </dev/null)
    echo "built for $target: examples/firmware/embassy $*"
}

mkdir -p "$build"
if [ "${1:-both}" = boards ]; then
    export CARGO_TARGET_THUMBV6M_NONE_EABI_LINKER=arm-none-eabi-ld CARGO_TARGET_THUMBV7EM_NONE_EABIHF_LINKER=arm-none-eabi-ld
    embassy thumbv6m-none-eabi --features rp2040 --bin rp2040
    embassy thumbv7em-none-eabihf --features nrf52840 --bin nrf52840
    exit 0
fi
if [ "${1:-both}" != rust ]; then
    timeout 1200 make -C "$root/examples/firmware/c" run BUILD="$build" TARGET="$CARGO_TARGET_DIR" CARGO_FLAGS="-Zbuild-std=core" </dev/null 2>&1 | tee "$build/c.txt"
    # The project for CMake compiles and links, too.
    if command -v cmake >/dev/null; then
        cmake --no-warn-unused-cli -S "$root/examples/firmware/c" -B "$build/cmake" --toolchain cortex-m3.cmake \
            -DSTEADYFS_LIBRARY="$CARGO_TARGET_DIR/thumbv7m-none-eabi/size/libsteadyfs_c.a" >/dev/null
        cmake --build "$build/cmake" >/dev/null
    fi
    told docs/guide/c.md "A mount or a repair takes up to " " KiB of stack, other calls up to " "" "$build/c.txt" 1 1.2
    told_code
fi
if [ "${1:-both}" != c ]; then
    (cd "$root/examples/firmware/rust" && timeout 1200 cargo run --quiet --profile size --config 'profile.size.inherits="release"' --locked -Zbuild-std=core </dev/null 2>&1) | tee "$build/rust.txt"
    # The logger for Embassy runs in a test of steadyfs-drivers. Here it is built for its processors;
    # the Cortex-M0+ has no compare-and-swap.
    embassy thumbv7em-none-eabihf --lib
    embassy thumbv6m-none-eabi --lib
    told docs/guide/getting-started.md "A mount takes up to " " KiB of stack, other calls up to " "" "$build/rust.txt" 0.9 1.1
fi
