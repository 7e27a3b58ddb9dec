"""Reads the images that tools/footprint.sh builds, and writes or checks docs/results/footprint.md."""

import re
import subprocess
import sys
from pathlib import Path

import builds
import cycles
import law

# Limits in bytes, by the label of the row.
LIMITS = {
    "Code, NAND, a logger": 16 * 1024,
    "Code, NAND, a read-only image": 12 * 1024,
    "Code, compressed files: reading": 2 * 1024,
    "Code, compressed files: reading and writing": 6 * 1024,
    # The counter of mounts. Handles get their number from it.
    "Static RAM": 4,
    "RAM, 128 MiB NAND": 12 * 1024,
    "RAM, 16 MiB NOR": 6 * 1024,
    "RAM, 1 MiB NOR": 2 * 1024,
}
# Targets that are not reached yet. They are printed, and do not fail.
OPEN = {"Code, NAND, a logger", "RAM, 16 MiB NOR", "RAM, 1 MiB NOR"}
TOLERANCE = 0.02
CALLS = [
    *["format", "mount", "open", "write", "append", "read", "truncate", "sync", "remove", "list", "stat", "unmount"],
    *["create_dir", "create_symlink", "rename", "set_attribute", "set_permissions", "reserve", "rollback", "maintain", "scrub", "check", "repair", "bound"],
]
# The features that the firmware may have beside the medium. tools/footprint.sh builds the firmware
# with all, with none, and without each.
FEATURES = ["long-names", "permissions", "truncate", "cache", "read-cache", "scrub", "wear-levelling", "streams", "fast-checksum"]
ALL = ",".join(FEATURES)
# Functions that call a function of the caller.
CALLBACKS = re.compile(r"::notify|::repair::|::look_through|>::check$|::check::rounds::Checker<")
CODE = (".text", ".rodata")


def tool(name, *arguments):
    return subprocess.run([f"arm-none-eabi-{name}", *arguments], check=True, capture_output=True, text=True).stdout


