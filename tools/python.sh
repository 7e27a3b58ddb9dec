#!/bin/bash
# Builds the Python package as a wheel, installs it in a virtual environment, and runs its checks
# there: formatting, types, tests (with fsspec's own), the documentation's examples, the notebooks.
#
#   tools/python.sh            everything, with `python3`; PYTHON=python3.12 takes another Python
#   tools/python.sh wheel      the wheel alone
# Needs python3 (3.10 or newer for the checks; the wheel is for 3.9 and newer), a Rust toolchain,
# and PyPI for the libraries. The environment is in the target directory and is used again. Without
# python3 or its venv the script skips the package with a message.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-all} in all | wheel) ;; *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
python=${PYTHON:-python3}
target=${CARGO_TARGET_DIR:-$root/target}
export CARGO_TARGET_DIR=$target/python
env=$CARGO_TARGET_DIR/venv

if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "skipped: the Python package, because there is no python3 with venv" >&2
    exit 0
fi
[ -x "$env/bin/python" ] || "$python" -m venv "$env"
"$env/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9,<2'

# The profile `quick` is built as the tests of the crates are. PROFILE=release is the profile of
# published wheels.
wheels=$CARGO_TARGET_DIR/wheels
rm -rf "$wheels"
"$env/bin/maturin" build --quiet --locked --profile "${PROFILE:-quick}" --manifest-path "$root/python/Cargo.toml" --interpreter "$env/bin/python" --out "$wheels"
wheel=$(echo "$wheels"/steadyfs-*.whl)
echo "wheel: $(basename "$wheel"), $(stat -c %s "$wheel") bytes"
[ "${1:-all}" != wheel ] || exit 0

"$env/bin/pip" install --quiet --disable-pip-version-check "$wheel[sweep,test]"
"$env/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"

# The tests use the installed package, not the package beside them.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/python/tests" "$root/python/notebooks" "$root/python/pyproject.toml" "$work"
sed -i "s|\.\./\.\./docs/|$root/docs/|" "$work/notebooks/how-much-ram.ipynb"
"$env/bin/python" - "$work" <<'END'
import json, pathlib, sys
for notebook in pathlib.Path(sys.argv[1], "notebooks").glob("*.ipynb"):
    # The last line of a cell is its shown value. It is a value without a use.
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    code = "\n\n".join("".join(cell["source"]) for cell in cells)
    notebook.with_name(notebook.stem.replace("-", "_") + ".py").write_text(code + "\n")
END

# The command of the workspace. The tests compare its numbers with the package's numbers.
if [ -z "${STEADY:-}" ]; then
    CARGO_TARGET_DIR=$target cargo build --quiet --manifest-path "$root/Cargo.toml" -p steadyfs-cli
    export STEADY=$target/debug/steady
fi

failed=()
check() {
    local name=$1 start=$SECONDS
    shift
    echo "== $name"
    (cd "$work" && "$@") || failed+=("$name")
    echo "-- $name: $((SECONDS - start)) s"
}
alone() {
    "$python" -m venv --clear "$work/alone"
    env -i PATH="$work/alone/bin" "$work/alone/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-index "$wheel"
    env -i PATH="$work/alone/bin" "$work/alone/bin/python" -c '
import shutil, sys, steadyfs
assert shutil.which("cargo") is None
with steadyfs.Image.create(sys.argv[1], "w25q128jv", size_bytes="1MiB") as image:
    with image.open("a", "w") as file:
        file.write("21.5")
with steadyfs.Image.open(sys.argv[1], mode="r") as image:
    assert image.open("a").read() == "21.5" and image.check().sound' "$work/alone.img"
}
package=$("$env/bin/python" -c 'import os, steadyfs; print(os.path.dirname(steadyfs.__file__))')
check clippy cargo clippy --quiet --locked --profile "${PROFILE:-quick}" --manifest-path "$root/python/Cargo.toml" -- -D warnings
check rustfmt cargo fmt --check --manifest-path "$root/python/Cargo.toml"
check format "$env/bin/ruff" format --check --quiet "$root/python"
check lint "$env/bin/ruff" check --quiet "$root/python"
check types "$env/bin/mypy" --config-file pyproject.toml -p steadyfs -p tests
check notebook-types "$env/bin/mypy" --config-file pyproject.toml "$work"/notebooks/*.py
check tests "$env/bin/python" -m pytest -p no:cacheprovider
check examples "$env/bin/python" -m pytest -p no:cacheprovider --doctest-modules "$package"
# A machine without Rust and without the index of packages.
check alone alone
check notebooks "$env/bin/python" -m pytest -p no:cacheprovider --nbmake --nbmake-timeout=300 notebooks
[ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
