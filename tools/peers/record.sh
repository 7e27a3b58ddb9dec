#!/bin/bash
# Records the access times of FatFs on Dhara that the README's picture shows beside SteadyFS's.
#
#   tools/peers/record.sh [ACCESSES] >docs/peers/fatfs-on-dhara.csv
#
# Fetches both from their own repositories, at the commits below, into target/peers; nothing of them is kept here.
set -euo pipefail

dhara=1b166e41b74b4a62ee6001ba5fab7a8805e80ea2 # 2022-03-15
fatfs=ab992fcf2926b8a1ee3f0a8f9cefb6584174100d # R0.16 patch 3

root=$(cd "$(dirname "$0")/../.." && pwd)
work=${CARGO_TARGET_DIR:-$root/target}/peers
fetch() {
    local directory=$work/$1
    [ -d "$directory" ] || git clone --quiet "$2" "$directory" >&2
    git -C "$directory" checkout --quiet "$3"
}
mkdir -p "$work/build"
fetch dhara "${DHARA:-https://github.com/dlbeer/dhara}" $dhara
fetch fatfs "${FATFS:-https://github.com/abbrev/fatfs}" $fatfs

# FatFs's own settings, but for: volumes can be made, fast seek, sectors of a page, no clock, an alphabet that needs no table.
sed -e 's/\(FF_USE_MKFS\s*\)0/\11/; s/\(FF_USE_FASTSEEK\s*\)0/\11/; s/\(FF_MAX_SS\s*\)512/\14096/; s/\(FF_FS_NORTC\s*\)0/\11/' \
    -e 's/\(FF_CODE_PAGE\s*\)932/\1437/' "$work/fatfs/source/ffconf.h" >"$work/build/ffconf.h"
cp "$work"/fatfs/source/{ff.c,ff.h,diskio.h} "$work/build"
cc -O2 -I"$work/build" -I"$work/dhara" -o "$work/build/fatfs_dhara" "$root/tools/peers/fatfs_dhara.c" "$work/build/ff.c" \
    "$work"/dhara/dhara/{map,journal,error}.c

echo "# FatFs R0.16 (github.com/abbrev/fatfs, ${fatfs:0:10}) on Dhara (github.com/dlbeer/dhara, ${dhara:0:10}), recorded by tools/peers/record.sh"
echo "# durable overwrites of 4096 B at random places; MT29F1G01ABAFD, typical times, flash time alone"
exec "$work/build/fatfs_dhara" 80 "${1:-20000}"
