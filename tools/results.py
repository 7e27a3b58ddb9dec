#!/usr/bin/env python3
"""Measures the figures and tables of five documents again and writes docs/results/documents.md.

    tools/results.py             measure and write docs/results/documents.md: some five minutes
    tools/results.py --check     fail if docs/results/documents.md does not match the commands' output now

The documents' numbers are in this file. Our numbers come from the commands on the page (STEADY names
a built `steady`). The peers are in bench/results (docs/results/contenders.md).
"""
import json, os, pathlib, re, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/results/documents.md"
NAND, CARDS = "mt29f1g01abafd", ("sd-industrial", "sd-consumer")
CODECS = ("LZ4", "LZO", "deflate", "Zstandard", "XZ", "SHA-256", "CRC-32")


def steady(line):
    """Returns the JSON of a command."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "run.json")
        binary = os.environ.get("STEADY")
        command = [*([binary] if binary else ["cargo", "run", "--quiet", "--release", "--"]), *line.split(), "--json", path]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())


def peer(name):
    """Returns the kept rows of a peer on NOR of 1 MiB."""
    path = ROOT / f"bench/results/{name}.json"
    boards = json.loads(path.read_text())["entry"]["standings"]
    return {row["case"]: row for row in next(board for board in boards if board["board"] == "nor")["outcomes"]}


def three(number):
    """Formats a number with three significant digits."""
    return f"{number:,.{max(0, 2 - len(str(int(abs(number)))) + 1)}f}" if abs(number) >= 0.995 else f"{number:.3g}"


def ms(us):
    return f"{three(us / 1e6)} s" if us >= 1e6 else f"{three(us / 1e3)} ms" if us >= 995 else f"{three(us)} µs"


def size(count):
    return "no buffer suffices" if count is None else f"{three(count / 1024)} KiB" if count >= 1024 else f"{count} B"


def rate(bytes_per_s):
    return f"{three(bytes_per_s / 1e6)} MB/s" if bytes_per_s >= 1e6 else f"{three(bytes_per_s / 1e3)} kB/s"


def table(head, rows):
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [head, ["---"] * len(head), *rows]) + "\n"


def real_time():
    cards = {str(row["medium"]): row for row in steady("realtime")["rows"]}
    card = {name: cards[str({"device": name})] for name in CARDS}
    on_card = cards[str({"steady_fs": CARDS[0]})]
    buffer = lambda row, at: next(point["buffer_bytes"] for point in row["backlog"] if point["rate"] == at)
    runs = [steady(f"evaluate --fill {fill}") for fill in ("50%", "80%")]
    longest = steady("evaluate --timing maximum")
    seen = lambda at: " · ".join(size(next(p["bytes"] for p in run["backlog"] if p["rate"] == at)) for run in runs)
    sure = lambda at: " · ".join(size(next(p["guaranteed_bytes"] for p in run["backlog"] if p["rate"] == at)) for run in runs)
    times = buffer(card[CARDS[1]], 100_000) / buffer(card[CARDS[0]], 100_000)
    return f"""## Buffers under a fixed rate

The text is *Evaluating Embedded File System RAM Usage Under Real-Time Constraints* (Tuxera). The
commands are `steady realtime`, and `steady evaluate` at 50 and 80 % and with `--timing maximum`.
The cards are models, fitted to the article's own numbers ([cards](cards.md)). So the upper rows
show that the models are right, and the lower rows show the effect of SteadyFS.