class Image:
    """A linked firmware."""

    def __init__(self, path):
        self.path = str(path)
        # Functions without a frame size from the compiler: functions in assembler.
        self.without_frame = set()
        self.sections = {}
        for line in tool("size", "-A", self.path).splitlines():
            fields = line.split()
            if len(fields) == 3 and fields[0].startswith("."):
                self.sections[fields[0]] = int(fields[1])
        # Name → (address, bytes, is code).
        self.symbols = {}
        for line in tool("nm", "-S", "-C", self.path).splitlines():
            match = re.match(r"([0-9a-f]{8}) ([0-9a-f]{8}) (\w) (.*)", line)
            if match:
                address, size, kind, name = match.groups()
                self.symbols[name, int(address, 16)] = (int(size, 16), kind in "tTwW")

    def section(self, *names):
        return sum(self.sections.get(name, 0) for name in names)

    def bytes_of(self, wanted):
        return sum(size for (name, _), (size, _) in self.symbols.items() if wanted(name))

    def sample(self, name):
        return self.bytes_of(lambda symbol: symbol == f"sample_{name}")

    def largest(self, count):
        code = [(size, name) for (name, address), (size, _) in self.symbols.items() if address < 0x2000_0000]
        return sorted(code, reverse=True)[:count]

    def forbidden(self):
        """Symbols of panic machinery and formatting."""
        names = [line.split()[-1] for line in tool("nm", self.path).splitlines()]
        return [name for name in names if re.search(r"4core3fmt|4core9panicking|rust_begin_unwind", name)]

    def frames(self):
        """Returns bytes of stack by function address, from `.stack_sizes`: pairs of an address and a
        LEB128 number."""
        raw = Path(self.path + ".stack_sizes")
        tool("objcopy", "-O", "binary", "--only-section=.stack_sizes", "--set-section-flags", ".stack_sizes=alloc",
             self.path, str(raw))
        data, frames, at = raw.read_bytes(), {}, 0
        while at < len(data):
            address = int.from_bytes(data[at:at + 4], "little") & ~1
            at, size, shift = at + 4, 0, 0
            while True:
                byte = data[at]
                at, size, shift = at + 1, size | (byte & 0x7F) << shift, shift + 7
                if byte < 0x80:
                    break
            frames[address] = size
        return frames

    def call_graph(self):
        """Returns callees by function address: branches to other functions, and functions whose address
        is loaded."""
        code = {address for (_, address), (_, is_code) in self.symbols.items() if is_code}
        graph, function, halves = {}, None, {}
        through_pointer, loaded = set(), {}

        for line in tool("objdump", "-d", self.path).splitlines():
            if match := re.match(r"([0-9a-f]{8}) <.*>:$", line):
                function, halves = int(match[1], 16), {}
                graph.setdefault(function, set())
                continue
            fields = line.split("\t")
            if function is None or len(fields) < 4:
                continue
            operation, operands = fields[2].strip(), fields[3]
            if operation.startswith("b") and (match := re.match(r"([0-9a-f]+) <", operands)):
                callee = int(match[1], 16)
                if operation.startswith("bl") or callee != function:  # A branch to its own start is a loop.
                    graph[function].add(callee)
            elif operation == "blx":
                through_pointer.add(function)
            elif operation == ".word":
                loaded.setdefault(function, set()).add(int(operands.split()[0], 16))
            elif (match := re.match(r"(\w+), #(\d+)", operands)) and operation in ("movw", "movt"):
                if operation == "movw":
                    halves[match[1]] = int(match[2])
                else:
                    loaded.setdefault(function, set()).add(int(match[2]) << 16 | halves.get(match[1], 0))
        for function in graph:
            # Addresses of functions are odd in this instruction set.
            callees = {word - 1 for word in loaded.get(function, ())} & code
            # The observer, and the receiver of a check's findings, are the caller's own code.
            is_observed = any(CALLBACKS.search(name) for (name, address) in self.symbols if address == function)
            if function in through_pointer and not callees and not is_observed:
                sys.exit(f"error: the function at {function:#x} calls through a pointer that it does not load itself")
            graph[function] = graph[function] & code | callees
        return graph

    def deepest(self):
        """Deepest stack below each function, by name; recursion is an error."""
        frames, graph, depths, names = self.frames(), self.call_graph(), {}, {}
        for (name, address), (_, is_code) in self.symbols.items():
            if is_code:
                names[address] = name

        def depth(function, path):
            if function in path:
                sys.exit(f"error: recursion: {[names.get(one) for one in path]}")
            if function not in depths:
                below = max((depth(callee, path + [function]) for callee in graph.get(function, ())), default=0)
                depths[function] = frames.get(function, 0) + below
                if function not in frames:
                    self.without_frame.add(names.get(function, hex(function)))
            return depths[function]

        return {name: depth(function, []) for function, name in names.items()}


