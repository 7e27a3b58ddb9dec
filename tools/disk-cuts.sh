#!/bin/bash
# Cuts the power of a simulated chip under ext4, F2FS and vfat on a disk, and looks whether a file is lost that fsync acknowledged:
# tools/disk-cuts.sh [--uml LINUX] [ext4|f2fs|vfat]. Not part of the CI: it needs root and loop devices, and takes minutes.
#
# For each cut, a disk with an empty file system is mounted as a file, and the file system on it by the kernel, through a loop device; files are
# written, each with fsync, until power fails in the middle of a random program or erase. The disk is mounted again, the file system's own tool
# repairs it (e2fsck, fsck.f2fs, fsck.vfat), and every acknowledged file is compared. What the kernel does not know is left out, and said. All
# mounts are made in a mount namespace of their own. STEADYFS_CUTS (200), STEADYFS_FILES (2000), STEADYFS_BEFORE (0: how many of them are
# written before power may fail) and STEADYFS_SEED (1) choose otherwise.
#
# --uml runs it in User-Mode Linux, an ordinary process, where the host's kernel lacks a file system. LINUX is built from the source of Linux by
#   KCONFIG_ALLCONFIG=tools/disk-cuts.config make ARCH=um allnoconfig && make ARCH=um linux
# (for processors with AMX changed as tools/uml.sh does). The host's files are there for reading alone; those below /tmp are hidden.
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
