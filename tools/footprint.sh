#!/bin/bash
# Measures code, RAM, stack and instructions of the core on a Cortex-M3. Writes
# docs/results/footprint.md.
#
#   tools/footprint.sh           measure and write docs/results/footprint.md
#   tools/footprint.sh --check   measure; fail if the page is off by more than 2 % or above a limit
#   tools/footprint.sh --top     measure and list the largest functions
#
# tools/bare-metal.sh finds compiler and tools; with STEADYFS_INSTALL=1 it installs them. The core
# library is built for size as well. Numbers are compared only if the compiler is the document's.
# QEMU (qemu-system-arm) counts instructions. Without QEMU, --check skips them with a message.
set -euo pipefail

mode=${1:---write}
case $mode in --write | --check | --top) ;; *) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
package=$root/tools/footprint
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$package/target}
target=thumbv7m-none-eabi

. "$root/tools/bare-metal.sh"
. "$package/builds.sh"
if ! find_bare_metal arm-none-eabi-ld; then
    echo "error: needs a Rust compiler with its library's source (rustup component add rust-src) and arm-none-eabi-ld" >&2
    exit 1
fi

export RUSTFLAGS="-Clinker=arm-none-eabi-ld -Clink-arg=-T$package/link.x -Clink-arg=--gc-sections \
-Zunstable-options -Cpanic=immediate-abort -Zemit-stack-sizes"

images=$CARGO_TARGET_DIR/footprint
mkdir -p "$images"

# Builds one image: program, features, opt-level.
build() {
    CARGO_PROFILE_RELEASE_OPT_LEVEL=$3 cargo build --quiet --locked --release --manifest-path "$package/Cargo.toml" \
        --target $target -Zbuild-std=core --bin "$1" --features "$2" >&2
}

build_footprint() {
    build footprint "$1" "$2"
    cp "$CARGO_TARGET_DIR/$target/release/footprint" "$images/${1:-none}-$2"
}

# Builds the library for C and links it: name, features, opt-level, and the calls, or all.
build_c() {
    local name=$1 features=$2 level=$3
    shift 3
    CARGO_PROFILE_RELEASE_OPT_LEVEL=$level CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 CARGO_PROFILE_RELEASE_PANIC=abort \
        cargo rustc --quiet --locked --release --manifest-path "$root/crates/steadyfs-c/Cargo.toml" --lib --crate-type staticlib \
        --target $target -Zbuild-std=core --no-default-features --features "$features" >&2
    link_c "$CARGO_TARGET_DIR/$target/release/libsteadyfs_c.a" "$images/$name-$level" "$@"
}

# Runs a firmware that counts instructions: program, name of the image, features, opt-level. The
# simulated chip is a file in QEMU's working directory.
count() {
    build "$1" "$3" "$4"
    local image=$images/$2-$4
    cp "$CARGO_TARGET_DIR/$target/release/$1" "$image"
    (cd "$scratch" && timeout 1200 qemu-system-arm -M mps2-an385 -nographic -monitor none -serial none -icount shift=6 \
        -semihosting-config enable=on,target=native -kernel "$image" </dev/null 2>"$image.txt")
}

# The level that gave less code when the page was written. A new page is written after a trial of
# both levels.
levels="z s"
if [ "$mode" = --check ]; then
    levels=$(sed -n 's/.*`opt-level = "\([zs]\)"`.*/\1/p' "$root/docs/results/footprint.md" | head -n 1)
    [ -n "$levels" ] || { echo "error: docs/results/footprint.md does not say its opt-level" >&2; exit 1; }
fi
# The features of the file system beside the medium. report.py has the same list.
all=long-names,permissions,truncate,cache,read-cache,scrub,wear-levelling,streams,fast-checksum
images_of=("" "nand,$all" "nor,$all" "nand,logger,$all" "nor,logger,$all" nand,logger nand,reader nand,clean-reader "nand,disk,$all" "nand,files,$all" "nand,packed-read,$all" "nand,packed,$all" rom rom-signed)
if [ "$mode" = --write ]; then
    # The cost of each feature.
    images_of+=("both,$all" "nand,$all,groups")
    for feature in ${all//,/ }; do
        rest=,$all,
        rest=${rest/,$feature,/,}
        rest=${rest#,}
        images_of+=("nand,${rest%,}")
    done
fi
for level in $levels; do
    for features in "${images_of[@]}"; do build_footprint "$features" "$level"; done
    build_c c "nand,$all" "$level"
    build_c c,logger nand "$level" "${c_logger[@]}"
    if [ "$mode" = --write ]; then
        build_c c,nor,c default "$level" "${c_logger[@]}"
        build_c c,nor,small nor,truncate "$level" "${c_logger[@]}"
    fi
done
[ "$mode" = --top ] || measure_stable "$mode" "${levels%% *}"

rm -f "$images"/cycles-*.txt "$images"/law-*.txt
if [ "$mode" != --top ]; then
    command -v qemu-system-arm >/dev/null || install_debian qemu-system-arm || true
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    if command -v qemu-system-arm >/dev/null; then
        for level in $levels; do
            count cycles cycles-fast "nor,$all" "$level"
            count law law "nor,$all" "$level"
            [ "$mode" = --check ] || count cycles cycles-small "nor,${all%,fast-checksum}" "$level"
        done
    elif [ "$mode" = --check ]; then
        echo "skipped: instructions, because there is no qemu-system-arm" >&2
    else
        echo "error: needs qemu-system-arm" >&2
        exit 1
    fi
fi

python3 "$package/report.py" "$mode" "$root/docs/results/footprint.md" "$images" "$($RUSTC --version)" $levels