{table(["", "the article", "measured"], [
    ["Swissbit, 4 KiB random writes: mean rate", "1.5 MB/s", rate(4096e6 / card[CARDS[0]]["mean_us"])],
    ["– buffer at 100 kB/s (figure 4)", "some 10 KB", size(buffer(card[CARDS[0]], 100_000))],
    ["– buffer at 500 kB/s (figure 5)", "some 1 MB", size(buffer(card[CARDS[0]], 500_000))],
    ["SanDisk Ultra, buffer at 100 kB/s (figure 6)", "60 times the Swissbit's", f"{size(buffer(card[CARDS[1]], 100_000))}, {three(times)} times"],
    ["Swissbit with SteadyFS on it, 80 % full, each write durable: 100, 500 kB/s", "–", f"{size(buffer(on_card, 100_000))}, {size(buffer(on_card, 500_000))}"],
])}
{table(["4 KiB random writes, each durable, MT29F1G01", "TSFS, the article", "SteadyFS, seen at 50 · 80 % full", "enough by the bound"], [
    ["500 kB/s (figure 7)", "no buffer", seen(500_000), sure(500_000)],
    ["1 MB/s (figure 8)", "< 1 KiB", seen(1_000_000), sure(1_000_000)],
    ["2 MB/s (figure 9)", "< 10 KiB", seen(2_000_000), sure(2_000_000)],
    ["longest access", "figure alone", " · ".join(ms(run["max_us"]) for run in runs), " · ".join(ms(run["bound_us"]) for run in runs)],
    ["the same with the datasheet's longest times, 80 %", "the longest erase, 10 ms, decides", ms(longest["max_us"]), ms(longest["bound_us"])],
])}
Mistakes in the text:

- Equation 2 has min, but only max makes sense: with min no backlog could ever be above 0.
- The "input period" ω⁻¹ is the period of a byte. The period of an access is S/ω.
- B is the backlog behind an access. Within an access up to S bytes more are waiting (`evaluate`
  reports both).
- Figures 4 and 5 have KB/s above and KiB/s below.

The article does not state if its NAND is filled, and by how much. So there are two columns.
"""


def spiffs():
    ours = {row["case"]: row for row in steady("bench --device w25q128jv --size 1MiB")["rows"]}
    kept = {pages: steady(f"bench --device w25q128jv --size 1MiB --case web-server --read-cache {pages}")["rows"][0] for pages in (8, 32)}
    theirs = peer("spiffs")
    footprint = (ROOT / "docs/results/footprint.md").read_text()
    of = lambda name: re.search(rf"\| {re.escape(name)} \| ([\d,]+)", footprint)[1]
    web = lambda row: f"{row['reads']:,} reads, {row['read_bytes'] / 1e6:.1f} MB"
    speed = lambda row: rate(row["bytes_per_s"]) if row.get("bytes_per_s") else f"– ({row.get('skipped') or row.get('failed')})"
    chunks = [[f"read 512 KiB by {size} B", told, speed(theirs[f"read-{size}"]), speed(ours[f"read-{size}"])] for size, told in
              ((1, "27.1 kB/s"), (16, "295 kB/s"), (64, "584 kB/s"), (256, "788 kB/s"))]
    return f"""## SPIFFS

The text is *Performance and Optimizing*, the wiki of SPIFFS. Its times are of a Cortex-M3 at 72 MHz
with a M25P16, and include bus, processor and operating system. Reads are 36 µs of processor time a
call and hardly any flash time. So the third column is SPIFFS's own code on the same chip as
SteadyFS, the first MiB of a W25Q128JV: flash time alone. The command is
`steady bench --device w25q128jv --size 1MiB`, beside the kept results of [SPIFFS](contenders.md).
Feature by feature: [from SPIFFS](../guide/from-spiffs.md).

