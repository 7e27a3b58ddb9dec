#!/bin/bash
# Removes each rule of crash consistency from a copy of the core, one at a time. For each removal
# `steady torture`, the siege or a test must fail.
#
#   tools/planted.sh                a run without a defect, then all of tools/planted/*.patch
#   tools/planted.sh --only NAME    one patch, e.g. 1-quarantine, even if its result is kept
#
# Prints the run that finds each defect, its replay, and the loss. Fails if a patch does not apply,
# if the core does not build with it, or if no run finds it. STEADYFS_JOBS (2) patches run side by
# side. STEADYFS_TIME (60s) is the time for each kind of torture. Results are kept in the target
# directory, by sources and patch, so that an interrupted suite continues.
# A patch may name its own runs: "torture: …", "siege: …", or "test: PACKAGE TARGET NAME".
# Bounds are not checked: only lost or mixed data counts.
#
# Some rules are not planted, because no run loses anything without them (70 seconds each). The
# reasons seem sound and are not proved:
#   Retiring the block of a failed program: its next erase fails in the simulator. This takes the
#     block out of use as well.
#   The checksum of the first record of a listed block: a run found the defect (a metastable page of
#     long ago read as the newest record) and passes with the rule. The case does not occur again.
#   The jump of root numbers at a mount, and the erase of ring blocks with undetermined content: a
#     root names the root that it follows. The model finds no loss without either rule. It finds one
#     without this name.
#   A commit that lacks pages does not count on a device that reorders: the gap shows this already,
#     unless exactly as many numbers are missing as a failure skips, 64.
#   Nothing is programmed or erased behind a failed flush: the failure alone ends the call, and
#     makes the volume read-only before the next call.
#   A mount completes the mark of an opened volume: a loss takes four cuts, since only the newest
#     root is marked (the model: MARK_CHAINS).
set -euo pipefail

only=
case ${1:-} in
"") ;;
--only) only=${2:?--only needs a name} ;;
*) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
patches=$root/tools/planted
[ -z "$only" ] || [ -f "$patches/$only.patch" ] || { echo "error: no $patches/$only.patch" >&2; exit 2; }
jobs=${STEADYFS_JOBS:-2}
time=${STEADYFS_TIME:-60s}
# Each has its own target directories. Cargo mixes up builds of equal packages in different places,
# and would run a planted defect in the repository's own tests.
targets=${CARGO_TARGET_DIR:-$root/target}/planted
export STEADYFS_SKIP_BOUNDS=1
# Nearly as fast to run as a release, and much faster to build again. Assertions are off: only lost
# or mixed data counts here.
export CARGO_INCREMENTAL=1 CARGO_PROFILE_DEV_DEBUG_ASSERTIONS=false CARGO_PROFILE_DEV_OVERFLOW_CHECKS=false

# The paths are always the same, so only the core and its dependents are built again. The lock keeps
# two runs apart.
work=${TMPDIR:-/tmp}/steadyfs-planted-$(id -u)
exec 9>"$work.lock"
flock -n 9 || { echo "error: another run uses $work" >&2; exit 2; }
trap 'rm -rf "$work"' EXIT
rm -rf "$work"
mkdir "$work"

# Prints the runs of a patch, one per line: its own runs, or the runs that find most defects.
runs() {
    local own
    own=$([ -z "$1" ] || grep -E '^(torture|siege|test): ' "$1" || true)
    [ -n "$own" ] || own="torture: --geometry small,small-copy,small-nor
torture: --mode sampled
siege: chains --volumes 3000
siege: transient --volumes 3000
torture: --exhaustive 2 --geometry small --fault none"
    echo "$own"
}