def measure(images, level):
    """Rows of the table, and the NAND image."""
    names = ("none", f"nand,{ALL}", f"nor,{ALL}", f"nand,logger,{ALL}", f"nor,logger,{ALL}", "nand,logger", "nand,reader", "nand,clean-reader", f"nand,disk,{ALL}", "rom", "rom-signed", f"nand,files,{ALL}", f"nand,packed-read,{ALL}", f"nand,packed,{ALL}")
    none, nand, nor, logger, nor_logger, lean, reader, clean_reader, disk, rom, signed, files, packed_read, packed, c, c_logger = (Image(images / f"{name}-{level}") for name in (*names, "c", "c,logger"))
    rows = {
        "Code, NAND": nand.section(*CODE) - none.section(*CODE),
        "Code, NAND, a logger": logger.section(*CODE) - none.section(*CODE),
        "Code, NAND, a logger without features": lean.section(*CODE) - none.section(*CODE),
        "Code, NAND, reading only": reader.section(*CODE) - none.section(*CODE),
        "Code, NAND, reading only, a volume that was ended cleanly": clean_reader.section(*CODE) - none.section(*CODE),
        "Code, NAND, a disk": disk.section(*CODE) - none.section(*CODE),
        "Code, NAND, a read-only image": rom.section(*CODE) - none.section(*CODE),
        "Code, NAND, a read-only image that is signed": signed.section(*CODE) - none.section(*CODE),
        "Code, compressed files: reading": packed_read.section(*CODE) - files.section(*CODE),
        "Code, compressed files: reading and writing": packed.section(*CODE) - files.section(*CODE),
        "Code, NOR": nor.section(*CODE) - none.section(*CODE),
        "Code, NOR, a logger": nor_logger.section(*CODE) - none.section(*CODE),
        "Code, NAND, in C": c.section(*CODE),
        "Code, NAND, in C, a logger without features": c_logger.section(*CODE),
        "of the code, compiler's runtime": nand.bytes_of(lambda name: re.match(r"compiler_builtins|__|mem", name)),
        "Static RAM": nand.section(".data", ".bss") - none.section(".data", ".bss"),
    }
    for label, sample, state, image in [
        ("128 MiB NAND", "nand_128_mib", "nand", nand),
        ("16 MiB NOR", "nor_16_mib", "nor", nor),
        ("1 MiB NOR", "nor_1_mib", "nor", nor),
    ]:
        rows[f"RAM, {label}"] = image.sample(f"tables_{sample}") + image.sample(f"state_{state}")
    rows["RAM, each open file"] = nand.sample("handle")
    deepest = nand.deepest()
    for call in CALLS:
        found = [depth for name, depth in deepest.items() if name.endswith(f"calls::call_{call}")]
        if not found:
            sys.exit(f"error: call_{call} was inlined")
        rows[f"Stack, `{call}`"] = found[0]
    for image in (nand, nor):
        if names := image.forbidden():
            sys.exit(f"error: panic machinery or formatting is linked: {', '.join(names)}")
    return rows, nand


def feature_costs(images, level):
    """Bytes of code on NAND that each feature takes."""
    def code(features):
        return Image(images / f"{features}-{level}").section(*CODE)

    whole = code(f"nand,{ALL}")
    costs = {"nor": code(f"both,{ALL}") - whole, "groups": code(f"nand,{ALL},groups") - whole}
    for feature in FEATURES:
        costs[feature] = whole - code(",".join(["nand", *(other for other in FEATURES if other != feature)]))
    return costs


# The folders of the core, from the top, with their contents.
ROOMS = {
    "fs": "files, directories, check and repair, with the entries of the calls into which they are inlined",
    "disk": "sectors",
    "store": "calls begin and end, reclamation, mount",
    "logical": "logical pages: read, change, commit",
    "ftl": "places, moves, roots, failures",
    "mount": "roll-forward, superblocks",
    "pace": "the work of reclamation, idle work, bounds",
    "journal": "patches and their records",
    "root": "the ring of roots",
    "commit": "open transaction, undo, cache",
    "map": "leaves, overlay",
    "space": "blocks, heads",
    "pages": "the device, the page buffer",
    "media": "tags, checksums",
    "format": "superblock, root",
    "config": "settings, layout",
}


def room_of(name):
    """Returns the room of a function. If several are inlined into each other, it is the outermost
    function's room."""
    if "footprint::calls" in name:
        return "fs"
    found = re.search(r"steadyfs::(\w+)", name)
    if found and found[1] in ROOMS:
        return found[1]
    return "other"


def rooms_section(images, level):
    """Bytes of functions by room."""
    columns = []
    for name in (f"nand,{ALL}", "nand,logger", "nand,reader"):
        sizes = dict.fromkeys([*ROOMS, "other"], 0)
        for (symbol, address), (size, is_code) in Image(images / f"{name}-{level}").symbols.items():
            if is_code and address < 0x2000_0000:
                sizes[room_of(symbol)] += size
        columns.append(sizes)
    notes = {**ROOMS, "other": "pieces that the compiler shares between functions, its runtime, tables, the firmware"}
    rows = "\n".join(f"| `{room}` | {' | '.join(f'{sizes[room]:,}' for sizes in columns)} | {note} |" for room, note in notes.items() if any(sizes[room] for sizes in columns))
    return ROOMS_SECTION.format(rows=rows)


