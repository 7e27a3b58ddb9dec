#!/bin/bash
# Measures JFFS2, UBIFS, squashfs, cramfs, ext4, F2FS and vfat of Linux, and SteadyFS mounted
# through FUSE, on the same simulated NAND:
#
#   tools/linux-peers.sh [SYSTEM...]     the named systems, or all
#
# Then it writes bench/linux.json and docs/results/linux-peers.md anew. Not part of the CI: the kernel takes
# minutes to build. tools/uml.sh lists the needs and their cache; this script fetches more packages.
# Each system is measured in a kernel of its own. Its results are kept, so that an interrupted run
# continues. STEADYFS_AGAIN=1 measures everything anew.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/uml.sh

all=(raw steadyfs steadyfs-sync steadyfs-lz4 steadyfs-zstd jffs2 jffs2-on-ubi ubifs ubifs-sync squashfs-lzo squashfs-xz cramfs ext4-on-mtdblock f2fs-on-mtdblock vfat-on-mtdblock)
[ $# -gt 0 ] || set -- "${all[@]}"
build_kernel
[ -x "$cache/tools/sbin/mkfs.fat" ] || fetch mtd-utils busybox-static squashfs-tools f2fs-tools e2fsprogs dosfstools
build_programs linux_peers

# Images for read-only systems, with the same files that the other systems get.
images=$cache/images
if [ ! -e "$images/cramfs" ]; then
    rm -rf "$images"
    mkdir -p "$images"
    "$cache/linux_peers" tree "$images/tree"
    squash=$cache/tools/usr/bin/mksquashfs
    "$squash" "$images/tree" "$images/squashfs-lzo" -comp lzo -quiet -no-progress -all-root
    "$squash" "$images/tree" "$images/squashfs-xz" -comp xz -quiet -no-progress -all-root
    /sbin/mkfs.cramfs "$images/tree" "$images/cramfs.part"
    mv "$images/cramfs.part" "$images/cramfs"
fi

sbin=$cache/tools/usr/sbin
mapfile -t files < <(
    programs "$cache/linux_peers" "$cache/steady" "$cache/tools/bin/busybox" "$cache"/tools/sbin/{mkfs.f2fs,mkfs.fat,mke2fs} \
        "$sbin"/{flash_erase,nandwrite,ubiformat,ubiattach,ubidetach,ubimkvol}
    echo "dir /images 0755 0 0"
    for image in squashfs-lzo squashfs-xz cramfs; do echo "file /images/$image $images/$image 0644 0 0"; done
)

mkdir -p "$cache/rows"
for system; do
    rows=$cache/rows/$system
    [ ! -s "$rows" ] || [ -n "${STEADYFS_AGAIN:-}" ] || continue
    pack "${files[@]}" <<END
busybox mount -t sysfs sysfs /sys
echo ">>> $system"
linux_peers $system
echo "<<< done"
END
    boot 1800 "${large_pages[@]}" | tee "$rows.part" | sed -n '/^{/p'
    grep '^{' "$rows.part" >"$rows"
    rm "$rows.part"
done

tools/linux-peers.py "$cache/rows"