# Makes a run: `torture:`, `siege:` or `test:`, and its arguments. Returns 0 if it finds nothing,
# and 1 if it finds a loss. The log has the finding.
run() {
    local kind=$1 status=0
    shift
    case $kind in
    torture:) build steadyfs-cli; timeout 900 "$CARGO_TARGET_DIR/debug/steady" torture --failures 1 --threads 1 --time "$time" "$@" >"$log" 2>&1 || status=$? ;;
    siege:) build steadyfs-siege; timeout 900 "$CARGO_TARGET_DIR/debug/steadyfs-siege" "$@" --threads 1 >"$log" 2>&1 || status=$? ;;
    test:) tested "$@" >"$log" 2>&1 || status=$? ;;
    esac
    # A planted defect may make a call endless.
    [ $status != 124 ] || { echo "  replay: steady torture --replay ($kind $*: did not end)" >"$log"; status=1; }
    # The siege's chip panics if a page is programmed twice. This counts as found, too.
    [ $status -le 1 ] || [ "$kind" = siege: ] || { cat "$log"; echo "error: $kind $* ended with code $status" >&2; exit 2; }
    return $((status != 0))
}

# Makes one test of a package. Returns 2 if the test does not build or does not exist: it found
# nothing.
tested() {
    local test=(cargo test --quiet -p "$1" --test "$2" --)
    "${test[@]}" --list | grep -x "$3: test" || { echo "no test $3 in $2"; return 2; }
    timeout 900 "${test[@]}" --exact "$3" || return 1
}

build() {
    cargo build --quiet -p "$1" >"$log" 2>&1 || { cat "$log"; echo "error: $1 does not build" >&2; exit 2; }
}

# Makes a copy of the repository for a job. Files get the present time: a build of an earlier run,
# with its defect, must look old.
enter_copy() {
    copy=$work/$1
    log=$copy.log
    export CARGO_TARGET_DIR=$targets/$1
    mkdir -p "$copy"
    (cd "$root" && git ls-files -z | while IFS= read -r -d '' file; do
        [ ! -f "$file" ] || printf '%s\0' "$file"
    done | tar --null -T - -cf -) | tar -xmf - -C "$copy"
    cd "$copy"
}

# Searches for one defect.
plant() {
    local patch=$1 name found= kept
    name=$(basename "$patch" .patch)
    kept=$targets/found/$(cat "$work/sources" "$patch" | sha256sum | cut -c 1-32)
    if [ -z "$only" ] && [ -f "$kept" ]; then
        cat "$kept"
        return
    fi
    git apply "$patch" || { echo "error: $patch does not apply any more: renew it" >&2; exit 2; }
    while read -ra arguments; do
        run "${arguments[@]}" && continue
        found=$(sed -n -e 's/^  replay: //p' -e 's/^ *\(cargo run .*\)/\1/p' "$log" | head -n 1)
        found=${found:-${arguments[*]}}
        what=$(sed -n -e '/^failures/,$p' "$log" | sed -n 3p | sed 's/^----.*//' | cut -c 1-100)
        break
    done < <(runs "$patch")
    git apply -R "$patch"
    [ -n "$found" ] || { echo "$name: NOT FOUND"; return 1; }
    echo "$name: found by $found ${what:+($what)}" | tee "$kept"
}

# Takes one patch after the other until the queue is empty.
worker() {
    local patch failed=0
    enter_copy "$1"
    while patch=$(flock "$work/lock" sed -i -e '1{w /dev/stdout' -e 'd}' "$work/queue") && [ -n "$patch" ]; do
        plant "$patch" || failed=1
    done
    return $failed
}

printf '%s\n' "$patches"/${only:-*}.patch >"$work/queue"
mkdir -p "$targets/found"
(cd "$root" && git ls-files -z crates/steadyfs crates/steadyfs-{sim,lab,siege}/src Cargo.lock | xargs -0 sha256sum) >"$work/sources"
# Without a defect all runs pass. This result is kept as well.
passes=$targets/found/$(sha256sum <"$work/sources" | cut -c 1-32)
if [ -z "$only" ] && [ ! -f "$passes" ]; then
    (
        enter_copy 1
        while read -ra arguments; do
            run "${arguments[@]}" || { cat "$log"; echo "error: ${arguments[*]} fails with nothing planted" >&2; exit 2; }
        done < <(runs "")
        echo "nothing planted: passes" | tee "$passes"
    )
fi

failed=0
pids=()
for job in $(seq "$jobs"); do
    worker "$job" &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
exit $failed