ROOMS_SECTION = """\
## Rooms

The table has the bytes of functions on NAND, by their [room](../design.md#a-map-of-the-rooms).
Inlined code counts for the room that it is inlined into. So a room that other rooms call often is
larger than its row.

| room | everything | logger without features | reading only | |
|---|---:|---:|---:|---|
{rows}
"""

NOTES = {
    "Code, NAND": "everything that is public, on-chip page copy",
    "Code, NAND, a logger without features": "the same calls; refused operations: [features](#features)",
    "Code, NAND, a logger": "`format`, `mount`, `open`, `write`, `append`, `read`, `truncate`, `sync`, `close`, `remove`, `list`, `stat`",
    "Code, NAND, reading only": "`Reader`: `mount`, `open`, `read`, `close`, `list`, `stat`",
    "Code, NAND, reading only, a volume that was ended cleanly": "`CleanReader`: the same calls",
    "Code, NAND, a disk": "`Disk`: `format`, `mount`, `read`, `write`, `write_durable`, `trim`, `flush`, `bound`",
    "Code, NAND, a read-only image": "`steadyfs-rom`, LZ4: `OnNand::open`, `Squash::mount`, `open`, `read`, `find`, `list`",
    "Code, NAND, a read-only image that is signed": "the same with `Verified`: SHA-256 and Ed25519",
    "Code, compressed files: reading": "`steadyfs-compress`, LZ4: `PackedFile::open`, `read`, `close`, in addition to a firmware that opens, reads, writes, cuts, syncs, closes and removes plain files and has attributes",
    "Code, compressed files: reading and writing": "the same with `create`, `append`, `write`, `truncate`",
    "Code, NOR": "everything that is public, with the layer that makes NOR look like NAND",
    "Code, NOR, a logger": "the calls of the logger above; [other builds](#builds)",
    "Code, NAND, in C": "every function of the library, with its checks of pointers, handles and states",
    "Code, NAND, in C, a logger without features": "the functions for the calls of the logger above",
    "of the code, compiler's runtime": "memory copies; most firmware has them anyway",
    "Static RAM": "the number of the next mount; each handle holds the number of its mount",
    "RAM, 128 MiB NAND": "2,048-byte pages, 64 a block, 1,024 blocks",
    "RAM, 16 MiB NOR": "64 KiB blocks, 512-byte pages",
    "RAM, 1 MiB NOR": "4 KiB blocks, 256-byte pages",
    "RAM, each open file": "`File`, kept by the caller",
}

