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

# The options of rustc for the programs that are built there.
remapped_place() { printf -- '--remap-path-prefix=%s=%s ' "$place" /steadyfs "${CARGO_HOME:-$HOME/.cargo}" /cargo; }

# The command links musl statically, so it runs on each Linux. Rust's standard library for musl is
# built from its source. It unwinds the stack by GCC's library, in place of LLVM's.
make_steady() {
    local target=x86_64-unknown-linux-musl name=steady-$version-x86_64-linux folder=$work/steady-$version-x86_64-linux
    command -v musl-gcc >/dev/null || install_debian musl-tools || { echo "error: needs musl-gcc (Debian: musl-tools)" >&2; return 1; }
    mkdir -p "$work/unwind" "$folder"/{bin,share/man/man1,share/bash-completion/completions,share/zsh/site-functions,share/fish/vendor_completions.d}
    cp "$(gcc -print-file-name=libgcc_eh.a)" "$work/unwind/libunwind.a"
    # The source of the library is where the compiler has it; the folder of the object files of C is
    # not.
    CFLAGS_x86_64_unknown_linux_musl="-ffile-prefix-map=$CARGO_TARGET_DIR=/target -ffile-prefix-map=${CARGO_HOME:-$HOME/.cargo}=/cargo" \
        LIBRARY_PATH=$work/unwind CC_x86_64_unknown_linux_musl=musl-gcc CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=musl-gcc \
        RUSTFLAGS="-Clink-self-contained=no -Ctarget-feature=+crt-static -Cstrip=symbols $(remapped_paths)" \
        cargo build --quiet --locked --release -p steadyfs-cli --target $target -Zbuild-std=std
    cp "$CARGO_TARGET_DIR/$target/release/steady" "$folder/bin/"
    "$folder/bin/steady" man "$folder/share/man/man1"
    "$folder/bin/steady" completions bash >"$folder/share/bash-completion/completions/steady"
    "$folder/bin/steady" completions zsh >"$folder/share/zsh/site-functions/_steady"
    "$folder/bin/steady" completions fish >"$folder/share/fish/vendor_completions.d/steady.fish"
    cp LICENSE-MIT LICENSE-APACHE CHANGELOG.md "$folder/"
    tools/release/crates.py licences steady >"$folder/THIRD-PARTY.txt"
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
    PATH=$env/bin:$PATH CARGO_TARGET_DIR=$place/target RUSTFLAGS=$(remapped_place) \
        maturin build --quiet --locked --release --zig --compatibility manylinux2014 \
        --manifest-path "$place/python/Cargo.toml" --interpreter "$env/bin/python" --out "$work/wheels"
    "$env/bin/maturin" sdist --quiet --manifest-path "$place/python/Cargo.toml" --out "$work/wheels"
    cp "$work"/wheels/* "$out/"
    write_sbom python steadyfs-python
}

make_playground() {
    take_place
    CARGO_TARGET_DIR=$place/target RUSTFLAGS=$(remapped_place) "$place/tools/playground.py"
    cp "$place/target/playground.html" "$out/steadyfs-playground-$version.html"
    write_sbom playground steadyfs-playground
}
