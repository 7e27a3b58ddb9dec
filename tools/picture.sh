#!/bin/bash
# Makes the picture of the README, docs/beside.svg, with the command that stands there; STEADY names a `steady` that is built.
#
#   tools/picture.sh           make it
#   tools/picture.sh --check   fail when it is not what the command makes now, or when the README tells other times than it shows
set -euo pipefail
cd "$(dirname "$0")/.."

mode=${1:---write}
case $mode in --write | --check) ;; *) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac

made=$(mktemp -d)
trap 'rm -r "$made"' EXIT
${STEADY:-cargo run --quiet --release --} evaluate --beside "FatFs on Dhara=docs/peers/fatfs-on-dhara.csv" --beside littlefs=docs/peers/littlefs.csv --svg "$made" >"$made/table"
if [ "$mode" = --write ]; then cp "$made/beside.svg" docs/beside.svg; fi

cmp "$made/beside.svg" docs/beside.svg || { echo "error: docs/beside.svg is not what the command makes: tools/picture.sh" >&2; exit 1; }
grep -Eo '(longest|at most) [0-9.]+ m?s' docs/beside.svg | grep -Eo '[0-9.]+ m?s' | while read -r time; do
    grep -qF "$time" README.md || { echo "error: the picture shows $time, of which README.md says nothing" >&2; exit 1; }
done