DOCUMENT = """\
# Footprint

This page has the size of the core on a Cortex-M3 (`thumbv7m-none-eabi`), with default settings.
`tools/footprint.sh` measures it and writes this page. `tools/footprint.sh --check` fails if a
number here is off by more than 2 %, or if one of these exceeds its target:

- static RAM
- the RAM of the NAND sample
- the code of a read-only image or of compressed files

Other numbers may exceed their target.

| | bytes | target | |
|---|---:|---:|---|
{rows}

No panic machinery and no formatting is linked. A failed assertion is one trapping instruction.

{builds}
{features}
{instructions}
## C beside Rust

| bytes of code on NAND | C | Rust |
|---|---:|---:|
| every call, all features | {c_all:,} | {all:,} |
| a logger without features: `format`, `mount`, `file_open`, `_write`, `_read`, `_truncate`, `_sync`, `_close`, `remove`, `stat`, `dir_open`, `_read`, `_close` | {c_lean:,} | {lean:,} |

A feature that is left out by name is left out of the C library too.

A logger takes {c_more:.1f} KB more in C than in Rust:

| KB | reason |
|---:|---|
| 2.4 | the library is compiled with all of its functions: they share code that the logger alone does not need |
| 0.9 | C computes the settings when the firmware runs, Rust when it is compiled |
| 0.3 | the check that text is UTF-8 |
| the rest | checks of pointers, handles and states, and the codes of errors |

Read-only images in C, on NAND alone. The script does not measure this table:

| calls | code, KB | stack of a mount, KiB | stack of other calls, at most, KiB |
|---|---:|---:|---:|
| mount, files, directories and `stat` | 15.5 | 2.7 | 2.8 |
| an installation, in addition | 2.2 | | |
| signatures: code in addition, stack with a key | 29.4 | 9.3 | 3.8 |

## Method

- Compiler: {compiler};
  `opt-level = "{level}"`, `lto = "fat"`, `codegen-units = 1`, `-Cpanic=immediate-abort`, and the core
  library built with the same settings (`-Zbuild-std=core`).
  {comparison}
- Code: `.text` and `.rodata` of the firmware in `tools/footprint`, less both sections of the same
  firmware without the calls. "Everything" is all that is public in `FileSystem`, with the bounds
  and `check` with its repairs. Arguments, geometry and driver are hidden from the optimiser. The
  calls' entries are counted; the work of the drivers is not.
- Code of compressed files: less the code of the firmware with the plain files alone. Code in C: the
  library, linked for the called functions.
- RAM: `Config::memory_bytes` and the size of `FileSystem` for the 32-bit target. The compiler
  computes both, and the script reads them from the symbol table. Static RAM: the same difference as
  for code, of `.data` and `.bss`.
- Stack: the deepest chain of frames below the call, from the compiler's `.stack_sizes` and the
  disassembled calls. There is no recursion. The driver's stack comes on top.{assembler}
- Instructions: `cycles` and `law`, other firmwares of that package, with the same settings, in
  QEMU. A timer there counts instructions (`-icount shift=6`) to within two. A run is the same each time. The
  driver's instructions are left out. The instructions of checksums are counted separately, and the
  last columns exclude them. Creates and replacements include `open`, `write` and `close`. `--check`
  compares the first two columns.
"""


WITHOUT = {
    "nor": "a medium that programs bytes is refused: `ConfigError::ProgramsBytes`",
    "groups": "a volume with a `move_group` above 1 is refused: `ConfigError::NoGroups`; `CommitOn::MANY` never occurs",
    "long-names": "names of more than 64 bytes are refused: `Error::Unsupported`",
    "permissions": "a volume that keeps permissions is refused: `ConfigError::Permissions`",
    "truncate": "cutting a file that is not empty is refused: `Error::Unsupported`",
    "cache": "no memory can be lent for partial writes that wait",
    "read-cache": "no memory can be lent for pages that are read again and again",
    "scrub": "corrections of the ECC are counted, and move no data",
    "wear-levelling": "data at rest stays where it is; new data goes to the least worn block all the same",
    "streams": "a volume with more than one stream is refused: `ConfigError::NoStreams`",
    "fast-checksum": "checksums use a table of 64 bytes, and take nearly twice the instructions",
}

FEATURES_SECTION = """\
## Features

The table has each feature's bytes of "everything" on NAND, and the behaviour of a build without the
feature. "Everything" has neither `nor` nor `groups`, which is for cards, eMMC and disks. All
features are on by default. A call that a firmware never makes takes no code in any
case: the linker leaves it out.

| feature | bytes | without it |
|---|---:|---|
{rows}
"""


def features_section(costs):
    return FEATURES_SECTION.format(rows="\n".join(f"| `{name}` | {cost:,} | {WITHOUT[name]} |" for name, cost in costs.items()))


def write(path, rows, compiler, level, comparison, without_frame, code_of_builds, features, instructions):
    lines = []
    for label, value in rows.items():
        limit = f"{LIMITS[label]:,}" if label in LIMITS else ""
        lines.append(f"| {label} | {value:,} | {limit} | {NOTES.get(label, '')} |")
    assembler = "".join(f"\n  So do a few bytes in `{name}`, which is assembler." for name in sorted(without_frame))
    c_lean, lean = rows["Code, NAND, in C, a logger without features"], rows["Code, NAND, a logger without features"]
    text = DOCUMENT.format(
        rows="\n".join(lines),
        compiler=compiler,
        level=level,
        comparison=comparison,
        assembler=assembler,
        builds=code_of_builds,
        features=features,
        instructions=instructions,
        c_all=rows["Code, NAND, in C"],
        all=rows["Code, NAND"],
        c_lean=c_lean,
        lean=lean,
        c_more=(c_lean - lean) / 1000,
    )
    path.write_text(text)


