#!/bin/bash
# Makes the files of a release. A maintainer uploads them.
#
#   tools/release.sh [OUT] [PART...]    OUT is empty or new; without it, target/release-VERSION
#
#   PART          files
#   c             static libraries, header, CMake package and examples for C
#   crates        the packages of the published crates
#   steady        the command for Linux on x86-64, static, with completions and manual pages
#   python        wheel (manylinux, abi3) and sdist
#   playground    the page
#   notes         release notes of the version, from CHANGELOG.md
#
# Without a PART it makes all. Each compiled product has an SBOM. SHA256SUMS covers all files. The
# files have the same bytes in each run on a commit, with the same compiler: folders, times, users
# and order do not matter. So the clone must have no uncommitted changes.
#
# tools/bare-metal.sh finds compiler and tools. With STEADYFS_INSTALL=1 it installs them. TARGETS
# and PRESETS choose libraries for C, for example TARGETS=thumbv7m-none-eabi PRESETS=logger.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
started=$PWD
cd "$root"
parts=(c crates steady python playground notes)
usage() { sed -n '2,21s/^# \{0,1\}//p' "$0" >&2; exit 2; }
case ${1:-} in -*) usage ;; esac
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
export CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
out=${1:-$CARGO_TARGET_DIR/release-$version}
[[ $out == /* ]] || out=$started/$out
[ $# = 0 ] || shift
chosen=("${@:-${parts[@]}}")
for part in "${chosen[@]}"; do [[ " ${parts[*]} " == *" $part "* ]] || usage; done

if [ -n "$(git status --porcelain)" ]; then
    echo "error: the clone has uncommitted changes; a release is made of a commit" >&2
    exit 1
fi
if [ -d "$out" ] && [ -n "$(ls -A "$out")" ]; then
    echo "error: $out is not empty" >&2
    exit 1
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
umask 022
work=$(mktemp -d)
place=
trap 'rm -rf "$work" ${place:+"$place"}' EXIT

. tools/bare-metal.sh
. tools/release/libraries.sh
. tools/release/programs.sh

# Packs a folder of $work: name. Times, users and order are the same in each run.
pack() {
    tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --mode=u=rwX,go=rX \
        -C "$work" -cf - "$1" | gzip -n9 >"$out/$1.tar.gz"
}

# Writes the SBOM of a product: its name in tools/release/crates.py, and in the file.
write_sbom() { tools/release/crates.py sbom "$1" >"$out/$2-$version.cdx.json"; }

# Copies a file of the archive for C, with the values of this release: file and destination.
fill_in() {
    local preset arguments=(-e "s|@VERSION@|$version|g" -e "s|@SERIES@|${version%.*}|g" -e "s|@COMMIT@|$commit|g" -e "s|@RUSTC@|$("$RUSTC" --version)|g")
    for preset in "${!features[@]}"; do arguments+=(-e "s/@$preset@/\`${features[$preset]//,/\`, \`}\`/g"); done
    sed "${arguments[@]}" "tools/release/c/$1" >"$2"
}

make_c() {
    local name=steadyfs-c-$version folder=$work/steadyfs-c-$version crate=crates/steadyfs-c file
    mkdir -p "$folder"/{include,lib/cmake/steadyfs,lib/pkgconfig,examples/c,examples/firmware/c}
    output=$folder/lib
    build_libraries
    cp $crate/include/steadyfs.h "$folder/include/"
    cp LICENSE-MIT LICENSE-APACHE "$folder/"
    tools/release/crates.py licences c >"$folder/THIRD-PARTY.txt"
    fill_in README.md "$folder/README.md"
    fill_in CMakeLists.txt "$folder/CMakeLists.txt"
    fill_in steadyfs.pc "$folder/lib/pkgconfig/steadyfs.pc"
    for file in steadyfs-targets.cmake steadyfs-config.cmake; do fill_in $file "$folder/lib/cmake/steadyfs/$file"; done
    cp $crate/cmake/steadyfs-config-version.cmake "$folder/lib/cmake/steadyfs/"
    echo "set(_steadyfs_version \"$version\")" >"$folder/lib/cmake/steadyfs/steadyfs-version.cmake"
    git archive HEAD examples/c examples/firmware/c examples/firmware/mps2.ld | tar x -C "$folder"
    cp $crate/tests/images/site.squashfs "$folder/examples/c/"
    pack "$name"
    write_sbom c steadyfs-c
    tools/release/sizes.py --check "$out/$name.tar.gz"
}

make_crates() {
    tools/package.sh
    cp "$CARGO_TARGET_DIR"/packages/package/*.crate "$out/"
}

# The section of the version, without its heading. If Cargo.toml has the repository's address, links
# lead to its files at the tag.
make_notes() {
    local repository
    repository=$(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
    awk -v version="$version" '$1 == "##" { found = $2 == version; next } found' CHANGELOG.md |
        sed -e '/./,$!d' -e 's/^### /## /' ${repository:+-e "s#](\(docs/\|[A-Z]\)#]($repository/blob/v$version/\1#g"} >"$out/release-notes-$version.md"
    [ -s "$out/release-notes-$version.md" ] || { echo "error: CHANGELOG.md has no section $version" >&2; return 1; }
}

# It links the libraries for RISC-V to measure them; without it they are not measured.
command -v riscv64-unknown-elf-gcc >/dev/null || [[ $targets != *riscv* ]] || install_debian gcc-riscv64-unknown-elf || true
find_bare_metal arm-none-eabi-gcc || { echo "error: needs a Rust compiler with the source of its library, and arm-none-eabi-gcc" >&2; exit 1; }
export RUSTC
# The libraries for C alone need options of nightly. The crates of others would try them, too.
export -n RUSTC_BOOTSTRAP
for part in "${chosen[@]}"; do
    start=$SECONDS
    echo "== $part"
    "make_$part"
    echo "-- $part: $((SECONDS - start)) s"
done
(cd "$out" && sha256sum -- * | grep -v ' SHA256SUMS$' >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
cat "$out/SHA256SUMS"
