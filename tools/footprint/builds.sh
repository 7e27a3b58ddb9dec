# To be sourced by tools/footprint.sh: builds a logger on NOR as a user does, on stable and on
# nightly, and writes the bytes of code to $images/builds.txt. Needs $root, $package, $images,
# $target, $all and $RUSTC.

# The calls of the logger in C.
c_logger=(format mount file_{open,write,read,truncate,sync,close} remove dir_{open,read,close} stat)

# Links a library for C as a firmware does: library, image, and the calls, or all.
link_c() {
    local library=$1 image=$2 call calls=()
    shift 2
    [ $# -gt 0 ] || set -- $(arm-none-eabi-nm "$library" 2>/dev/null | sed -n 's/.* T steadyfs_//p')
    for call in "$@"; do calls+=(-u "steadyfs_$call"); done
    arm-none-eabi-ld -T "$package/link.x" --gc-sections --defsym=reset=steadyfs_mount "${calls[@]}" "$library" -o "$image"
}

# Prints the bytes of .text and .rodata of an image.
code_of() { arm-none-eabi-size -A "$1" | awk '$1 == ".text" || $1 == ".rodata" { bytes += $2 } END { print bytes }'; }

# Sets `stable` to the RUSTFLAGS of a build on stable. Its core library is compiled for speed. If
# the target of rustup is not installed, this library is built from source.
find_stable() {
    stable="-Clinker=arm-none-eabi-ld -Clink-arg=-T$package/link.x -Clink-arg=--gc-sections"
    if compgen -G "$("$RUSTC" --print target-libdir --target $target)/libcore-*.rlib" >/dev/null; then return; fi
    local sysroot=$CARGO_TARGET_DIR/sysroot
    mkdir -p "$sysroot/core/src" "$sysroot/lib/rustlib/$target/lib"
    echo '#![no_std]' >"$sysroot/core/src/lib.rs"
    printf '[package]\nname = "empty"\nedition = "2024"\n[workspace]\n[profile.release]\ncodegen-units = 1\n' >"$sysroot/core/Cargo.toml"
    RUSTFLAGS="-Cembed-bitcode=yes -Zforce-unstable-if-unmarked" cargo build --quiet --release \
        --manifest-path "$sysroot/core/Cargo.toml" --target-dir "$sysroot/target" --target $target -Zbuild-std=core >&2
    rm -f "$sysroot/lib/rustlib/$target/lib/"*
    cp "$sysroot/target/$target/release/deps/"lib{core,compiler_builtins}-*.rlib "$sysroot/lib/rustlib/$target/lib"
    stable+=" --sysroot=$sysroot"
}

on_stable() { env -u RUSTC_BOOTSTRAP RUSTFLAGS="$stable" CARGO_TARGET_DIR="$CARGO_TARGET_DIR/stable" "$@" >&2; }

# Measures the firmware in Rust on stable: name, and the settings of the profile.
rust_on_stable() {
    local name=$1 features bytes=()
    shift
    for features in "" "nor,logger,$all"; do
        on_stable env "$@" cargo build --quiet --locked --release --manifest-path "$package/Cargo.toml" --target $target --bin footprint --features "$features"
        bytes+=("$(code_of "$CARGO_TARGET_DIR/stable/$target/release/footprint")")
    done
    echo "$name $((bytes[1] - bytes[0]))" >>"$images/builds.txt"
}

# Measures the library for C on stable, as docs/guide/c.md builds it: name, profile, features.
c_on_stable() {
    on_stable cargo rustc --quiet --locked --manifest-path "$root/crates/steadyfs-c/Cargo.toml" --profile "$2" --lib --crate-type staticlib \
        --target $target --no-default-features --features "$3"
    link_c "$CARGO_TARGET_DIR/stable/$target/$2/libsteadyfs_c.a" "$images/stable-c" "${c_logger[@]}"
    echo "$1 $(code_of "$images/stable-c")" >>"$images/builds.txt"
}

# Measures the builds on stable: mode and opt-level. A check leaves out the slow ones.
measure_stable() {
    find_stable
    rm -f "$images/builds.txt"
    rust_on_stable size-rust CARGO_PROFILE_RELEASE_OPT_LEVEL="$2"
    c_on_stable size-small size nor,truncate
    [ "$1" = --write ] || return 0
    rust_on_stable release-rust CARGO_PROFILE_RELEASE_{OPT_LEVEL=3,LTO=false,CODEGEN_UNITS=16}
    c_on_stable size-c size default
    c_on_stable release-c release default
    c_on_stable release-small release nor,truncate
}
