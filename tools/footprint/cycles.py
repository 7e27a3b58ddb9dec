"""Reads the output of the firmware `cycles`. Makes the section "Instructions" of
docs/results/footprint.md from it, or compares both."""

import re
import sys

TOLERANCE = 0.02
# Number of calls of each medium.
CALLS = 19
# A row of a table: the call, four numbers, and two numbers or dashes.
ROW = re.compile(r"\| ([^|]+?) \|" + r" ([\d,]+) \|" * 4 + r"( [\d,–]+ \|){2}")

SECTION = """\
## Instructions

The tables have the instructions of a call on an aged volume, four fifths full: mean and longest
seen. A volume has one large file, which was overwritten at random until reclamation was in its
steady state, and a directory of small files: 500, or 100 on 1 MiB. The calls are made in turn, so
that each call finds the traces of all others. There are three variants of the checksum:

- the table of 1 KiB, which is the default
- "small": the table of 64 bytes (without the feature `fast-checksum`: {code} bytes less code)
- "own": a checksum unit of the chip (`Flash::checksum`), which takes no instructions. On NOR it is
  not measured, because the chip is behind the layer that makes NOR look like NAND

A processor of 72 MHz that takes 1.3 cycles for an instruction makes 55,000 of them in a
millisecond.
{media}"""

MEDIUM = """
### {medium}

| call | mean | longest | small: mean | longest | own: mean | longest |
|---|---:|---:|---:|---:|---:|---:|
{rows}
"""


def measure(path):
    """Returns, by medium and call, mean and longest with checksums, and without them."""
    rows = {}
    for line in path.read_text().splitlines():
        if not re.fullmatch(r"[^|]+\|[^|]+(\|\d+){6}", line):
            sys.exit(f"error: the firmware printed: {line}")
        medium, call, _calls, *numbers = line.split("|")
        if call.startswith("stream"):
            continue  # for tools/peers/processor.py
        rows[medium, call] = [int(number) for number in numbers[:4]]
    if len(rows) != 3 * CALLS:
        sys.exit(f"error: the firmware did not come to its end: {len(rows)} rows")
    return rows


def section(default, small, code):
    media = []
    for medium in dict.fromkeys(medium for medium, _ in default):
        lines = []
        for (one, call), (mean, longest, own_mean, own_longest) in default.items():
            if one == medium:
                own = (own_mean, own_longest) if "NAND" in medium else ("–", "–")
                numbers = (mean, longest, *small[medium, call][:2], *own)
                cells = (f"{number:,}" if isinstance(number, int) else number for number in numbers)
                lines.append(f"| {call} | " + " | ".join(cells) + " |")
        media.append(MEDIUM.format(medium=medium, rows="\n".join(lines)))
    return SECTION.format(media="".join(media), code=f"{code:,}")


def differences(text, rows):
    """Returns the differences between the document and the measurement."""
    written, medium = {}, ""
    for line in text.splitlines():
        if heading := re.fullmatch(r"### (.*)", line):
            medium = heading[1]
        elif row := ROW.fullmatch(line):
            written[medium, row[1]] = [int(number.replace(",", "")) for number in (row[2], row[3])]
    return [
        f"{medium}, {call}: {numbers[:2]} instructions, "
        f"docs/results/footprint.md has {written.get((medium, call), 'nothing')}"
        for (medium, call), numbers in rows.items()
        if (medium, call) not in written
        or any(abs(new - old) > TOLERANCE * old for new, old in zip(numbers, written[medium, call]))
    ] + [
        f"{medium}, {call}: in docs/results/footprint.md and not measured"
        for medium, call in written
        if (medium, call) not in rows
    ]
