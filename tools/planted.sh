#!/bin/bash
# Removes each rule of crash consistency from a copy of the core, one at a time, and expects `steady torture`, the siege or a test to notice.
#
#   tools/planted.sh                all of tools/planted/*.patch, after a run that nothing was removed from
#   tools/planted.sh --only NAME    one of them, e.g. 1-quarantine
#
# Prints what found each defect: what replays it, and what was lost. Fails when a patch no longer applies, when the core does not
# build with it, or when it is not found. STEADYFS_JOBS (2) patches are looked at side by side, STEADYFS_TIME (60s) is the time for
# each kind of torture; a patch that is found another way names its own runs ("torture: …", "siege: …", or "test: PACKAGE TARGET NAME").
# What was found is kept in the target directory, under the sources and the patch, so that a suite which is stopped goes on where it was; --only looks again.
# Bounds are not checked: only lost or mixed data counts.
#
# Not planted, because no run finds anything lost without them (70 seconds each), for reasons that seem sound and
# are not proved:
#   retiring the block of a failed program: its next erase fails in the simulator, and that takes it out of use as well
#   the checksum of the first record of a listed block: a run found the defect (a metastable page of long ago read as the
#     newest record) and passes with the rule; the case is not met again
#   that the numbers of roots jump at a mount, and that ring blocks of which nobody can tell what they hold are erased: a root names the
#     one that it follows, and the model finds nothing lost without either (it does without that)
#   that a commit which lacks pages is none where a device reorders: only where as many numbers are missing as a failure skips, 64, is that not seen by
#     the gap
#   that nothing is programmed or erased behind a flush that failed: the failure alone ends the call, and makes the volume read-only before the next one
#   that a mount completes the mark of an opened volume: since only the newest root is marked it takes four cuts (the model: MARK_CHAINS)
set -euo pipefail

only=
case ${1:-} in
"") ;;
--only) only=${2:?--only needs a name} ;;
*) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
patches=$root/tools/planted
[ -z "$only" ] || [ -f "$patches/$only.patch" ] || { echo "error: no $patches/$only.patch" >&2; exit 2; }
jobs=${STEADYFS_JOBS:-2}
time=${STEADYFS_TIME:-60s}
# Target directories of their own: cargo takes builds of equal packages in different places for the same, and would run a planted
# defect in the repository's own tests.
targets=${CARGO_TARGET_DIR:-$root/target}/planted
export STEADYFS_SKIP_BOUNDS=1
# As fast to run as a release, nearly, and much faster to build again; an assertion finds nothing here, for only lost or mixed data counts.
export CARGO_INCREMENTAL=1 CARGO_PROFILE_DEV_DEBUG_ASSERTIONS=false CARGO_PROFILE_DEV_OVERFLOW_CHECKS=false

# The paths are always the same, so that only what depends on the core is built again; the lock keeps two runs apart.
work=${TMPDIR:-/tmp}/steadyfs-planted-$(id -u)
exec 9>"$work.lock"
flock -n 9 || { echo "error: another run uses $work" >&2; exit 2; }
trap 'rm -rf "$work"' EXIT
rm -rf "$work"
mkdir "$work"

# The runs of a patch, one in a line: its own, or those that find most.
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

# Makes a run, `torture:`, `siege:` or `test:` and its arguments: 0 when nothing is found, 1 when something is. What was found is in the log.
run() {
    local kind=$1 status=0
    shift
    case $kind in
    torture:) build steadyfs-cli; timeout 900 "$CARGO_TARGET_DIR/debug/steady" torture --failures 1 --threads 1 --time "$time" "$@" >"$log" 2>&1 || status=$? ;;
    siege:) build steadyfs-siege; timeout 900 "$CARGO_TARGET_DIR/debug/steadyfs-siege" "$@" --threads 1 >"$log" 2>&1 || status=$? ;;
    test:) tested "$@" >"$log" 2>&1 || status=$? ;;
    esac
    # A planted defect may let a call run for ever.
    [ $status != 124 ] || { echo "  replay: steady torture --replay ($kind $*: did not end)" >"$log"; status=1; }
    # The siege's chip panics where a page is programmed twice; that is found as well.
    [ $status -le 1 ] || [ "$kind" = siege: ] || { cat "$log"; echo "error: $kind $* ended with code $status" >&2; exit 2; }
    return $((status != 0))
}

# Makes one test of a package. A test that does not build, or that is not there any more, has found nothing: 2.
tested() {
    local test=(cargo test --quiet -p "$1" --test "$2" --)
    "${test[@]}" --list | grep -x "$3: test" || { echo "no test $3 in $2"; return 2; }
    timeout 900 "${test[@]}" --exact "$3" || return 1
}

build() {
    cargo build --quiet -p "$1" >"$log" 2>&1 || { cat "$log"; echo "error: $1 does not build" >&2; exit 2; }
}

# A copy of the repository for a job. Files get the time of now: a build of an earlier run, defect included, must look old.
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

# Looks for one defect.
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

# Takes one patch after the other until none is left.
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
# Without a defect everything passes; kept as well.
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
