#!/bin/bash
# Cuts the power of a simulated chip under ext4, F2FS and vfat on a disk, and checks if a file is
# lost that fsync acknowledged: tools/disk-cuts.sh [--uml LINUX] [ext4|f2fs|vfat]. Not part of the
# CI: it needs root and loop devices, and takes minutes.
#
# Each cut has these steps:
# - A disk with an empty file system is mounted as a file. The kernel mounts the file system on it
#   through a loop device.
# - Files are written, each with fsync, until power fails within a random program or erase.
# - The disk is mounted again, and the file system's own tool repairs it (e2fsck, fsck.f2fs,
#   fsck.vfat). Every acknowledged file is compared.
#
# A file system that the kernel does not support is left out, with a message. All mounts are made in
# a mount namespace of their own. These variables change the defaults:
#   STEADYFS_CUTS (200), STEADYFS_FILES (2000), STEADYFS_SEED (1)
#   STEADYFS_BEFORE (0): number of files that are written before power may fail
#
# --uml runs it in User-Mode Linux, an ordinary process, if the host's kernel lacks a file system.
# LINUX is built from the source of Linux by
#   KCONFIG_ALLCONFIG=tools/disk-cuts.config make ARCH=um allnoconfig && make ARCH=um linux
# (for processors with AMX changed as tools/uml.sh does). The host's files are there for reading
# alone; files below /tmp are hidden.
set -euo pipefail
cd "$(dirname "$0")/.."

linux=
if [ "${1:-}" = --uml ]; then
    linux=${2:?--uml: expected the kernel}
    shift 2
fi
[ $# = 0 ] || export STEADYFS_ON=$1
test=$(cargo test -p steadyfs-fuse --test disk_cuts --no-run 2>&1 | sed -n 's/.*(\(.*disk_cuts-.*\))$/\1/p')
test=$(realpath "${test:?the test was not built: cargo test -p steadyfs-fuse --test disk_cuts --no-run}")

if [ -z "$linux" ]; then
    [ "$(id -u)" = 0 ] || { echo "error: needs root, to mount loop devices" >&2; exit 1; }
    exec unshare --mount --propagation private "$test" --ignored --nocapture
fi

directory=$(mktemp -d "$(dirname "$test")/disk-cuts.XXXXXX")
trap 'rm -r "$directory"' EXIT
cat >"$directory/init" <<END
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /tmp
mount -t devtmpfs devices /dev
export $(env | grep '^STEADYFS_' | tr '\n' ' ')
echo '>>>'
$test --ignored --nocapture && echo '<<< done'
poweroff -ff >/dev/null 2>&1
END
chmod +x "$directory/init"
TMPDIR=/dev/shm "$linux" mem=1500M root=/dev/root rootfstype=hostfs rootflags=/ ro init="$directory/init" con=null ssl=null con0=null,fd:1 \
    panic=1 loglevel=1 </dev/null 2>&1 | sed -un '/^>>>/,$p' | tee "$directory/console"
grep -q '^<<< done' "$directory/console"
