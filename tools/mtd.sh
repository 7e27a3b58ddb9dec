#!/bin/bash
# Runs the MTD driver of steadyfs-host on a simulated NAND and NOR: tools/mtd.sh. Not part of the
# CI: the kernel takes minutes to build. tools/uml.sh lists the needs and their cache.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/uml.sh

small_pages=(nandsim.id_bytes=0xec,0x76,0xa5,0xc0)

build_kernel
[ -x "$cache/tools/usr/sbin/nandwrite" ] || fetch mtd-utils busybox-static
build_programs mtd
sbin=$cache/tools/usr/sbin
mapfile -t files < <(programs "$cache/mtd" "$cache/steady" "$cache/tools/bin/busybox" "$sbin/flash_erase" "$sbin/nandwrite" "$sbin/nanddump")

pack "${files[@]}" <<'END'
echo ">>> NAND with bad blocks, and NOR: format, write, mount again, verify, mark a block bad"
mtd exercise /dev/mtd1 /dev/mtd0
echo "<<< done"
END
boot 600 "${large_pages[@]}" nandsim.badblocks=1,7,100

pack "${files[@]}" <<'END'
echo ">>> NAND whose bits flip, whose erases fail in blocks 30 and 31, and whose programs fail in pages 3000 and 4000"
mtd exercise /dev/mtd1
echo "<<< done"
END
boot 600 "${large_pages[@]}" nandsim.bitflips=1 nandsim.weakblocks=30:1,31:1 nandsim.weakpages=3000:0,4000:0
# The weak pages lie in blocks 46 and 62.
grep -q 'bad at the end \[30, 31, 46, 62, 511\]' "$cache/console" || { echo "failed: other blocks have gone bad" >&2; exit 1; }

pack "${files[@]}" <<'END'
echo ">>> NAND of a stronger ECC whose bits flip: the corrections are told, which needs sysfs"
busybox mount -t sysfs sysfs /sys
mtd exercise /dev/mtd1
echo "<<< done"
END
boot 600 "${large_pages[@]}" nandsim.bch=4 nandsim.bitflips=1
# One in eight reads, not only the few tags that the guard corrects.
grep -Eq '^  [1-9][0-9]{3,} of [0-9]+ reads corrected' "$cache/console" || { echo "failed: no corrections are told" >&2; exit 1; }

pack "${files[@]}" <<'END'
echo ">>> an image that nandwrite writes to the chip, and that nanddump reads from it"
busybox mount -t sysfs sysfs /sys
mtd make /tmp/volume.img 2048 64 512
flash_erase -q /dev/mtd1 0 0
nandwrite --quiet --oob --noskipbad /dev/mtd1 /tmp/volume.img
mtd check /dev/mtd1
busybox rm /tmp/volume.img
nanddump --quiet --oob --bb=dumpbad --file=/tmp/dump.img /dev/mtd1
mtd check /tmp/dump.img
flash_erase -q /dev/mtd1 0 0
mtd exercise /dev/mtd1
nanddump --quiet --oob --bb=dumpbad --file=/tmp/dump.img /dev/mtd1
mtd check /tmp/dump.img
echo "<<< done"
END
boot 600 "${large_pages[@]}"

pack "${files[@]}" <<'END'
echo ">>> a page that is lost at its fourth read"
mtd lose /dev/mtd1 3200
echo "<<< done"
END
boot 600 "${large_pages[@]}" nandsim.gravepages=3200:3

pack "${files[@]}" <<'END'
echo ">>> NAND without room for the tag is refused"
if mtd exercise /dev/mtd1; then exit 1; fi
echo "<<< done"
END
boot 600 "${small_pages[@]}"
grep -q 'FAIL .* 8 free bytes of spare area' "$cache/console" || { echo "failed: refused for another reason" >&2; exit 1; }

pack "${files[@]}" <<'END'
echo ">>> steady on NAND with bad blocks, and on NOR"
for device in /dev/mtd1 /dev/mtd0; do
    if steady ls $device; then exit 1; fi
    if steady format $device; then exit 1; fi
    steady format $device --force
    steady mkdir -p $device a/b
    steady put -r $device /lib a --stats
    steady tree $device
    steady check $device
    steady scrub $device
    steady health $device --endurance 100000
    steady get -r $device a/lib /tmp/lib
    busybox cmp /lib/libc.so.6 /tmp/lib/libc.so.6
    steady rm -r $device a
    steady pack /lib $device --force
    steady check $device
    busybox rm -r /tmp/lib
done
steady dump /dev/mtd1 | busybox grep ' bad '
echo "<<< done"
END
boot 600 "${large_pages[@]}" nandsim.badblocks=1,7,100

pack "${files[@]}" <<'END'
echo ">>> steady on NOR of 16 MiB in erase blocks of 4 KiB: four make a block"
steady format /dev/mtd0 --force
steady put -r /dev/mtd0 /lib /
steady check /dev/mtd0
steady dump /dev/mtd0 | busybox head -n 20
steady get -r /dev/mtd0 lib /tmp/lib
busybox cmp /lib/libc.so.6 /tmp/lib/libc.so.6
echo "<<< done"
END
boot 600 "${small_pages[@]}" mtdram.total_size=16384 mtdram.erase_size=4

echo "all runs passed"
