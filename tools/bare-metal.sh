# To be sourced: finds a Rust compiler that can build the core library for a microcontroller, and
# the named tools.
#
#   find_bare_metal TOOL...   e.g. arm-none-eabi-ld qemu-system-arm
#
# Takes Debian's rustc-web if it is installed, else a rustup toolchain with the component rust-src.
# If neither is there, or a tool is missing, it prints the names of the Debian packages. With
# STEADYFS_INSTALL=1 it installs them. Sets RUSTC, PATH and RUSTC_BOOTSTRAP. Fails without a
# compiler.

has_source() { [ -f "$("$1" --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library/core/Cargo.toml" ]; }

has_tools() {
    local tool
    for tool in "$@"; do command -v "$tool" >/dev/null || return 1; done
}

debian_ready() { [ -x /usr/bin/cargo ] && has_source /usr/bin/rustc && has_tools "$@"; }
rustup_ready() { has_source rustc && has_tools "$@"; }

install_debian() {
    command -v apt-get >/dev/null || return 1
    if [ -z "${STEADYFS_INSTALL:-}" ]; then
        echo "missing; STEADYFS_INSTALL=1 installs the packages: $*" >&2
        return 1
    fi
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    echo "installing $*" >&2
    { "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } >&2
}

# Prints the packages of tools.
packages_of() {
    local tool
    for tool in "$@"; do
        case $tool in arm-none-eabi-*) echo gcc-arm-none-eabi ;; *) echo "$tool" ;; esac
    done | sort -u
}

find_bare_metal() {
    debian_ready "$@" || rustup_ready "$@" || install_debian rustc-web cargo-web rust-web-src $(packages_of "$@") || true
    if debian_ready "$@"; then
        export PATH=/usr/bin:/bin RUSTC=/usr/bin/rustc
    elif rustup_ready "$@"; then
        RUSTC=$(command -v rustc)
    else
        return 1
    fi
    # `immediate-abort` and `build-std` are not stable yet; the file system itself needs neither.
    export RUSTC_BOOTSTRAP=1
}
