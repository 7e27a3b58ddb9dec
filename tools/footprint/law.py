"""Reads the output of the firmware `law`. Makes the section "Bounds with the processor" of
docs/results/footprint.md from it, or compares both."""

import re
import sys

TOLERANCE = 0.02
# A row of a table: the kind and six numbers.
ROW = re.compile(r"\| ([^|]+?) \| [\d,]+ \| ([\d,]+) \| (\d+) % \| [\d.]+ \| ([\d.]+) \| [\d.]+ \|")

SECTION = """\
## Bounds with the processor

[`Timing::with_processor`](../../crates/steadyfs/src/processor.rs) adds the time of the processor to
all bounds. It has a limit for the instructions of each kind of call and of each operation. These
limits are measured: `tools/footprint/src/law` makes {calls:,} random calls on four aged volumes and
a disk, and compares each call with its bound. The volumes commit after each kind of event. The
calls change small files, long names, attributes and a large file, in three levels of directories.
No call exceeded its operations, its instructions or its time.

- "Share" is the largest share of the instructions that the operations of a call permit. For mount,
  rollback and unmount it is the largest share of the bound.
- Times are in ms: flash and processor together, on a Cortex-M3 of 72 MHz that takes 1.3 cycles for
  an instruction. "Bound" is the largest bound of a call of this kind, and belongs to another call
  than "longest".
{media}"""

MEDIUM = """
### {medium}, random calls

| call | calls | longest, instructions | share | longest, ms | bound, ms | bound ÷ longest |
|---|---:|---:|---:|---:|---:|---:|
{rows}
"""


def measure(path):
    """Returns the numbers by medium and kind. It is an error if a call is above its bound."""
    rows = {}
    *lines, end = path.read_text().splitlines()
    if end != "end":
        sys.exit(f"error: the firmware did not come to its end: {len(lines)} rows, then {end}")
    for line in lines:
        if not re.fullmatch(r"[^|]+\|[^|]+(\|\d+){7}", line):
            sys.exit(f"error: the firmware printed: {line}")
        medium, kind, *numbers = line.split("|")
        *rows[medium, kind], above = map(int, numbers)
        if above:
            sys.exit(f"error: {medium}, {kind}: {above} calls are above their bounds: {line}")
    return rows


def section(rows):
    media = []
    for medium in dict.fromkeys(medium for medium, _ in rows):
        lines = []
        for (one, kind), (calls, _, longest, share, longest_us, bound_us) in rows.items():
            if one == medium:
                times = f"{longest_us / 1000:.1f} | {bound_us / 1000:.1f}"
                ratio = bound_us / longest_us
                lines.append(
                    f"| {kind} | {calls:,} | {longest:,} | {share // 10} % | {times} | {ratio:.1f} |"
                )
        media.append(MEDIUM.format(medium=medium, rows="\n".join(lines)))
    return SECTION.format(media="".join(media), calls=sum(row[0] for row in rows.values()))


def differences(text, rows):
    """Returns the differences between the document and the measurement."""
    written, medium = {}, ""
    for line in text.splitlines():
        if heading := re.fullmatch(r"### (.*), random calls", line):
            medium = heading[1]
        elif row := ROW.fullmatch(line):
            written[medium, row[1]] = (int(row[2].replace(",", "")), float(row[4]))

    def is_near(new, old):
        return abs(new - old) <= TOLERANCE * old + 0.05

    found = []
    for (medium, kind), (_, _, longest, _, _, bound_us) in rows.items():
        old = written.pop((medium, kind), (0, 0))
        new = (longest, bound_us / 1000)
        if not all(is_near(*pair) for pair in zip(new, old)):
            found.append(f"{medium}, {kind}: {new}, docs/results/footprint.md has {old}")
    return found + [
        f"{medium}, {kind}: in docs/results/footprint.md and not measured"
        for medium, kind in written
    ]
