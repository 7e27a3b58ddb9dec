#!/usr/bin/env python3
"""Makes bench/linux.json and docs/results/linux-peers.md from the results of tools/linux-peers.sh.

    tools/linux-peers.py ROWS       from a directory with a file of JSON lines for each system
    tools/linux-peers.py --check    fail if docs/results/linux-peers.md does not match bench/linux.json
"""
import json, pathlib, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT, PAGE = ROOT / "bench/linux.json", ROOT / "docs/results/linux-peers.md"

TITLES = {
    "raw": "pages programmed in order",
    "steadyfs": "**SteadyFS**",
    "steadyfs-sync": "**SteadyFS**, `-o sync`",
    "steadyfs-lz4": "**SteadyFS**, `-o compress=lz4`",
    "steadyfs-zstd": "**SteadyFS**, `-o compress=zstd`",
    "jffs2": "JFFS2",
    "jffs2-on-ubi": "JFFS2 on UBI",
    "ubifs": "UBIFS",
    "ubifs-sync": "UBIFS, `-o sync`",
    "squashfs-lzo": "squashfs, LZO",
    "squashfs-xz": "squashfs, xz",
    "cramfs": "cramfs",
    "ext4-on-mtdblock": "ext4 on mtdblock",
    "f2fs-on-mtdblock": "F2FS on mtdblock",
    "vfat-on-mtdblock": "vfat on mtdblock",
}

HEAD = """# Beside Linux's own flash file systems

```
tools/linux-peers.sh
```

This script builds a kernel: User-Mode Linux 6.1 of Debian's source, an ordinary process. That takes
some five minutes, once. The kernel gets a simulated NAND of 64 MiB in pages of 2 KiB. The script
repeats the measurements of [the fifth document](documents.md#embedded-linux) with JFFS2, UBI and
UBIFS, squashfs, cramfs, ext4, F2FS and vfat. It also measures SteadyFS, which `steady mount` serves
through FUSE. All use the same `/dev/mtd1`, one after the other, in two minutes.
`tools/linux-peers.py` makes this page and `bench/linux.json` from the output of the script.

## Equal conditions

- The clock runs on flash time alone (`time-travel=inf-cpu`). Processor time costs nothing, also for
  compression and FUSE's copies. A read of the clock costs 256 ns in this kernel, so that loops end.
  SteadyFS reads the clock more often than others: some 3 µs in a write with fsync.
- Linux's nandsim charges a whole page for each transfer, and charges the array again for another
  column of the same page. Here (`tools/uml.sh`) each byte costs its time on the bus, 40 ns. A read
  of a page from the array costs 46 µs, a program 200 µs, an erase 2 ms. Systems that read parts of
  pages pay for these parts.
- JFFS2, UBIFS, squashfs and cramfs compress by default. *Random* content cannot be compressed;
  *text* compresses to some 40 %. `steady mount` compresses on request, in chunks of 16 KiB.
- No system was tuned. All have the defaults of mtd-utils, of mke2fs, mkfs.f2fs, mkfs.fat, of
  `steady format` and `steady mount`.
- ext4, F2FS and vfat lie on mtdblock, which has no wear levelling and no protection against power
  cuts. They show the cost of writing sectors to bare NAND.
- Kernels keep written data in RAM as long as possible (*write-back*), so a copy returns at once.
  Compare the time until the data is on the chip, after the unmount. With `-o sync` each write is
  durable when it returns.
"""


def three(number):
    return f"{number:,.{max(0, 2 - len(str(int(abs(number)))) + 1)}f}" if abs(number) >= 0.995 else f"{number:.3g}"


def time(seconds):
    return "0" if seconds < 1e-6 else f"{three(seconds)} s" if seconds >= 0.995 else f"{three(seconds * 1e3)} ms" if seconds >= 995e-6 else f"{three(seconds * 1e6)} µs"


def count(number):
    return f"{number:,.0f}"


def table(head, rows):
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [head, ["---"] * len(head), *rows]) + "\n"


def case(kept, name, columns):
    """Returns the rows of a case. A system without a row is left out. A system that failed has the
    reason."""
    rows = []
    for system, title in TITLES.items():
        row = kept.get(system, {}).get(name)
        if row is None:
            continue
        cells = [row["failed"], *[""] * (len(columns) - 1)] if "failed" in row else [cell(row) for cell in columns.values()]
        rows.append([title, *cells])
    return table(["", *columns], rows)


def total(row):
    return row["mount"] + row["copy"] + row["unmount"]


def page(kept):
    root = {"mount": lambda row: time(row["mount"]), "reading all of it": lambda row: time(row["load"]),
            "both": lambda row: time(row["mount"] + row["load"]), "page reads": lambda row: count(row["reads"])}
    def copy(name):
        limit = total(kept["raw"][name])
        return {"mount": lambda row: time(row["mount"]), "copy": lambda row: time(row["copy"]), "unmount": lambda row: time(row["unmount"]),
                "all": lambda row: f"{time(total(row))}", "of the pages in order": lambda row: f"{total(row) / limit:.2f} ×",
                "programs / erases": lambda row: f"{count(row['programs'])} / {count(row['erases'])}"}
    random = {"p50": lambda row: time(row["p50"]), "p99": lambda row: time(row["p99"]), "p99.9": lambda row: time(row["p999"]), "longest": lambda row: time(row["max"]),
              "mean": lambda row: time(row["mean"]), "programs a write": lambda row: f"{row['programs'] / row['calls']:.2f}", "erases": lambda row: count(row["erases"])}
    parts = [HEAD]
    parts.append("## A small root file system\n\n300 files, 19.9 MB of *text*: mounted after a clean unmount, and read in full.\nThe time of the mount includes the attach of UBI.\n")
    parts.append(case(kept, "root", root))
    for name, title in [("copy-10mb", "One file of 10 MB"), ("copy-35", "35 files, 5.4 MB")]:
        for suffix, content in [("", "random"), ("-text", "text")]:
            parts.append(f"## {title}, {content}\n\nMounted empty, written, unmounted.\n")
            parts.append(case(kept, name + suffix, copy(name + suffix)))
    for percent in (50, 80):
        parts.append(f"## 4 KiB at random places, each with fsync, {percent} % full\n\nA file of 8 MiB, random content; 4,000 writes after as many warm-up writes that are not measured.\n")
        parts.append(case(kept, f"random-{percent}", random))
    return "\n".join(parts)


def main():
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text() != page(json.loads(KEPT.read_text())):
            sys.exit(f"error: {PAGE.relative_to(ROOT)} is not what {KEPT.relative_to(ROOT)} says; run tools/linux-peers.sh")
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    kept = {}
    for system in TITLES:
        path = pathlib.Path(sys.argv[1], system)
        if not path.exists():
            sys.exit(f"error: {system} was not measured; run tools/linux-peers.sh {system}")
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        kept[system] = {row["case"]: {key: value for key, value in row.items() if key not in ("system", "case")} for row in rows}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    PAGE.write_text(page(kept))


main()