{table(["", "the page, processor included", "SPIFFS, flash time", "SteadyFS, flash time"], [
    ["web server, 20,000 opens: all reads", "276,361 reads, 63.4 MB (1,595,258 and 389.4 without its cache)", web(theirs["web-server"]), web(ours["web-server"])],
    ["– with a cache of 8 · 32 pages of 256 B (2.1 · 8.6 KB)", "", "", " · ".join(web(row) for row in kept.values())],
    ["100,000 B by 256 B, formatted", "6.33 kB/s", f"{speed(theirs['small-formatted'])}, its format erases", f"{speed(ours['small-formatted'])}; {speed(ours['small-prepared'])} erased ahead"],
    ["the same, 80 % full", "1.38 kB/s", speed(theirs["small-80"]), speed(ours["small-80"])],
    ["– longest write", "figure alone", ms(theirs["small-80"]["max_us"]) if theirs["small-80"].get("max_us") else "–", ms(ours["small-80"]["max_us"])],
    *chunks,
    ["stack: mount, read, write", "376, 552, 576 to 960 B", "", ", ".join(of(f"Stack, `{call}`") for call in ("mount", "read", "write")) + " B"],
    ["code: reading; everything", "5.0 to 9.1; 20.9 to 28.0 KB", "", f"{of('Code, NAND, reading only')}; {of('Code, NOR')} B"],
])}
Mistake in the text: the hit rates of its pages add up to 90 %, because a row is missing. An eighth
page of 10 % gives the text's own numbers. SPIFFS takes less code, stack and RAM, and reads a little
faster. Its format erases the chip, as `format --erase` does.
"""


def streams():
    findings = steady("streams --study")["findings"]
    rows = [[row["part"], row["what"], row["paper"], row["plain"], row["steadyfs"]] for row in findings if row["paper"] not in ("–", "figure alone")]
    return f"""## Streams

The text is by S. Vishwakarma, A. Sharma, S. K. Kodase: *Enhancing eMMC using Multi-Stream
technique*. The command is `steady streams` with `--study`. [Streams](streams.md) describes the
scale and the reasons for the differences, and has all rows.

{table(["", "", "the paper", "a plain translation layer", "SteadyFS"], rows)}
Mistakes in the text:

- 400 Mbps of eMMC are 400 MB/s.
- Byte 133 of EXT_CSD is not reserved in eMMC 5.1 (it is PRODUCTION_STATE_AWARENESS).
- "2X, 101X & 709X" is nowhere explained. Here it is read as sizes, and as rates, of three regions.
"""


def transactions():
    devices = {device["device"]: device for device in steady("transactions")["devices"]}
    told = {"on close": "1, 6, 0, 956 ms", "timed, 1 s": "1, 3, 0, 0 ms", "on flush": "0, 4, 955, 1 ms"}
    calls = lambda row: ", ".join(ms(us) if us else "0" for us in row["us"][:4])
    row_of = lambda device, mask: next(row for row in devices[device]["rows"] if row["commit_on"] == mask)
    fat = {row["system"]: calls(row) for row in devices["ssd-sata"]["rows"]}
    masks = [[mask, told.get(mask, "–"), *(calls(row_of(device, mask)) for device in ("ssd-sata", "sd-industrial", NAND))] for mask in
             ("on close", "timed, 1 s", "on flush", "each write")]
    copies = [[copy["system"], device, f"{copy['whole']:,}", copy["short"], copy["wrong"], copy["missing"]] for device in ("ssd-sata", "sd-industrial") for copy in devices[device]["copies"]]
    return f"""## Who pays for a transaction

The text is by Datalight: *Myth Busting: SSDs are Faster than SDs – or Are They?* The command is
`steady transactions`. The columns have create, write, flush and close of a file of 4 KiB, in the
note's order. A flush of the modelled SSD takes as long as a flush of the note's SSD.

{table(["commit", "the note: Reliance Nitro on an SSD", "SteadyFS on an SSD", "on an SD card", "on raw NAND"], masks)}
FAT on that SSD:

- flushed after each call, as TexFAT does: {fat['FAT as TexFAT']}
- never flushed, as exFAT: {fat['FAT as exFAT']}

A file is copied, the copy is finished, and power fails. The note found some copies that were
shorter, and some with wrong bytes.

{table(["", "on", "whole", "shorter", "wrong bytes", "missing"], copies)}
Mistake in the text: "SD has no internal cache" is not true for cards of class A2 (SD 6.0).
`--device` takes a card with a cache.
"""


def linux():
    rows = {row["case"]: row for row in steady(f"bench --device {NAND} --case mount-clean,mount-cut,copy-10mb,copy-35")["rows"]}
    s = lambda case: ms(rows[case]["mean_us"])
    return f"""## Embedded Linux

