#!/usr/bin/env python3
"""Lists the crates of others in a product of a release: as an SBOM, and with their licences.

    tools/release/crates.py sbom PRODUCT       CycloneDX 1.5, JSON
    tools/release/crates.py licences PRODUCT   the texts of the licences

PRODUCT is c, steady, python or playground. The crates are those that the product links: no
procedural macros, no tests. SOURCE_DATE_EPOCH is the time of the SBOM.
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Package, folder of its manifest, kind in CycloneDX, and the arguments of cargo.
PRODUCTS = {
    "c": (
        "steadyfs-c",
        "crates/steadyfs-c",
        "library",
        ["--features", "rom-verify", "--target", "all"],
    ),
    "steady": (
        "steadyfs-cli",
        "crates/steadyfs-cli",
        "application",
        ["--target", "x86_64-unknown-linux-gnu"],
    ),
    "python": ("steadyfs-python", "python", "library", ["--target", "x86_64-unknown-linux-gnu"]),
    "playground": (
        "steadyfs-playground",
        "playground",
        "application",
        ["--target", "wasm32-unknown-unknown"],
    ),
}
LINE = re.compile(r"(\d+)(\S+) v(\S+)([^\t]*)\t([^\t]*?)( \(\*\))?$")
LICENCE_FILE = re.compile(r"(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE)([.-].*)?$", re.IGNORECASE)
# The beginning of the source of a crate from crates.io.
REGISTRY = "registry+"


class Crate:
    """A crate: name, version and licence, and the crates that it links."""

    def __init__(self, name, version, licence):
        self.name, self.version = name, version
        # The older form of an expression has a slash.
        self.licence = licence.replace("/", " OR ") if " OR " not in licence else licence
        self.needs = set()

    @property
    def purl(self):
        return f"pkg:cargo/{self.name}@{self.version}"


def linked(product):
    """Returns the crates that the product links, by purl. The first is the product."""
    package, folder, _, arguments = PRODUCTS[product]
    command = ["cargo", "tree", "--locked", "--package", package, "--edges", "normal"]
    shown = ["--prefix", "depth", "--format", "{p}\t{l}", "--manifest-path", folder + "/Cargo.toml"]
    done = subprocess.run(
        [*command, *shown, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    crates, path = {}, []
    for line in filter(None, done.stdout.splitlines()):
        depth, name, version, rest, licence, _ = LINE.match(line).groups()
        del path[int(depth) :]
        # A procedural macro runs in the compiler, and so do its dependencies.
        is_macro = "(proc-macro)" in rest or (path and path[-1] is None)
        crate = Crate(name, version, licence)
        crate = None if is_macro else crates.setdefault(crate.purl, crate)
        if crate and path:
            path[-1].needs.add(crate.purl)
        path.append(crate)
    return crates


def checksums(product):
    """Returns the SHA-256 of each crate from the registry, by name and version."""
    folder = ROOT / PRODUCTS[product][1]
    lock = next(path for path in (folder / "Cargo.lock", ROOT / "Cargo.lock") if path.exists())
    packages = tomllib.loads(lock.read_text())["package"]
    return {(each["name"], each["version"]): each.get("checksum") for each in packages}


def component(crate, checksum, kind="library"):
    found = {"type": kind, "bom-ref": crate.purl, "name": crate.name, "version": crate.version}
    found["purl"] = crate.purl
    found["licenses"] = [{"expression": crate.licence}]
    if checksum:
        found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return found


def compiler():
    """Returns Rust's own libraries, which every product links."""
    rustc = os.environ.get("RUSTC", "rustc")
    version = subprocess.run(
        [rustc, "--version"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()[1]
    licence = "(MIT OR Apache-2.0) AND (Apache-2.0 WITH LLVM-exception OR NCSA OR MIT)"
    return Crate("rust-standard-library", version, licence)


def sbom(product):
    crates, sums, standard = linked(product), checksums(product), compiler()
    whole, *others = crates.values()
    whole.needs.add(standard.purl)
    others = sorted([*others, standard], key=lambda crate: crate.purl)
    moment = datetime.datetime.fromtimestamp(
        int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc
    )
    found = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": moment.isoformat(),
            "component": component(whole, None, PRODUCTS[product][2]),
        },
        "components": [component(crate, sums.get((crate.name, crate.version))) for crate in others],
        "dependencies": [
            {"ref": crate.purl, "dependsOn": sorted(crate.needs)} for crate in [whole, *others]
        ],
    }
    name = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(found, sort_keys=True))
    return json.dumps({**found, "serialNumber": name.urn}, indent=1)


def folders(product):
    """Returns the folder of the source of each crate from the registry, by name and version."""
    manifest = ROOT / PRODUCTS[product][1] / "Cargo.toml"
    command = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1"]
    done = subprocess.run(
        [*command, "--manifest-path", manifest], stdout=subprocess.PIPE, check=True
    )
    packages = json.loads(done.stdout)["packages"]
    return {
        (each["name"], each["version"]): Path(each["manifest_path"]).parent
        for each in packages
        if (each["source"] or "").startswith(REGISTRY)
    }


def licences(product):
    """Returns the texts of the licences, each with its crates."""
    where, texts, without = folders(product), {}, []
    for crate in sorted(linked(product).values(), key=lambda crate: crate.purl):
        folder = where.get((crate.name, crate.version))
        if folder is None:
            continue
        # Libraries in C have their own folders.
        files = [
            path
            for path in sorted(folder.rglob("*"))
            if LICENCE_FILE.match(path.name) and path.is_file()
        ]
        if not files:
            without.append(f"{crate.name} {crate.version}: {crate.licence}")
        for path in files:
            text = path.read_text(errors="replace").strip()
            title = f"{crate.name} {crate.version} ({crate.licence}): {path.relative_to(folder)}"
            texts.setdefault(hashlib.sha256(text.encode()).digest(), (text, []))[1].append(title)
    standard = compiler()
    parts = [
        f"Rust's standard library {standard.version}\n{standard.licence}\n"
        "Copyright (c) The Rust Project Contributors"
    ]
    if without:
        parts.append(
            "These crates state a licence without a text of their own:\n" + "\n".join(without)
        )
    parts += ["\n".join(titles) + "\n\n" + text for text, titles in texts.values()]
    return ("\n" + "-" * 80 + "\n").join(parts)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("sbom", "licences") or sys.argv[2] not in PRODUCTS:
        sys.exit(__doc__)
    print({"sbom": sbom, "licences": licences}[sys.argv[1]](sys.argv[2]))


if __name__ == "__main__":
    main()
