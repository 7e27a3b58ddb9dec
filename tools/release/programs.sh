# To be sourced by tools/release.sh: the programs of a release. Needs its variables and functions.

# maturin builds the wheel. Zig's linker takes glibc 2.17 as the oldest, which each Linux since 2014
# has. Other versions of both can give other bytes.
maturin_version=1.16.0
zig_version=0.17.1

# Sets `place` to a folder with the files of the commit. Its path is the same in each run: cargo
# computes names from the paths of packages outside of their workspace, such as the crates of the
# Python package.
take_place() {
    [ -z "$place" ] || return 0
    local folder=/tmp/steadyfs-$version-${commit::12}
    mkdir "$folder" || { echo "error: $folder exists; another run on this commit uses it, or left it" >&2; return 1; }
    place=$folder
    git archive HEAD | tar x -C "$place"
}

# The options of C compilers that replace the paths of this machine.
remapped_for_c() { printf -- '-ffile-prefix-map=%s=%s ' "$CARGO_TARGET_DIR" /target "${CARGO_HOME:-$HOME/.cargo}" /cargo; }

# The command links glibc statically, so it runs on each Linux with this processor.
make_steady() {
    local target=x86_64-unknown-linux-gnu name=steady-$version-x86_64-linux
    local folder=$work/$name share=$work/$name/share
    CFLAGS_x86_64_unknown_linux_gnu=$(remapped_for_c) \
        RUSTFLAGS="-Ctarget-feature=+crt-static -Cstrip=symbols $(remapped_paths)" \
        cargo build --quiet --locked --release -p steadyfs-cli --target $target
    mkdir -p "$folder/bin" "$share"/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
    cp "$CARGO_TARGET_DIR/$target/release/steady" "$folder/bin/"
    "$folder/bin/steady" man "$share/man/man1"
    "$folder/bin/steady" completions bash >"$share/bash-completion/completions/steady"
    "$folder/bin/steady" completions zsh >"$share/zsh/site-functions/_steady"
    "$folder/bin/steady" completions fish >"$share/fish/vendor_completions.d/steady.fish"
    cp LICENSE-MIT LICENSE-APACHE CHANGELOG.md "$folder/"
    tools/release/crates.py licences steady >"$folder/THIRD-PARTY.txt"
    cat >>"$folder/THIRD-PARTY.txt" <<END
--------------------------------------------------------------------------------
The command links the GNU C Library, which is under LGPL-2.1-or-later. To link another version of
it, build this command from commit $commit with tools/release.sh.
END
    pack "$name"
    write_sbom steady steady
}

make_python() {
    local env=$CARGO_TARGET_DIR/release-venv
    take_place
    [ -x "$env/bin/python" ] || python3 -m venv "$env"
    "$env/bin/pip" install --quiet --disable-pip-version-check "maturin==$maturin_version" "ziglang==$zig_version"
    # maturin adds the files LICENSE* and NOTICE* to wheel and sdist.
    tools/release/crates.py licences python >"$place/python/NOTICE-THIRD-PARTY.txt"
    PATH=$env/bin:$PATH CARGO_TARGET_DIR=$CARGO_TARGET_DIR/place CFLAGS_x86_64_unknown_linux_gnu=$(remapped_for_c) \
        RUSTFLAGS="--remap-path-prefix=$place=/steadyfs $(remapped_paths)" \
        maturin build --quiet --locked --release --zig --compatibility manylinux2014 \
        --manifest-path "$place/python/Cargo.toml" --interpreter "$env/bin/python" --out "$work/wheels"
    "$env/bin/maturin" sdist --manifest-path "$place/python/Cargo.toml" --out "$work/wheels" 2>/dev/null
    cp "$work"/wheels/* "$out/"
    write_sbom python steadyfs-python
}

make_playground() {
    take_place
    CARGO_TARGET_DIR=$CARGO_TARGET_DIR/place RUSTFLAGS="--remap-path-prefix=$place=/steadyfs $(remapped_paths)" "$place/tools/playground.py"
    cp "$CARGO_TARGET_DIR/place/playground.html" "$out/steadyfs-playground-$version.html"
    write_sbom playground steadyfs-playground
}
