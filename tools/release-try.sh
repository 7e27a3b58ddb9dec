#!/bin/bash
# Takes the files of a release as their users do, on a machine without Rust.
#
#   tools/release-try.sh OUT    the folder that tools/release.sh filled
#
# The programs see no cargo and no rustc. The script tries those files that are there:
#
#   archive for C   the examples with make and CMake; projects with find_package,
#                   add_subdirectory and pkg-config; here and on a Cortex-M3 in QEMU
#   command         completions, manual pages, and an image, in a folder without any library
#   wheel           an installation within 10 s without an index of packages, and tests of the
#                   package. pytest comes from PyPI
#
# Needs gcc, make, cmake, gcc-arm-none-eabi and qemu-system-arm, and python3 with venv for the wheel.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
[ $# = 1 ] && [ -d "$1" ] || { sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2; }
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# All programs of this machine except Rust's.
mkdir "$work/bin" "$work/home"
find /usr/bin -maxdepth 1 -mindepth 1 ! -name X11 -exec ln -s -t "$work/bin" {} +
rm -f "$work/bin"/{cargo,rust}*
without_rust() { env -i PATH="$work/bin" HOME="$work/home" "$@"; }
if without_rust sh -c 'command -v cargo || command -v rustc'; then
    echo "error: there is a Rust compiler" >&2
    exit 1
fi

# Runs a command of a user without Rust; prints its output only if it fails or lacks a text: name,
# text, command.
try() {
    local name=$1 text=$2 start=$SECONDS
    shift 2
    if without_rust timeout 300 "$@" >"$work/log" 2>&1 </dev/null && { [ -z "$text" ] || grep -qF -- "$text" "$work/log"; }; then
        echo "ok: $name, $((SECONDS - start)) s"
    else
        cat "$work/log" >&2
        echo "error: $name" >&2
        exit 1
    fi
}

# Runs a command that must fail with a text: name, text, command.
try_refused() {
    local name=$1 text=$2
    shift 2
    if without_rust "$@" >"$work/log" 2>&1 || ! tr -s ' \n' ' ' <"$work/log" | grep -qF -- "$text"; then
        cat "$work/log" >&2
        echo "error: $name" >&2
        exit 1
    fi
    echo "ok: $name"
}

# Writes a project: name, the lines that make steadyfs::steadyfs, its C files and more lines.
project() {
    mkdir "$work/$1"
    cat >"$work/$1/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project($1 LANGUAGES C)
$2
add_executable($1 $3)
target_include_directories($1 PRIVATE "$archive/examples/c")
target_link_libraries($1 PRIVATE steadyfs::steadyfs)
$4
END
}

try_c() {
    local chips=$archive/examples/c board=$archive/examples/firmware way
    local qemu=(qemu-system-arm -M mps2-an385 -nographic -monitor none -serial none -icount "shift=6" -semihosting-config "enable=on,target=native" -kernel)
    local host_sources="$chips/logger.c $chips/chip.c $chips/host.c"
    local board_sources="$board/c/main.c $board/c/board.c $chips/chip.c"
    local board_lines="target_compile_options(board PRIVATE -std=c11 -Os -ffreestanding)
target_link_options(board PRIVATE -nostdlib -T $board/mps2.ld -Wl,--gc-sections -Wl,-z,noexecstack)
target_link_libraries(board PRIVATE gcc)"
    # The two commands of the README.
    (cd "$work" && try "C: the archive is unpacked" "" tar xzf "$out/$name.tar.gz")
    (cd "$work" && try "C: make writes a file" "all records are there" make -C "$name/examples/c" run)
    try "C: make, boot counter" "boot_count: 3" make -C "$chips" boot
    try "C: make, every program" "every call does what it says" make -C "$chips" test
    try "C: make, Cortex-M3 in QEMU" "records are there" make -C "$board/c" run
    try "C: CMake of the examples" "Build files" cmake -S "$chips" -B "$work/examples"
    try "C: CMake of the examples, built" "Built target" cmake --build "$work/examples"
    try "C: CMake of the examples, run" "100% tests passed" ctest --test-dir "$work/examples"
    try "C: CMake of the firmware" "Build files" cmake -S "$board/c" -B "$work/firmware" --toolchain "$board/c/cortex-m3.cmake"
    try "C: CMake of the firmware, built" "Built target" cmake --build "$work/firmware"
    try "C: CMake of the firmware, in QEMU" "records are there" "${qemu[@]}" "$work/firmware/firmware"
    for way in package folder; do
        local host_way="find_package(steadyfs $series REQUIRED COMPONENTS logger)" board_way="find_package(steadyfs $series REQUIRED)"
        if [ $way = folder ]; then
            host_way="set(STEADYFS_PRESET logger)
add_subdirectory($archive steadyfs)"
            board_way="add_subdirectory($archive steadyfs)"
        fi
        rm -rf "$work"/{logger,board}{,-build}
        project logger "$host_way" "$host_sources" ""
        project board "$board_way" "$board_sources" "$board_lines"
        try "C: $way, a project" "Build files" cmake -S "$work/logger" -B "$work/logger-build" -DCMAKE_PREFIX_PATH="$archive"
        try "C: $way, built" "Built target" cmake --build "$work/logger-build"
        try "C: $way, run" "all records are there" "$work/logger-build/logger"
        try "C: $way, a project for a Cortex-M3" "Build files" cmake -S "$work/board" -B "$work/board-build" --toolchain "$board/c/cortex-m3.cmake" -DCMAKE_PREFIX_PATH="$archive"
        try "C: $way, built for a Cortex-M3" "Built target" cmake --build "$work/board-build"
        try "C: $way, in QEMU" "records are there" "${qemu[@]}" "$work/board-build/board"
    done
    try_refused "C: a processor without a library" "expected its -mcpu or -march there, or one of these" \
        cmake -S "$work/board" -B "$work/other" -DCMAKE_SYSTEM_NAME=Generic -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY \
        -DCMAKE_C_COMPILER=arm-none-eabi-gcc -DCMAKE_C_FLAGS=-mcpu=cortex-a8
    rm -r "$work/logger"
    project logger "find_package(steadyfs $series REQUIRED COMPONENTS tiny PATHS $archive NO_DEFAULT_PATH)" "$host_sources" ""
    try_refused "C: a preset that is not there" "there is no preset tiny for x86_64-unknown-linux-gnu; expected one of" cmake -S "$work/logger" -B "$work/tiny"
    if without_rust sh -c 'command -v pkg-config' >/dev/null; then
        local flags
        flags=$(without_rust PKG_CONFIG_PATH="$archive/lib/pkgconfig" pkg-config --define-variable=preset=lean --cflags --libs --static steadyfs)
        # shellcheck disable=SC2086
        try "C: pkg-config" "" gcc -I"$chips" $host_sources $flags -o "$work/by-pkg-config"
        try "C: pkg-config, run" "all records are there" "$work/by-pkg-config"
    fi
}

# The command sees nothing but the folder of its archive, if this script runs as root.
try_steady() {
    local folder=$work/steady inside="" jail=()
    mkdir -p "$folder/tmp"
    tar xzf "$1" --strip-components=1 -C "$folder"
    if readelf -d "$folder/bin/steady" | grep -q NEEDED; then
        echo "error: steady needs libraries" >&2
        exit 1
    fi
    if [ "$(id -u)" = 0 ]; then jail=("$(command -v chroot)" "$folder"); else inside=$folder; fi
    local steady=("${jail[@]}" "$inside/bin/steady") image=$inside/tmp/image
    try "steady: version" "$version" "${steady[@]}" --version
    try "steady: an image" "" "${steady[@]}" format "$image" --device w25q128jv
    try "steady: a file into the image" "" "${steady[@]}" put "$image" "$inside/LICENSE-MIT" /
    try "steady: the image lists the file" "LICENSE-MIT" "${steady[@]}" ls "$image"
    try "steady: the image is sound" "" "${steady[@]}" check "$image"
    try "steady: a manual page" "steady" grep -i steady "$folder/share/man/man1/steady-format.1"
    try "steady: completions for bash" "" bash -n "$folder/share/bash-completion/completions/steady"
}

try_wheel() {
    local start
    without_rust python3 -m venv "$work/venv"
    start=$SECONDS
    without_rust "$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps "$1"
    echo "wheel: installed in an empty environment in $((SECONDS - start)) s"
    [ $((SECONDS - start)) -le 10 ] || { echo "error: the installation takes more than 10 s" >&2; exit 1; }
    without_rust "$work/venv/bin/pip" install --quiet --disable-pip-version-check 'pytest>=8'
    # The tests of images and trees need nothing else, except those that run `steady`.
    mkdir -p "$work/python/tests"
    cp "$root"/python/tests/{__init__,test_images,test_tree}.py "$root/python/pyproject.toml" "$work/python/" && mv "$work"/python/*.py "$work/python/tests/"
    (cd "$work/python" && try "wheel: tests of the package" " passed" "$work/venv/bin/python" -m pytest -p no:cacheprovider -k "not command")
    tail -n 1 "$work/log"
}

(cd "$out" && sha256sum --quiet -c SHA256SUMS) && echo "ok: checksums"
for file in "$out"/steadyfs-c-*.tar.gz; do
    [ -f "$file" ] || continue
    name=$(basename "$file" .tar.gz)
    version=${name#steadyfs-c-} archive=$work/$name
    series=${version%.*}
    try_c
done
for file in "$out"/steady-[0-9]*.tar.gz; do
    [ -f "$file" ] || continue
    version=$(basename "$file" | cut -d- -f2)
    try_steady "$file"
done
for file in "$out"/*.whl; do [ ! -f "$file" ] || try_wheel "$file"; done
