#!/bin/bash
# Makes the README's picture, docs/beside.svg, with the command in the README. Also makes the data
# of the picture, docs/peers/littlefs.csv, from the kept results. STEADY names a built `steady`.
#
#   tools/picture.sh           make them
#   tools/picture.sh --check   fail if they would differ now, or if the README lacks their times
set -euo pipefail
cd "$(dirname "$0")/.."

mode=${1:---write}
case $mode in --write | --check) ;; *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac

made=$(mktemp -d)
trap 'rm -r "$made"' EXIT

# The calls in the kept results of littlefs. There are few, so the results have all of them.
python3 - bench/results/littlefs.json >"$made/littlefs.csv" <<'PYTHON'
import json, sys
kept = json.load(open(sys.argv[1]))
facts, board = kept["entry"]["facts"], next(board for board in kept["boards"] if board["id"] == "nand")
on = next(on for on in kept["entry"]["standings"] if on["board"] == "nand")
case = next(case for case in on["outcomes"] if case["case"] == "random-4096")
if len(case["times_us"]) != case["calls"]:
    sys.exit(f"error: {sys.argv[1]}: {len(case['times_us'])} times of {case['calls']} calls; expected all of them")
print(f"# {facts['name']} {facts['version']}, {facts['source']}, of bench/results/littlefs.json (docs/results/contenders.md: settings, and how it is measured)")
print(f"# durable overwrites of 4096 B at random places of a file that fills 80%; {board['device'].upper()}, typical times, flash time alone")
patience = f"{kept['patience_s']} s"
print(f"# the {case['calls']} writes of {patience} behind {patience} that are not measured")
print(f"# refused: {case['refused']}")
print("duration_us", *(round(us) for us in case["times_us"]), sep="\n")
PYTHON
if [ "$mode" = --write ]; then cp "$made/littlefs.csv" docs/peers/littlefs.csv; fi
cmp "$made/littlefs.csv" docs/peers/littlefs.csv || { echo "error: docs/peers/littlefs.csv is not what bench/results/littlefs.json holds: tools/picture.sh" >&2; exit 1; }

${STEADY:-cargo run --quiet --release --} evaluate --beside "FatFs on Dhara=docs/peers/fatfs-on-dhara.csv" --beside littlefs=docs/peers/littlefs.csv --svg "$made" >"$made/table"
if [ "$mode" = --write ]; then cp "$made/beside.svg" docs/beside.svg; fi
cmp "$made/beside.svg" docs/beside.svg || { echo "error: docs/beside.svg is not what the command makes: tools/picture.sh" >&2; exit 1; }

grep -Eo '(longest|at most) [0-9.]+ m?s' docs/beside.svg | grep -Eo '[0-9.]+ m?s' | while read -r time; do
    grep -qF "$time" README.md || { echo "error: the picture shows $time, of which README.md says nothing" >&2; exit 1; }
done
