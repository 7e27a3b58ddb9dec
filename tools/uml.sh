# To be sourced: a kernel of User-Mode Linux with simulated NAND and NOR, and everything to boot it.
# Installs nothing and needs no root.
#
# The kernel is an ordinary process. Its clock runs on flash time alone (time travel). Source and
# tools are Debian packages. The script fetches them with apt-get and unpacks them in a cache
# directory, $STEADYFS_UML_CACHE or ~/.cache/steadyfs-uml. Needs a C compiler, make, a Rust
# toolchain, 2 GB in the cache, and x86-64 Debian. The first build takes some five minutes.

cache=${STEADYFS_UML_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/steadyfs-uml}
jobs=${STEADYFS_UML_JOBS:-2}

# Unpacks Debian packages under $cache/tools.
fetch() {
    mkdir -p "$cache/packages" "$cache/tools"
    (cd "$cache/packages" && apt-get download -q -o APT::Sandbox::User=root "$@")
    for package in "$cache"/packages/*.deb; do
        dpkg-deb -x "$package" "$cache/tools"
        rm "$package"
    done
}

# Options of the kernel beyond `allnoconfig`.
configuration() {
    local option
    for option in 64BIT PRINTK TTY BINFMT_ELF BINFMT_SCRIPT BLK_DEV_INITRD FUTEX POSIX_TIMERS HIGH_RES_TIMERS UML_TIME_TRAVEL_SUPPORT \
        NULL_CHAN PROC_FS SYSFS MULTIUSER FILE_LOCKING EPOLL EVENTFD SHMEM TMPFS DEVTMPFS BLOCK ADVISE_SYSCALLS \
        MTD MTD_RAW_NAND MTD_NAND_NANDSIM MTD_NAND_ECC_SW_HAMMING MTD_NAND_ECC_SW_BCH MTD_MTDRAM MTD_BLOCK MTD_UBI MTD_UBI_GLUEBI \
        MISC_FILESYSTEMS JFFS2_FS JFFS2_FS_WRITEBUFFER JFFS2_COMPRESSION_OPTIONS JFFS2_ZLIB JFFS2_LZO JFFS2_RTIME \
        UBIFS_FS UBIFS_FS_ADVANCED_COMPR UBIFS_FS_LZO UBIFS_FS_ZLIB UBIFS_FS_ZSTD SQUASHFS SQUASHFS_LZO SQUASHFS_XZ SQUASHFS_ZLIB \
        CRAMFS CRAMFS_BLOCKDEV EXT4_FS F2FS_FS FAT_FS VFAT_FS NLS NLS_CODEPAGE_437 NLS_ISO8859_1 FUSE_FS CRYPTO NET UNIX FHANDLE; do
        echo "CONFIG_$option=y"
    done
    echo "CONFIG_KERNEL_STACK_ORDER=4"
    echo "CONFIG_MTDRAM_TOTAL_SIZE=4096"
    echo "CONFIG_MTDRAM_ERASE_SIZE=64"
}

# Changes nandsim:
# - Bits flip in 1 of 8 reads, not in 1 of 1,024, so that a short run meets flipped bits everywhere.
# - A transfer takes the time of the sent bytes, not of a page.
# - Another column of a page that was read needs no array.
# - The operations of the chip are counted.
change_nandsim() {
    python3 - "$cache/linux/drivers/mtd/nand/raw/nandsim.c" <<'END'
import pathlib, sys

path = pathlib.Path(sys.argv[1])
text = path.read_text()

def change(old, new):
    global text
    if text.count(old) != 1:
        sys.exit(f"error: nandsim of this kernel is another one: expected once, found {text.count(old)} times: {old}")
    text = text.replace(old, new)

change("get_random_u16() < (1 << 6)", "get_random_u16() < (1 << 13)")
change("\t\tNS_UDELAY(access_delay);\n\t\tNS_UDELAY(input_cycle * ns->geom.pgsz / 1000 / busdiv);\n",
       "\t\tif (ns->regs.command != NAND_CMD_RNDOUTSTART) {\n\t\t\tNS_UDELAY(access_delay);\n\t\t\treads++;\n\t\t}\n")
change("\t\tNS_UDELAY(output_cycle * ns->geom.pgsz / 1000 / busdiv);\n", "\t\tNS_NDELAY(output_cycle * num / busdiv);\n\t\tprograms++;\n")
change("\t\tNS_MDELAY(erase_delay);\n", "\t\tNS_MDELAY(erase_delay);\n\t\terases++;\n")
change("\tmemcpy(buf, ns->buf.byte + ns->regs.count, len);\n",
       "\tNS_NDELAY(input_cycle * len / (ns->busw == 8 ? 1 : 2));\n\tmemcpy(buf, ns->buf.byte + ns->regs.count, len);\n")
change("/* Is the nandsim structure initialized ? */\n",
       "#define NS_NDELAY(ns) \\\n        do { if (do_delays) ndelay(ns); } while(0)\n\n/* Is the nandsim structure initialized ? */\n")