The text is by A. L. Sharif: *A Comparative Analysis Between Embedded Linux Flash File Systems*. Its
times are of an S3C2440 at 400 MHz with 64 MB of NAND, and include processor, kernel and
compression. Our times are flash time on an MT29F1G01 of 128 MiB. So compare shares, not seconds.
The command is `steady bench`, cases `mount-clean`, `mount-cut`, `copy-10mb` and `copy-35`.

{table(["", "JFFS2", "UBIFS", "UBIFS, sync", "SteadyFS, each file durable when closed"], [
    ["mount", "5.96 s", "98 ms", "147 ms", f"{s('mount-clean')}; after a power cut {s('mount-cut')}"],
    ["10 MB in one file: mount, copy, unmount", "34.3 s", "26.6 s", "29.3 s", s("copy-10mb")],
    ["35 files, 5.4 MB: the same", "22.8 s", "19.2 s", "19.3 s", s("copy-35")],
    ["of these, when the copy returned", "16.9 s", "6.7 s, nothing durable", "18.9 s", "all of it, and durable"],
])}
[Beside Linux's own](linux-peers.md) has these tables in one kernel, with all systems on one
simulated chip. Compressed files and images: [compression](compression.md).

Mistakes in the text: bits flip more often in NAND than in NOR, and NOR bears 100,000 erases today.
"""


def boot():
    """Makes the table of boot times, and the write table with compression."""
    run = steady("boot")
    large = steady("boot --device k9f1208u0 --block 64KiB")["devices"][0]
    board, qspi = run["devices"]
    decode = lambda device: ", ".join(f"{name} {cycles:g}" for name, cycles in zip(CODECS, device["processor"]["cycles"]))
    loaded = lambda device: table(
        ["", "mount", "load: flash", "decode", "all", "MB stored", "pages read", "RAM lent"],
        [[f"**{row['system']}**" if row["system"].startswith("SteadyFS") else f"{row['system']}, {row['block_bytes'] // 1024} KiB",
          ms(row["mount_us"]), ms(row["load_us"]), ms(row["decode_us"]), ms(row["total_us"]), f"{row['stored_bytes'] / 1e6:.1f}", f"{row['page_reads']:,}",
          size(row["ram_bytes"])] for row in device["rows"]])
    copied = lambda device: [[f"**{row['system']}**", *(ms(row[key]) for key in ("mount_us", "copy_us", "unmount_us", "total_us")), f"{row['programs']:,} / {row['erases']:,}"] for row in device["copies"]]
    reads = lambda device: [[row["system"], f"{row['block_bytes'] // 1024} KiB" if row["block_bytes"] else "–", f"{row['pages_per_kib']:.2f}", f"{row['bytes_per_byte']:.2f}", ms(row["read_us"]), ms(row["decode_us"])] for row in device["random"]]
    return f"""## Boot

These are the fifth document's table of boot times, and its write table with compression. The
command is `steady boot`. Its content is {run["files"]:,} made-up files of {run["file_bytes"] / 1e6:.1f} MB, and 1,000 links. It is
mounted and read in full, in the order of a start. Each chip has {run["bad_blocks"]} bad blocks.

Mount and load are flash time; *decode* is decompression, SHA-256 and SteadyFS's checksums: counted
bytes times cycles. The cycles are **estimates (U)** from other processors. Their sources are in
[`cycles.rs`](../../crates/steadyfs-lab/src/boot/cycles.rs); `--cycles` sets others. Other processor
time is in none of our figures, and in all figures of the document.

The first chip is `{board["device"]}`, the document's sort of chip, with an ARM920T at 400 MHz.
Cycles a byte:
{decode(board)}.

{loaded(board)}
| elsewhere | the document's board: mount | load | all | Linux guest, flash time: mount |
| --- | --- | --- | --- | --- |
| JFFS2 | 5.96 s | 8.54 s | 14.5 s | 1.52 s |
| JFFS2 on UBI | 4.74 s | 8.76 s | 13.5 s | 906 ms |
| UBIFS | 98.3 ms | 7.23 s | 7.33 s | 194 ms, UBI's attach with it |
| cramfs | 19.7 ms | 8.35 s | 8.37 s | 2.8 ms |
| squashfs, LZO | 20.0 ms | 8.09 s | 8.11 s | 1.0 ms |
| squashfs, XZ | 22.4 ms | 9.75 s | 9.77 s | 0.9 ms |

Compare the rows of the first table with each other:

- The document has another root file system, and its seconds include kernel and processor. XZ takes
  1.7 s more than LZO there. By these cycles this is at most 2 MB of content.
- UBIFS has not loaded this tree on this chip. On pages of 2 KiB it read
  [19.9 MB of text in 0.9 s](linux-peers.md), compressed, decompression not counted. A mounted
  SteadyFS with `compress=lz4` took 0.7 s for the same text.
- SteadyFS's readers read squashfs and cramfs, and keep one block of data, and names and inodes as
  Linux does. SteadyFS's images are looked up name by name. All have 16 KiB for pages that are read
  again.
- As a volume, SteadyFS takes blocks of 16 KiB on such a chip only if {board['joined_blocks']} are joined to one. The
  lab does this, and no driver of this repository.

| {run["copy_bytes"] / 1e6:g} MB of text | mount | copy | unmount | all | programs / erases |
| --- | --- | --- | --- | --- | --- |
{rows_of(copied(board))}
{rows_of([[f"{row[0]}, chunks of 64 KiB", *row[1:]] for row in copied(large)[1:]])}
| JFFS2, Linux guest | 1.51 s | 3.87 s | 0 | 5.38 s | 11,210 / 0 |
| UBIFS, Linux guest | 11 ms | 1 ms | 3.06 s | 3.07 s | 12,977 / 29 |

This is flash time, on erased chips. Four logical pages of SteadyFS are written back. The guest has
another text: JFFS2 programmed 0.57 of it and UBIFS 0.66, with their metadata. Deflate leaves 0.34
of our text in chunks of 16 KiB. Writing chunks of 64 KiB takes 216 KiB of RAM, and chunks of 16 KiB
take 120 KiB.

| 4 KiB at random places of files above 100 KB | block | pages for each KiB | bytes for each byte | flash | decode |
| --- | --- | --- | --- | --- | --- |
{rows_of(reads(board))}

The second chip is `{qspi["device"]}` on a QSPI bus, with a Cortex-M7 at 480 MHz. Cycles a byte:
{decode(qspi)}.

{loaded(qspi)}
| {run["copy_bytes"] / 1e6:g} MB of text | mount | copy | unmount | all | programs / erases |
| --- | --- | --- | --- | --- | --- |
{rows_of(copied(qspi))}

| 4 KiB at random places of files above 100 KB | block | pages for each KiB | bytes for each byte | flash | decode |
| --- | --- | --- | --- | --- | --- |
{rows_of(reads(qspi))}
"""


def rows_of(rows):
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def page():
    parts = [real_time(), spiffs(), streams(), transactions(), linux(), boot()]
    return """# Five documents, measured again

SteadyFS began with five texts. This page has their figures and tables beside the results of this
repository's commands, and lists the mistakes that we see in the texts. `tools/results.py` makes
this page. Seeds are 1, and times are of simulated flash. Peers on the same chips:
[side by side](side-by-side.md).

""" + "\n".join(parts)


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    text = page()
    if sys.argv[1:]:
        sys.exit(0 if PAGE.read_text() == text else f"error: {PAGE} is not what the commands give: tools/results.py")
    PAGE.write_text(text)
