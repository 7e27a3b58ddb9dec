#!/bin/bash
# Packages the crates that are published, and builds them from the packages alone.
#
#   tools/package.sh    takes about a minute; the packages are in target/packages/package
#
# A crate is published if its manifest lacks `publish = false`. Each package must contain its README
# and the texts of the licences. The examples of the drivers are built from the packages, too.
set -euo pipefail
cd "$(dirname "$0")/.."
# Its own directory, because the check would otherwise wait for the builds of others.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/packages
export CARGO_PROFILE_DEV_DEBUG=false
packages=$CARGO_TARGET_DIR/package

crates=$(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
print(*(package["name"] for package in json.load(sys.stdin)["packages"] if package["publish"] is None))')
version=$(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
print(next(package["version"] for package in json.load(sys.stdin)["packages"] if package["name"] == "steadyfs"))')

rm -rf "$packages"
cargo package --quiet --allow-dirty $(printf -- '-p %s ' $crates) 2> >(grep -v 'is not included in the published package' >&2)
for crate in $crates; do
    file=$packages/$crate-$version.crate
    content=$(tar tzf "$file")
    for name in README.md LICENSE-MIT LICENSE-APACHE src/lib.rs; do
        grep -qx "$crate-$version/$name" <<<"$content" || { echo "error: $crate: the package has no $name" >&2; exit 1; }
    done
    # A link in place of the text would point outside of the package.
    cmp -s LICENSE-MIT <(tar xzOf "$file" "$crate-$version/LICENSE-MIT") || { echo "error: $crate: LICENSE-MIT has another text" >&2; exit 1; }
    echo "$crate: $(wc -l <<<"$content") files, $(($(stat -c %s "$file") / 1024)) KiB"
done

# The examples, with the crates of the packages in place of those of the registry. They are built
# outside of the clone, because cargo would take them for members of its workspace.
outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
patches=()
for crate in steadyfs steadyfs-sim steadyfs-drivers; do
    cp -r "$packages/$crate-$version" "$outside/$crate"
done
for crate in steadyfs steadyfs-sim; do
    patches+=(--config "patch.crates-io.$crate.path='$outside/$crate'")
done
cd "$outside/steadyfs-drivers"
cargo build --quiet "${patches[@]}" --examples
cargo run --quiet "${patches[@]}" --example readme
