#!/usr/bin/env python3
"""Keeps counted instructions in crates/steadyfs-compare/assets/processor.json, and makes docs/results/processor.md from them.

    tools/peers/processor.py --keep NAME COUNTS COMPILER   keep the output of a firmware
    tools/peers/processor.py --page                        write the page
    tools/peers/processor.py --check                       fail if the page does not match

tools/peers/processor.sh calls this. Flash times are those of bench/results.
"""
import json, pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT, PAGE = ROOT / "crates/steadyfs-compare/assets/processor.json", ROOT / "docs/results/processor.md"
NAMES = {"steadyfs": "SteadyFS", "littlefs": "littlefs", "spiffs": "SPIFFS", "fatfs-on-dhara": "FatFs on Dhara"}
BOARDS = {"128 MiB NAND": "nand", "1 MiB NOR": "nor", "16 MiB NOR": "nor-16"}
# The case of `steady compare` in which a call is measured alike.
CASES = {
    "stream, 512 B": "seq-512",
    "stream, 4 KiB": "seq-4096",
    "overwrite, 4 KiB, durable": "random-4096",
    "append, 64 B, durable": "append-64",
    "replace by truncation, 200 B": "replace-truncate",
    "replace by rename, 200 B": "replace-rename",
    "replace in place, 200 B": "replace-in-place",
    "create, 100 B, durable": "create",
    "open": "open",
    "remove": "remove",
    "read in order, 256 B": "read-256",
    "mount, clean, small files": "mount-clean",
}
# The processor of the page.
CPU, CLOCK_HZ, CYCLES = "cortex-m3@72MHz", 72e6, 1.3

HEAD = """\
# Processor time beside peers

`tools/peers/processor.sh` counts the instructions and writes this page.
`tools/peers/processor.sh --page` writes it again from the kept counts.

All file systems make the same rounds of calls in one firmware on a Cortex-M3 in QEMU
([footprint](footprint.md#instructions)). [contenders](contenders.md#processor-time) has the method
and its limits. A file system's own instructions count, without the driver, the chip and the
allocator.

{versions}
## Who is first

The table counts the calls for which both times are known. SteadyFS is first in a row if its mean
time is the shortest of all file systems there. Total time is flash time and processor time, on a
Cortex-M3 at 72 MHz that takes 1.3 cycles for an instruction. `steady compare` has the same times
with `--cpu {cpu}`.

{summary}
Another file system is first by total time in these rows:

{losses}"""

BOARD = """
## {title}

### Instructions: mean (longest)

{counts}
### Mean time in ms: flash + processor = total

{times}"""


def read(path):
    return json.loads(path.read_text())


def entry(name):
    return read(ROOT / f"bench/results/{name}.json")["entry"]


def flash_ms(name):
    """Returns the mean flash times of a contender, by board and case."""
    return {
        (standing["board"], row["case"]): row["mean_us"] / 1e3
        for standing in entry(name)["standings"]
        for row in standing["outcomes"]
        if "mean_us" in row and not row.get("failed")
    }


def keep(name, counts, compiler):
    kept = read(KEPT) if KEPT.exists() else {"cases": {}, "contenders": {}}
    boards = {}
    for line in pathlib.Path(counts).read_text().splitlines():
        if not re.fullmatch(r"[^|]+\|[^|]+(\|\d+){6}", line):
            sys.exit(f"error: the firmware printed: {line}")
        medium, call, calls, mean, longest, _, _, refused = line.split("|")
        boards.setdefault(BOARDS[medium], {})[call] = {
            "calls": int(calls), "mean": int(mean), "longest": int(longest), "refused": int(refused)
        }
    calls = {tuple(rows) for rows in boards.values()}
    if len(calls) != 1 or not set(CASES) <= set(calls.pop()):
        sys.exit("error: the firmware did not come to its end")
    kept["cases"] = {case: call for call, case in CASES.items()}
    kept["contenders"][name] = {"compiler": compiler, "counts": boards}
    kept["contenders"] = {known: kept["contenders"][known] for known in NAMES if known in kept["contenders"]}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def three(number):
    """Formats a number with three significant digits."""
    digits = max(0, 2 - len(str(int(number))) + 1) if number >= 1 else 3
    return f"{number:,.{digits}f}"


def count_text(row):
    if row is None:
        return "–"
    if row["calls"] == 0:
        return f"refused ({row['refused']} of {row['refused']})"
    refused = f"; {row['refused']} of {row['calls'] + row['refused']} refused" if row["refused"] else ""
    return f"{row['mean']:,} ({row['longest']:,}){refused}"


def processor_ms(row):
    return row["mean"] * CYCLES / CLOCK_HZ * 1e3


def listed(names):
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def page():
    kept = read(KEPT)["contenders"]
    flash = {name: flash_ms(name) for name in kept}
    summary, losses, boards = [], [], []
    for medium, board in BOARDS.items():
        there = [name for name in kept if board in kept[name]["counts"]]
        names = [NAMES[name] for name in there]
        counts, times, known, by_flash, by_total = [], [], 0, 0, 0
        for call in kept["steadyfs"]["counts"][board]:
            rows = {name: kept[name]["counts"][board].get(call) for name in there}
            counts.append([call, *(count_text(rows[name]) for name in there)])
            case = CASES.get(call)
            both = {
                name: (flash[name][board, case], processor_ms(row))
                for name, row in rows.items()
                if case and row and row["calls"] and (board, case) in flash[name]
            }
            if "steadyfs" not in both or len(both) < 2:
                continue
            known += 1
            first = min(both, key=lambda name: both[name][0])
            first_total = min(both, key=lambda name: sum(both[name]))
            by_flash += first == "steadyfs"
            by_total += first_total == "steadyfs"
            text = lambda name: "–" if name not in both else f"{three(both[name][0])} + {three(both[name][1])} = {three(sum(both[name]))}"
            times.append([f"{call} (`{case}`)", *(text(name) for name in there), NAMES[first], NAMES[first_total]])
            if first_total != "steadyfs":
                total = lambda name: f"{three(sum(both[name]))} ms"
                losses.append([f"{medium}: {call}", NAMES[first_total], total(first_total), total("steadyfs"), NAMES[first]])
        summary.append([medium, listed(names[1:]), str(known), str(by_flash), str(by_total)])
        boards.append(BOARD.format(
            title=medium,
            counts=table(["call", *names], counts),
            times=table(["call (case)", *names, "first by flash", "first by total"], times),
        ))
    versions = table(
        ["", "version", "compiler and options"],
        [[NAMES[name], entry(name)["facts"]["version"], kept[name]["compiler"]] for name in kept],
    )
    losses = table(["", "first by total time", "its total", "SteadyFS's total", "first by flash time"], losses)
    rows = table(["", "beside", "rows", "SteadyFS first by flash time", "SteadyFS first by total time"], summary)
    return HEAD.format(versions=versions, cpu=CPU, summary=rows, losses=losses) + "".join(boards)


def main():
    match sys.argv[1:]:
        case ["--keep", name, counts, compiler]:
            keep(name, counts, compiler)
        case ["--page"]:
            PAGE.write_text(page())
        case ["--check"]:
            if PAGE.read_text() != page():
                sys.exit("error: docs/results/processor.md does not match crates/steadyfs-compare/assets/processor.json and bench/results; tools/peers/processor.sh --page")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
