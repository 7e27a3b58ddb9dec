#!/bin/bash
# Runs the fuzz targets, two at a time, and adds up their executions.
#
#   tools/fuzz.sh [--seconds 600] [--jobs 2] [TARGET]...
# --seconds is the time for all targets together. Prints a table. If an input fails, exits with 1
# and keeps the input in fuzz/artifacts. Needs a nightly toolchain and cargo-fuzz. fuzz/README.md
# describes the targets.
set -euo pipefail

usage() { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
seconds=600 jobs=2 targets=()
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) seconds=${2:?--seconds needs a number}; shift 2 ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift 2 ;;
    -*) usage ;;
    *) targets+=("$1"); shift ;;
    esac
done

cd "$(dirname "$0")/.."
cargo fuzz --version >/dev/null 2>&1 || { echo "error: needs cargo-fuzz: cargo install cargo-fuzz" >&2; exit 2; }
known=$(cargo +nightly fuzz list)
[ ${#targets[@]} -gt 0 ] || mapfile -t targets <<<"$known"
for target in "${targets[@]}"; do
    grep -qx -- "$target" <<<"$known" || { echo "error: no target $target; there are: ${known//$'\n'/ }" >&2; exit 2; }
done

# Built without a sanitizer, because there is no unsafe code, and without a trace of comparisons. So
# inputs run several times as fast. Overflows and assertions are checked.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/fuzz/target}
cargo +nightly fuzz build --sanitizer none --no-trace-compares --debug-assertions >&2
triple=$(rustc +nightly -vV | sed -n 's/^host: //p')
export binaries=$CARGO_TARGET_DIR/$triple/release
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# Text inputs run a thousand times as fast as volumes, and need less time.
weight() { case $1 in parse_units | parse_trace | parse_profile | parse_names) echo 1 ;; *) echo 4 ;; esac; }
weights=0
for target in "${targets[@]}"; do weights=$((weights + $(weight "$target"))); done
share() { echo $((seconds * jobs * $(weight "$1") / weights + 1)); }
export logs seconds jobs weights

run() {
    mkdir -p "fuzz/corpus/$1" "fuzz/artifacts/$1"
    "$binaries/$1" "fuzz/corpus/$1" "fuzz/seeds/$1" -dict=fuzz/dictionary -artifact_prefix="fuzz/artifacts/$1/" \
        -max_total_time="$(share "$1")" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 >"$logs/$1" 2>&1 && result=0 || result=$?
    echo "$result" >"$logs/$1.result"
}
export -f run share weight
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'run {}'

printf '%-18s %12s %8s %8s  %s\n' target executions seconds coverage found
sum=0 failed=0
for target in "${targets[@]}"; do
    # The last line with counts: "#1234  DONE  cov: 56 ft: 78 …". A run with a finding has it, too.
    last=$(grep -aoE '^#[0-9]+.*cov: [0-9]+' "$logs/$target" | tail -1) || last=
    executions=$(sed -nE 's/^#([0-9]+).*/\1/p' <<<"$last")
    coverage=$(sed -nE 's/.*cov: ([0-9]+)/\1/p' <<<"$last")
    found=
    if [ "$(cat "$logs/$target.result")" != 0 ] || [ -z "$executions" ]; then
        failed=1
        found=$(grep -aE 'panicked at|ERROR: libFuzzer' -A1 "$logs/$target" | grep -av '^--' | head -3 | tr '\n' ' ') || found=
        found="${found:-did not run: $(tail -1 "$logs/$target")} $(grep -ao 'fuzz/artifacts/.*' "$logs/$target" | tail -1 || true)"
    fi
    printf '%-18s %12s %8s %8s  %s\n' "$target" "${executions:-0}" "$(share "$target")" "${coverage:-0}" "${found:-nothing}"
    sum=$((sum + ${executions:-0}))
done
printf '%-18s %12s %8s\n' together "$sum" "$seconds"
exit "$failed"