def read(path):
    """Numbers of the document by label, and its compiler."""
    text = path.read_text()
    rows = re.findall(r"^\| ([^|]+?) \| ([\d,]+) \| [\d,]* \| [^|]*\|$", text, re.M)
    compiler = re.search(r"^- Compiler: (.*?);", text, re.M)
    return {label: int(number.replace(",", "")) for label, number in rows}, compiler[1] if compiler else ""


def above_limits(rows):
    return [
        f"above target: {label}: {rows[label]:,} bytes, {rows[label] - limit:,} more than {limit:,}"
        for label, limit in LIMITS.items()
        if rows[label] > limit
    ]


def check(path, rows, compiler, instructions, limits, code_of_builds):
    written, written_compiler = read(path)
    differences = [
        f"{label}: {value:,} bytes, docs/results/footprint.md says {written.get(label, 'nothing')}"
        for label, value in rows.items()
        if label not in written or abs(value - written[label]) > TOLERANCE * written[label]
    ]
    differences += [f"{label}: in docs/results/footprint.md and not measured" for label in written if label not in rows]
    for line in above_limits(rows):
        print(line)
    differences += builds.differences(path.read_text(), code_of_builds)
    if instructions:
        differences += cycles.differences(path.read_text(), instructions)
    if limits:
        differences += law.differences(path.read_text(), limits)
    problems = [f"{label} is above its target" for label in LIMITS if label not in OPEN and rows[label] > LIMITS[label]]
    if compiler == written_compiler:
        problems += differences
    elif differences:
        print(f"note: not compared, docs/results/footprint.md was measured with {written_compiler}, this is {compiler}:")
        print("\n".join(differences))
    return problems


def main():
    mode, path, images, compiler, *levels = sys.argv[1:]
    path, images = Path(path), Path(images)
    measured = {level: measure(images, level) for level in levels}
    level = min(levels, key=lambda level: measured[level][0]["Code, NAND"])
    rows, nand = measured[level]
    if mode == "--top":
        print("\n".join(f"{size:6} {name}" for size, name in nand.largest(20)))
        return
    for label, value in rows.items():
        print(f"{label:34} {value:7,}")
    counted = images / f"cycles-fast-{level}.txt"
    instructions = cycles.measure(counted) if counted.exists() else None
    if instructions:
        print("\n".join(f"{medium}, {call:30} {numbers[0]:10,} instructions" for (medium, call), numbers in instructions.items()))
    compared = images / f"law-{level}.txt"
    limits = law.measure(compared) if compared.exists() else None
    code_of_builds = builds.measure(images / "builds.txt")
    code_of_builds["core", "rust"] = rows["Code, NOR, a logger"]
    print("\n".join(f"build {' '.join(build):28} {code:7,}" for build, code in code_of_builds.items()))
    if mode == "--check":
        if problems := check(path, rows, compiler, instructions, limits, code_of_builds):
            sys.exit("\n".join(problems))
        return
    for column in ("c", "small"):
        code_of_builds["core", column] = Image(images / f"c,nor,{column}-{level}").section(*CODE)
    other = "".join(
        f'`opt-level = "{one}"` gives {measured[one][0]["Code, NAND"]:,} bytes of code on NAND.' for one in levels if one != level
    )
    small = cycles.measure(images / f"cycles-small-{level}.txt")
    sizes = [Image(images / f"cycles-{table}-{level}").section(".text", ".rodata") for table in ("fast", "small")]
    section = cycles.section(instructions, small, sizes[0] - sizes[1]) + "\n" + law.section(limits)
    features = rooms_section(images, level) + "\n" + features_section(feature_costs(images, level))
    section_of_builds = builds.section(code_of_builds, level)
    write(path, rows, compiler, level, other, nand.without_frame, section_of_builds, features, section)
    for line in above_limits(rows):
        print(line)


main()
