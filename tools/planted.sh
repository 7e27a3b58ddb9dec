#!/bin/bash
# Removes each rule of crash consistency from a copy of the core, one at a time, and expects `steady torture` to notice.
#
#   tools/planted.sh                all of tools/planted/*.patch, after a run that nothing was removed from
#   tools/planted.sh --only NAME    one of them, e.g. 1-quarantine
#
# Prints what found each defect: the string that replays it, and what was lost. Fails when a patch no longer applies, when the core
# does not build with it, or when it is not found. STEADYFS_TIME (60s) is the time for each kind of run; a patch that is found
# another way names its own arguments ("torture: ..."). Bounds are not checked: only lost or mixed data counts.
#
# Not planted, because no run finds anything lost without them (70 seconds each), for reasons that seem sound and
# are not proved:
#   retiring the block of a failed program: its next erase fails in the simulator, and that takes it out of use as well
#   rule 10, the checksum of the first record of a listed block: a run found the defect (a metastable page of long ago read as the
#     newest record) and passes with the rule; the case is not met again
set -euo pipefail

only=
case ${1:-} in
"") ;;
--only) only=${2:?--only needs a name} ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
patches=$root/tools/planted
[ -z "$only" ] || [ -f "$patches/$only.patch" ] || { echo "error: no $patches/$only.patch" >&2; exit 2; }
# A target directory of its own: cargo takes builds of equal packages in different places for the same, and would run a planted
# defect in the repository's own tests.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}/planted
export STEADYFS_SKIP_BOUNDS=1
time=${STEADYFS_TIME:-60s}

# The path is always the same, so that only what depends on the core is built again; the lock keeps two runs apart.
copy=${TMPDIR:-/tmp}/steadyfs-planted-$(id -u)
exec 9>"$copy.lock"
flock -n 9 || { echo "error: another run uses $copy" >&2; exit 2; }
log=$copy.log
trap 'rm -rf "$copy" "$log"' EXIT
rm -rf "$copy"
mkdir "$copy"
# Files get the time of now: a build of an earlier run, defect included, must look old.
(cd "$root" && git ls-files -z | while IFS= read -r -d '' file; do
    [ ! -f "$file" ] || printf '%s\0' "$file"
done | tar --null -T - -cf -) | tar -xmf - -C "$copy"
cd "$copy"

# The runs of a patch, one in a line: its own, or those that find most.
runs() {
    local own
    own=$([ -z "$1" ] || sed -n 's/^torture: //p' "$1")
    [ -n "$own" ] || own="--geometry small,small-copy,small-nor
--mode sampled
--exhaustive 2 --geometry small --fault none"
    echo "$own"
}

# Tortures with the arguments given: 0 when nothing is found, 1 when something is.
torture() {
    local status=0
    timeout 900 "$CARGO_TARGET_DIR/release/steady" torture --failures 1 --time "$time" "$@" >"$log" 2>&1 || status=$?
    # A planted defect may let a call run for ever.
    [ $status != 124 ] || { printf 'failures\n\ndid not end\n  replay: steady torture --replay (steady torture %s)\n' "$*" >"$log"; status=1; }
    [ $status -le 1 ] || { cat "$log"; echo "error: steady torture $* ended with code $status" >&2; exit 2; }
    return $status
}

build() { cargo build --release --quiet -p steadyfs-cli >"$log" 2>&1 || { cat "$log"; echo "error: does not build with $1" >&2; exit 2; }; }

if [ -z "$only" ]; then
    build "nothing planted"
    while read -ra arguments; do
        torture "${arguments[@]}" || { cat "$log"; echo "error: torture fails with nothing planted" >&2; exit 2; }
    done < <(runs "")
    echo "nothing planted: passes"
fi

failed=0
for patch in "$patches"/${only:-*}.patch; do
    name=$(basename "$patch" .patch)
    git apply "$patch" || { echo "error: $patch does not apply any more: renew it" >&2; exit 2; }
    build "$patch"
    found=
    while read -ra arguments; do
        torture "${arguments[@]}" && continue
        found=$(sed -n 's/^  replay: steady torture --replay //p' "$log" | head -n 1)
        what=$(sed -n '/^failures/,$p' "$log" | sed -n 3p | cut -c 1-100)
        break
    done < <(runs "$patch")
    if [ -n "$found" ]; then echo "$name: found by $found ($what)"; else echo "$name: NOT FOUND"; fi
    [ -n "$found" ] || failed=1
    git apply -R "$patch"
done
exit $failed