change("module_param(do_delays,      uint, 0400);\n",
       "module_param(do_delays,      uint, 0400);\nstatic ulong reads, programs, erases;\n"
       + "".join(f"module_param({name}, ulong, 0400);\n" for name in ("reads", "programs", "erases")))
path.write_text(text)
END
}

# Builds $cache/linux/linux and the packer of initial file systems, if they are missing. It runs in
# a shell of its own, because cargo must not get its exports.
build_kernel() (
    [ -x "$cache/linux/usr/gen_init_cpio" ] && return
    fetch linux-source-6.1 flex bison m4 libfl2 libsigsegv2
    rm -rf "$cache/linux"
    mkdir -p "$cache/linux"
    tar -xf "$cache"/tools/usr/src/linux-source-6.1.tar.xz -C "$cache/linux" --strip-components=1
    # mtdram needs no memory-mapped devices, but its menu requires them.
    sed -i '/depends on HAS_IOMEM/d' "$cache/linux/drivers/mtd/devices/Kconfig"
    # Processors with AMX have 11 KiB of registers. The kernel reserves 2,696 bytes, and the host
    # refuses to set a part. The kernel takes only the bytes that it needs of a larger reserve. The
    # registers are saved on the kernel's stack.
    sed -i 's/HOST_FP_SIZE, 2696/HOST_FP_SIZE, 16384/' "$cache/linux/arch/x86/um/user-offsets.c"
    change_nandsim
    configuration >"$cache/configuration"
    export PATH="$cache/tools/usr/bin:$PATH" M4="$cache/tools/usr/bin/m4" BISON_PKGDATADIR="$cache/tools/usr/share/bison"
    export LD_LIBRARY_PATH="$cache/tools/usr/lib/x86_64-linux-gnu"
    KCONFIG_ALLCONFIG="$cache/configuration" make -C "$cache/linux" ARCH=um allnoconfig >/dev/null
    make -C "$cache/linux" ARCH=um -j"$jobs" linux
    make -C "$cache/linux/usr" -f /dev/null gen_init_cpio
)

# Builds an example of steadyfs-host and the command, statically linked, into $cache.
build_programs() {
    local target=${CARGO_TARGET_DIR:-target}/x86_64-unknown-linux-gnu/release
    export RUSTFLAGS="-C target-feature=+crt-static"
    cargo build --release -p steadyfs-host --example "$1" --target x86_64-unknown-linux-gnu
    cargo build --release -p steadyfs-cli --target x86_64-unknown-linux-gnu
    cp "$target/examples/$1" "$target/steady" "$cache/"
}

# Prints the lines of an initial file system for programs of the host, which it puts in /bin, and
# for their libraries.
programs() {
    local program library
    for program; do
        echo "file /bin/$(basename "$program") $program 0755 0 0"
        # A statically linked program has none.
        { ldd "$program" 2>/dev/null | grep -o '/[^ ]*' || true; } | while read -r library; do
            echo "file /lib/$(basename "$library") $(realpath "$library") 0755 0 0"
        done
    done | sort -u
    echo "file /lib64/ld-linux-x86-64.so.2 $(realpath /lib64/ld-linux-x86-64.so.2) 0755 0 0"
}

# Packs an initial file system. Its lines are the arguments. Its init runs the commands of standard
# input.
pack() {
    {
        echo '#!/bin/busybox sh'
        echo "trap 'busybox poweroff -f' EXIT"
        echo 'set -e'
        echo 'busybox mount -t devtmpfs devices /dev'
        echo 'busybox mount -t proc proc /proc'
        cat
    } >"$cache/init"
    {
        printf 'dir /%s 0755 0 0\n' bin dev sys proc lib lib64 tmp mnt
        echo "nod /dev/console 0600 0 0 c 5 1"
        echo "file /init $cache/init 0755 0 0"
        printf '%s\n' "$@"
    } >"$cache/files"
    "$cache/linux/usr/gen_init_cpio" "$cache/files" >"$cache/initrd"
}

# Boots the packed file system with parameters of nandsim, for at most a number of seconds, and
# prints its output. Fails if the last command was not reached.
boot() {
    local seconds=$1
    shift
    TMPDIR=/dev/shm timeout "$seconds" "$cache/linux/linux" mem=1200M initrd="$cache/initrd" time-travel=inf-cpu loglevel=1 panic=-1 \
        con=null ssl=null con0=null,fd:1 nandsim.do_delays=1 "$@" </dev/null >"$cache/console" 2>&1 || true
    sed -n '/>>> /,/<<< done/p' "$cache/console"
    grep -q '<<< done' "$cache/console" || { echo "failed: see $cache/console" >&2; return 1; }
}

# NAND of 2 KiB pages with 64 spare bytes, 64 MiB, with the durations of usual chips.
large_pages=(nandsim.id_bytes=0x20,0xa2,0x00,0x15 nandsim.access_delay=46 nandsim.programm_delay=200 nandsim.erase_delay=2
    nandsim.input_cycle=40 nandsim.output_cycle=40)
