#!/bin/bash
# Checks the crates for devices with the oldest supported version of Rust: `rust-version`.
#
#   tools/msrv.sh    skips the check if no such toolchain is installed
#
# If rustup has the toolchain, it is used. Else Debian's Rust 1.85 is used, on a system that offers it
# (with STEADYFS_INSTALL=1). The features of Rust 1.86 to 1.88 that our code uses are then enabled one
# by one, and a feature of a later version is an error. Nothing is installed: the packages are
# unpacked below the target directory.
set -euo pipefail
cd "$(dirname "$0")/.."
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
target=${CARGO_TARGET_DIR:-$PWD/target}/msrv
crates=(-p steadyfs -p steadyfs-drivers -p steadyfs-c -p steadyfs-compress -p steadyfs-rom)
features=steadyfs-drivers/async,steadyfs-drivers/embedded-storage,steadyfs-drivers/block-device-driver
features+=,steadyfs-drivers/embedded-io,steadyfs-drivers/defmt
features+=,steadyfs-compress/deflate,steadyfs-rom/deflate,steadyfs-c/rom-verify

debian=1.85
# The libraries of Debian's compiler, and no more packages.
unpack() {
    local found
    found=$(apt-cache madison rustc-web 2>/dev/null | awk -v of="$debian" 'index($3, of ".") == 1 { print $3; exit }')
    [ -n "$found" ] || return 1
    # Each step is joined to the next one: `set -e` does not hold in a condition.
    mkdir -p "$target/packages" && (
        cd "$target/packages" &&
            apt-get download -qq "rustc-web=$found" "libstd-rust-web-$debian=$found" "libstd-rust-web-dev=$found" libllvm19 &&
            for package in *.deb; do dpkg-deb -x "$package" .. || exit 1; done &&
            rm -f -- *.deb
    ) 2>/dev/null && [ -x "$target/usr/bin/rustc" ]
}

if rustup toolchain list 2>/dev/null | grep -q "^$oldest[.-]"; then
    cargo "+$(rustup toolchain list | grep -o -m 1 "^$oldest[^ ]*")" check --quiet --locked --target-dir "$target" \
        "${crates[@]}" -p steadyfs-sim --features "$features,steadyfs-drivers/embedded-sdmmc"
    echo "the crates for devices and the simulator build with Rust $oldest"
elif [ "$oldest" = 1.88 ] && [ -n "${STEADYFS_INSTALL:-}" ] && { [ -x "$target/usr/bin/rustc" ] || unpack; }; then
    # Of Rust 1.87: unsigned_is_multiple_of, integer_sign_cast. Of 1.88: the others. `sha2` has code
    # for x86 that needs more of them.
    RUSTC=$target/usr/bin/rustc RUSTC_BOOTSTRAP=1 LD_LIBRARY_PATH=$(echo "$target"/usr/lib/*-linux-gnu) \
        RUSTFLAGS='-Zcrate-attr=feature(let_chains,slice_as_chunks,unsigned_is_multiple_of,integer_sign_cast) -Astable_features -Aunknown_lints --cfg sha2_backend="soft"' \
        cargo check --quiet --locked --ignore-rust-version --target-dir "$target" "${crates[@]}" --features "$features"
    echo "the crates for devices build with Rust $debian and four features of Rust $oldest"
else
    echo "skipped: no toolchain of Rust $oldest; \`rustup toolchain install $oldest\` adds it"
fi
