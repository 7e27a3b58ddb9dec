#!/bin/bash
# Runs the MTD driver of steadyfs-host on a simulated NAND and NOR: tools/mtd.sh. Not part of the CI: the kernel takes minutes to build.
#
# The kernel is User-Mode Linux with nandsim and mtdram, an ordinary process, so neither root nor a chip is needed; its clock runs on
# flash time alone (time travel). Source and tools are Debian packages, fetched with apt-get and unpacked in a cache directory,
# $STEADYFS_MTD_CACHE or ~/.cache/steadyfs-mtd; nothing is installed. Needs a C compiler, make and a Rust toolchain, 2 GB there,
# and x86-64 Debian.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${STEADYFS_MTD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/steadyfs-mtd}
jobs=${STEADYFS_MTD_JOBS:-2}

# Unpacks Debian packages under $cache/tools.
fetch() {
    mkdir -p "$cache/packages" "$cache/tools"
    (cd "$cache/packages" && apt-get download -q -o APT::Sandbox::User=root "$@")
    for package in "$cache"/packages/*.deb; do
        dpkg-deb -x "$package" "$cache/tools"
        rm "$package"
    done
}

# What the kernel needs beyond `allnoconfig`.
configuration() {
    local option
    for option in 64BIT PRINTK TTY BINFMT_ELF BINFMT_SCRIPT BLK_DEV_INITRD FUTEX POSIX_TIMERS HIGH_RES_TIMERS UML_TIME_TRAVEL_SUPPORT \
        NULL_CHAN PROC_FS SYSFS \
        MTD MTD_RAW_NAND MTD_NAND_NANDSIM MTD_NAND_ECC_SW_HAMMING MTD_NAND_ECC_SW_BCH MTD_MTDRAM; do
        echo "CONFIG_$option=y"
    done
    echo "CONFIG_KERNEL_STACK_ORDER=4"
    echo "CONFIG_MTDRAM_TOTAL_SIZE=4096"
    echo "CONFIG_MTDRAM_ERASE_SIZE=64"
}

# Builds $cache/linux/linux and the packer of initial file systems. In a shell of its own: what it exports is not for cargo.
build_kernel() (
    fetch linux-source-6.1 flex bison m4 libfl2 libsigsegv2
    mkdir -p "$cache/linux"
    tar -xf "$cache"/tools/usr/src/linux-source-6.1.tar.xz -C "$cache/linux" --strip-components=1
    # mtdram needs no memory-mapped devices, although its menu says so.
    sed -i '/depends on HAS_IOMEM/d' "$cache/linux/drivers/mtd/devices/Kconfig"
    # Bits flip in 1 of 8 reads, not in 1 of 1,024, so that a short run meets flipped bits everywhere.
    sed -i 's/get_random_u16() < (1 << 6)/get_random_u16() < (1 << 13)/' "$cache/linux/drivers/mtd/nand/raw/nandsim.c"
    # Processors with AMX have 11 KiB of registers; the kernel reserves 2,696 bytes, and the host refuses to set a part. It takes what
    # it needs of more. They are saved on the kernel's stack.
    sed -i 's/HOST_FP_SIZE, 2696/HOST_FP_SIZE, 16384/' "$cache/linux/arch/x86/um/user-offsets.c"
    configuration >"$cache/configuration"
    export PATH="$cache/tools/usr/bin:$PATH" M4="$cache/tools/usr/bin/m4" BISON_PKGDATADIR="$cache/tools/usr/share/bison"
    export LD_LIBRARY_PATH="$cache/tools/usr/lib/x86_64-linux-gnu"
    KCONFIG_ALLCONFIG="$cache/configuration" make -C "$cache/linux" ARCH=um allnoconfig >/dev/null
    make -C "$cache/linux" ARCH=um -j"$jobs" linux
    make -C "$cache/linux/usr" -f /dev/null gen_init_cpio
)

# The example and the command, linked with all that they need.
build_programs() {
    local target=${CARGO_TARGET_DIR:-target}/x86_64-unknown-linux-gnu/release
    export RUSTFLAGS="-C target-feature=+crt-static"
    cargo build --release -p steadyfs-host --example mtd --target x86_64-unknown-linux-gnu
    cargo build --release -p steadyfs-cli --target x86_64-unknown-linux-gnu
    cp "$target/examples/mtd" "$target/steady" "$cache/"
}

# Packs an initial file system whose init runs the commands of standard input.
pack() {
    { echo '#!/bin/busybox sh'; echo "trap 'busybox poweroff -f' EXIT"; echo 'set -e'; cat; } >"$cache/init"
    {
        printf 'dir /%s 0755 0 0\n' bin dev sys lib lib/x86_64-linux-gnu lib64 tmp
        echo "nod /dev/console 0600 0 0 c 5 1"
        echo "nod /dev/null 0666 0 0 c 1 3"
        # mtdram, which stands for NOR, and nandsim.
        echo "nod /dev/mtd0 0600 0 0 c 90 0"
        echo "nod /dev/mtd1 0600 0 0 c 90 2"
        echo "file /init $cache/init 0755 0 0"
        echo "file /bin/mtd $cache/mtd 0755 0 0"
        echo "file /bin/steady $cache/steady 0755 0 0"
        echo "file /bin/busybox $cache/tools/bin/busybox 0755 0 0"
        for tool in flash_erase nandwrite nanddump; do echo "file /bin/$tool $cache/tools/usr/sbin/$tool 0755 0 0"; done
        for library in lib/x86_64-linux-gnu/libc.so.6 lib64/ld-linux-x86-64.so.2; do echo "file /$library /$library 0755 0 0"; done
    } >"$cache/files"
    "$cache/linux/usr/gen_init_cpio" "$cache/files" >"$cache/initrd"
}

# Boots the packed file system with parameters of nandsim, and shows what it prints. All is well if the last command was reached.
boot() {
    TMPDIR=/dev/shm timeout 600 "$cache/linux/linux" mem=768M initrd="$cache/initrd" time-travel=inf-cpu loglevel=1 panic=-1 \
        con=null ssl=null con0=null,fd:1 nandsim.do_delays=1 "$@" </dev/null >"$cache/console" 2>&1 || true
    sed -n '/^>>>/,/^<<</p' "$cache/console"
    grep -q '^<<< done' "$cache/console" || { echo "failed: see $cache/console" >&2; return 1; }
}

# NAND of 2 KiB pages with 64 spare bytes, 64 MiB; durations as those of usual chips.
large_pages=(nandsim.id_bytes=0x20,0xa2,0x00,0x15 nandsim.access_delay=46 nandsim.programm_delay=200 nandsim.erase_delay=2
    nandsim.input_cycle=40 nandsim.output_cycle=40)
small_pages=(nandsim.id_bytes=0xec,0x76,0xa5,0xc0)

[ -x "$cache/linux/usr/gen_init_cpio" ] || build_kernel
[ -x "$cache/tools/usr/sbin/nandwrite" ] || fetch mtd-utils busybox-static
build_programs

pack <<'END'
echo ">>> NAND with bad blocks, and NOR: format, write, mount again, verify, mark a block bad"
mtd exercise /dev/mtd1 /dev/mtd0
echo "<<< done"
END
boot "${large_pages[@]}" nandsim.badblocks=1,7,100

pack <<'END'
echo ">>> NAND whose bits flip, whose erases fail in blocks 30 and 31, and whose programs fail in pages 3000 and 4000"
mtd exercise /dev/mtd1
echo "<<< done"
END
boot "${large_pages[@]}" nandsim.bitflips=1 nandsim.weakblocks=30:1,31:1 nandsim.weakpages=3000:0,4000:0
# The pages lie in blocks 46 and 62.
grep -q 'bad at the end \[30, 31, 46, 62, 511\]' "$cache/console" || { echo "failed: other blocks have gone bad" >&2; exit 1; }

pack <<'END'
echo ">>> NAND of a stronger ECC whose bits flip: the corrections are told, which needs sysfs"
busybox mount -t sysfs sysfs /sys
mtd exercise /dev/mtd1
echo "<<< done"
END
boot "${large_pages[@]}" nandsim.bch=4 nandsim.bitflips=1
# One in eight, not only the few of the tags that the guard corrects.
grep -Eq '^  [1-9][0-9]{3,} of [0-9]+ reads corrected' "$cache/console" || { echo "failed: no corrections are told" >&2; exit 1; }

pack <<'END'
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
boot "${large_pages[@]}"

pack <<'END'
echo ">>> a page that is lost at its fourth read"
mtd lose /dev/mtd1 3200
echo "<<< done"
END
boot "${large_pages[@]}" nandsim.gravepages=3200:3

pack <<'END'
echo ">>> NAND without room for the tag is refused"
if mtd exercise /dev/mtd1; then exit 1; fi
echo "<<< done"
END
boot "${small_pages[@]}"
grep -q 'FAIL .* 8 free bytes of spare area' "$cache/console" || { echo "failed: refused for another reason" >&2; exit 1; }

pack <<'END'
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
    busybox cmp /lib/x86_64-linux-gnu/libc.so.6 /tmp/lib/x86_64-linux-gnu/libc.so.6
    steady rm -r $device a
    steady pack /lib $device --force
    steady check $device
    busybox rm -r /tmp/lib
done
steady dump /dev/mtd1 | busybox grep ' bad '
echo "<<< done"
END
boot "${large_pages[@]}" nandsim.badblocks=1,7,100

pack <<'END'
echo ">>> steady on NOR of 16 MiB in erase blocks of 4 KiB: four make a block"
steady format /dev/mtd0
steady put -r /dev/mtd0 /lib /
steady check /dev/mtd0
steady dump /dev/mtd0 | busybox head -n 20
steady get -r /dev/mtd0 lib /tmp/lib
busybox cmp /lib/x86_64-linux-gnu/libc.so.6 /tmp/lib/x86_64-linux-gnu/libc.so.6
echo "<<< done"
END
boot "${small_pages[@]}" mtdram.total_size=16384 mtdram.erase_size=4

echo "all runs passed"
