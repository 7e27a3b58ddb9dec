"""Reads the output of the firmware `cycles`. Makes the section "Instructions" of
docs/results/footprint.md from it, or compares both."""

import re
import sys

# Targets for the mean instructions of a call, with the table for checksums, and with the chip's own
# checksum unit.
TARGET_CALL, TARGETS = "durable overwrite, 4 KiB", {"the table": 90_000, "the chip's own checksum": 25_000}
# Targets that are not reached yet. They are printed, and do not fail.
OPEN = set()
TOLERANCE = 0.02

SECTION = """\
## Instructions

The table has the instructions of a call on 128 MiB of NAND, four fifths of it in use: mean and
longest seen. It has three variants of the checksum:

- the table of 64 bytes
- "fast": the table of 1 KiB (feature `fast-checksum`: {code} bytes more code)
- "own": a checksum unit of the chip (`Flash::checksum`), which takes no instructions

| call | mean | longest | fast: mean | longest | own: mean | longest |
|---|---:|---:|---:|---:|---:|---:|
{rows}

Targets for the mean of the first row:

- 90,000 with the table of 64 bytes: {table}
- 25,000 with the chip's own checksum: {own}
"""


def measure(path):
    """Returns, by call, mean and longest with checksums, and without them."""
    rows = {}
    for line in path.read_text().splitlines():
        if not re.fullmatch(r"[^|]+(\|\d+){5}", line):
            sys.exit(f"error: the firmware says: {line}")
        name, _calls, *numbers = line.split("|")
        rows[name] = [int(number) for number in numbers]
    if TARGET_CALL not in rows or len(rows) != 8:
        sys.exit("error: the firmware did not come to its end")
    return rows


def means(rows):
    return dict(zip(TARGETS, (rows[TARGET_CALL][0], rows[TARGET_CALL][2])))


def section(small, fast, code):
    lines = []
    for call, (mean, longest, own_mean, own_longest) in small.items():
        numbers = (mean, longest, *fast[call][:2], own_mean, own_longest)
        lines.append(f"| {call} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    verdict = ["reached" if value <= TARGETS[name] else "missed" for name, value in means(small).items()]
    return SECTION.format(rows="\n".join(lines), code=f"{code:,}", table=verdict[0], own=verdict[1])


def above_targets(rows):
    return [
        f"above target: {TARGET_CALL}, with {name}: {value:,} instructions, {value - TARGETS[name]:,} more than {TARGETS[name]:,}"
        for name, value in means(rows).items()
        if value > TARGETS[name]
    ]


def problems(rows):
    """Returns the failures that do not depend on the compiler."""
    return [
        f"{TARGET_CALL} is above its target with {name}"
        for name, value in means(rows).items()
        if name not in OPEN and value > TARGETS[name]
    ]


def differences(text, rows):
    """Returns the differences between the document and the measurement."""
    written = {}
    for call, *numbers in re.findall(r"^\| ([^|]+?) \|" + r" ([\d,]+) \|" * 6 + "$", text, re.M):
        number = [int(number.replace(",", "")) for number in numbers]
        written[call] = number[:2] + number[4:]
    return [
        f"{call}: {numbers} instructions, docs/results/footprint.md says {written.get(call, 'nothing')}"
        for call, numbers in rows.items()
        if call not in written or any(abs(new - old) > TOLERANCE * old for new, old in zip(numbers, written[call]))
    ] + [f"{call}: in docs/results/footprint.md and not measured" for call in written if call not in rows]
