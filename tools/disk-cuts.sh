#!/bin/bash
# Cuts the power of a simulated chip under ext4, F2FS and vfat on a disk, and looks whether a file is lost that fsync acknowledged:
# tools/disk-cuts.sh [ext4|f2fs|vfat]. Not part of the CI: it needs root and loop devices, and takes minutes.
#
# For each cut, the file system is made on DIR/disk and mounted by the kernel through a loop device; files are written, each with fsync, until
# power fails in the middle of a random program or erase. The disk is mounted again, the file system's own tool repairs it, and every
# acknowledged file is compared. What the kernel does not know is left out, and said. All mounts are made in a mount namespace of their
# own. STEADYFS_CUTS (200), STEADYFS_FILES (2000) and STEADYFS_SEED (1) choose otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "$(id -u)" = 0 ] || { echo "error: needs root, to mount loop devices" >&2; exit 1; }
[ $# = 0 ] || export STEADYFS_ON=$1
cargo build -q -p steadyfs-fuse --test disk_cuts
exec unshare --mount --propagation private cargo test -q -p steadyfs-fuse --test disk_cuts -- --ignored --nocapture
