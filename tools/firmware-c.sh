#!/bin/bash
# Builds the C firmware of examples/firmware/c for a Cortex-M3 and runs it in QEMU (mps2-an385); its exit status is that of the firmware.
#
# Uses Debian's rustc-web where it is installed, else a rustup toolchain that has `rustup component add rust-src`, else installs the former,
# with arm-none-eabi-gcc and qemu-system-arm. Where that cannot be it says that it skips the firmware.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
build=$CARGO_TARGET_DIR/firmware-c

has_source() { [ -f "$("$1" --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library/core/Cargo.toml" ]; }
has_tools() { command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null && command -v make >/dev/null; }
debian_ready() { [ -x /usr/bin/cargo ] && has_source /usr/bin/rustc && has_tools; }
rustup_ready() { has_source rustc && has_tools; }

install_debian() {
    command -v apt-get >/dev/null || return 1
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    echo "installing $*" >&2
    { "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } >&2
}

debian_ready || rustup_ready || install_debian rustc-web cargo-web rust-web-src gcc-arm-none-eabi qemu-system-arm make || true
if debian_ready; then
    export PATH=/usr/bin:/bin RUSTC=/usr/bin/rustc
elif ! rustup_ready; then
    echo "skipped: the firmware, because there is no Rust compiler with its library's source, arm-none-eabi-gcc or qemu-system-arm" >&2
    exit 0
fi

# `build-std` and `immediate-abort` are not stable yet; the library itself needs neither.
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zunstable-options -Cpanic=immediate-abort"
timeout 1200 make -C "$root/examples/firmware/c" run BUILD="$build" TARGET="$build/cargo" CARGO_FLAGS="-Zbuild-std=core" </dev/null
