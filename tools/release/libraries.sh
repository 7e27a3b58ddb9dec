# To be sourced after tools/bare-metal.sh: builds the static libraries for C. Needs $root, $output
# and $CARGO_TARGET_DIR.
#
#   build_libraries    writes $output/TARGET/PRESET/libsteadyfs_c.a for $targets and $presets

host=x86_64-unknown-linux-gnu
targets=${TARGETS:-thumbv6m-none-eabi thumbv7m-none-eabi thumbv7em-none-eabi thumbv7em-none-eabihf
    thumbv8m.main-none-eabi thumbv8m.main-none-eabihf riscv32imc-unknown-none-elf
    riscv32imac-unknown-none-elf $host}
presets=${PRESETS:-everything logger lean reader}

# The features of a preset. tools/release/c/README.md describes the presets.
declare -A features=(
    [everything]=default,rom-verify
    [logger]=nand,nor,truncate
    [lean]=nand,nor
    [reader]=nand,nor,rom
)

# Prints the options of rustc that replace the paths of this machine. Thus the folder of the clone
# does not change a byte.
remapped_paths() {
    printf -- '--remap-path-prefix=%s=%s ' "$CARGO_TARGET_DIR" /target "$root" /steadyfs "${CARGO_HOME:-$HOME/.cargo}" /cargo
}

# Builds a library: target and preset. Rust's core library is built as well, for the least code.
# On Linux the library contains Rust's standard library, which the compiler brings.
build_library() {
    local target=$1 preset=$2 profile=size flags core=-Zbuild-std=core
    flags="-Zunstable-options -Cpanic=immediate-abort"
    if [ "$target" = $host ]; then
        profile=release flags="" core=""
    fi
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="$flags $(remapped_paths)" CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 \
        cargo rustc --quiet --locked --manifest-path "$root/crates/steadyfs-c/Cargo.toml" --profile $profile --lib --crate-type staticlib \
        --target "$target" $core --no-default-features --features "${features[$preset]}" >&2
    mkdir -p "$output/$target/$preset"
    cp "$CARGO_TARGET_DIR/$target/$profile/libsteadyfs_c.a" "$output/$target/$preset/"
    # The compiler's standard library has debug information: two thirds of the file.
    [ "$target" != $host ] || strip -D --strip-debug "$output/$target/$preset/libsteadyfs_c.a"
}

build_libraries() {
    local target preset start=$SECONDS
    for target in $targets; do
        for preset in $presets; do
            build_library "$target" "$preset"
        done
        echo "libraries for $target: $((SECONDS - start)) s"
        start=$SECONDS
    done
}
