#!/usr/bin/env python3
"""Measures the tables of bounds in docs/results/bench.md again: `steady adversary` on three chips.

    tools/nearness.py            measures and writes the tables: about a minute
    tools/nearness.py --check    fails if a table does not match the command's output now

STEADY names a built `steady`.
"""
import json, os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/results/bench.md"
HEAD = "| 80 % full, 200,000 calls, longest found / largest bound |"
PARTS_HEAD = "| parts of the largest bound, from a fifth of it on |"
PARTS = {
    "call_ns": "call", "earlier_ns": "earlier", "reclamation_ns": "reclamation", "root_ns": "root", "erase_ns": "erase",
}
CHIPS = {
    "1 MiB, 4 KiB": "--device w25q128jv --size 1MiB",
    "16 MiB, 64 KiB": "--device w25q128jv",
    "NAND, 128 MiB": "",
}
KINDS = {
    "open": "`open`", "read": "`read`, a logical page", "overwrite": "`overwrite`, a logical page",
    "write-4096": "`write-4096`, durable", "buffered-4096": "`buffered-4096`, waits for a sync",
    "append-64": "`append-64`, durable", "patch": "`patch`", "create": "`create`", "truncate": "`truncate`",
    "rename": "`rename` over a file", "remove": "`remove`", "set-attribute": "`set-attribute`", "sync": "`sync`",
    "unmount": "`unmount`, with its commit", "mount-clean": "`mount-clean`", "mount-cut": "`mount-cut`",
}


def search(options):
    """Returns the kinds of a search, by their names."""
    binary = os.environ.get("STEADY")
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "found.json")
        command = [*([binary] if binary else ["cargo", "run", "--quiet", "--release", "--"]), "adversary"]
        subprocess.run([*command, *options.split(), "--json", path], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        return {row["kind"]: row for row in json.loads(path.read_text())["rows"]}


def time(ns):
    """Formats a time with two or three digits."""
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= unit:
            number = ns / unit
            return f"{number:.3g} {name}" if number < 999.5 else f"{number:.0f} {name}"
    return f"{ns} ns"


def parts(row):
    """Returns the large parts of a bound, the largest first."""
    each = row["parts"]
    total = sum(each.values())
    large = sorted((-ns, name) for name, ns in each.items() if 5 * ns >= total)
    return ", ".join(f"{PARTS[name]} {-100 * ns / total:.0f} %" for ns, name in large)


def parts_table(found):
    rows = [f"{PARTS_HEAD} {' | '.join(CHIPS)} |", "|---|" + "---|" * len(CHIPS)]
    for kind, name in KINDS.items():
        if all("parts" in chip[kind] for chip in found):
            rows.append(f"| {name} | {' | '.join(parts(chip[kind]) for chip in found)} |")
    return rows


def table(found):
    rows = [f"{HEAD} {' | '.join(CHIPS)} |", "|---|" + "---|" * len(CHIPS)]
    for kind, name in KINDS.items():
        cells = [f"{time(chip[kind]['longest_ns'])} / {time(chip[kind]['bound_ns'])}" for chip in found]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return rows


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    lines = PAGE.read_text().splitlines()
    found = [search(options) for options in CHIPS.values()]
    is_stale = False
    for head, made in ((HEAD, table(found)), (PARTS_HEAD, parts_table(found))):
        start = next(index for index, line in enumerate(lines) if line.startswith(head))
        end = next(index for index in range(start, len(lines)) if not lines[index].startswith("|"))
        if lines[start:end] != made:
            is_stale = True
            print("\n".join(made))
        lines[start:end] = made
    if "--check" not in sys.argv:
        PAGE.write_text("\n".join(lines) + "\n")
    elif is_stale:
        sys.exit("error: docs/results/bench.md is stale: run tools/nearness.py")


if __name__ == "__main__":
    main()
