#!/usr/bin/env python3
"""Checks licences, sources and duplicates of all dependencies against deny.toml.

    tools/dependencies.py    prints each violation; the exit code is 1 if there is any

It checks the workspace, the Python package and the playground, on all platforms and with all
features. Crates of the tests count, except as duplicates. deny.toml has the format of cargo-deny,
and this script reads a part of it:

    licenses.allow, licenses.exceptions    bans.skip    sources.allow-registry

A skipped crate without a duplicate is a violation, too.
"""
import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANIFESTS = ["Cargo.toml", "python/Cargo.toml", "playground/Cargo.toml"]
# The name that cargo gives the source of a crate from crates.io, and deny.toml's name of it.
CRATES_IO = {"registry+https://github.com/rust-lang/crates.io-index": "https://github.com/rust-lang/crates.io-index"}


def is_allowed(expression, allowed):
    """Returns True if an SPDX expression can be fulfilled with the allowed licences."""
    words = re.findall(r"[()]|[^\s()/]+|/", expression)

    def either():
        result = both()
        while words and words[0] in ("OR", "/"):
            words.pop(0)
            result |= both()
        return result

    def both():
        result = one()
        while words and words[0] == "AND":
            words.pop(0)
            result &= one()
        return result

    def one():
        word = words.pop(0)
        if word == "(":
            result = either()
            words.pop(0)
            return result
        if words and words[0] == "WITH":
            word = " ".join([word, words.pop(0), words.pop(0)])
        return word in allowed

    return either()


def metadata(manifest):
    """Returns cargo's description of a workspace and of all its dependencies."""
    command = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1"]
    done = subprocess.run(
        [*command, "--manifest-path", str(ROOT / manifest)], stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def linked():
    """Returns the name and the version of each crate that the workspace needs without its tests.

    `cargo metadata` also lists crates that only a feature of the tests requires.
    """
    command = ["cargo", "tree", "--locked", "--workspace", "--all-features", "--target", "all"]
    shown = ["--edges", "normal,build", "--prefix", "none", "--format", "{p}"]
    done = subprocess.run(
        [*command, *shown], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return {tuple(line.split()[:2]) for line in done.stdout.splitlines() if line}


def wrong_licences(packages, rules):
    exceptions = {rule["crate"]: rule["allow"] for rule in rules.get("exceptions", [])}
    for package in packages:
        allowed = [*rules["allow"], *exceptions.get(package["name"], [])]
        expression = package["license"]
        if not expression or not is_allowed(expression, allowed):
            yield f"{package['name']} {package['version']}: licence {expression}"


def wrong_sources(packages, rules):
    for package in packages:
        # A crate of this repository has no source.
        source = package["source"]
        if source and CRATES_IO.get(source) not in rules["allow-registry"]:
            yield f"{package['name']} {package['version']}: from {source}"


def is_skipped(name, version, skipped):
    """Returns True for `name`, `name@1` and `name@1.2.3`."""
    return any(
        skip == name or f"{name}@{version}.".startswith(f"{skip}.") for skip in skipped
    )


def versions_of(crates):
    versions = defaultdict(set)
    for name, version in crates:
        versions[name].add(version.removeprefix("v"))
    return versions


def wrong_duplicates(needed, everything, skipped):
    for name, versions in sorted(versions_of(needed).items()):
        kept = [version for version in versions if not is_skipped(name, version, skipped)]
        if len(kept) > 1:
            yield f"{name}: versions {', '.join(sorted(kept))}"
    everything = versions_of(everything)
    for skip in skipped:
        if len(everything[skip.partition("@")[0]]) < 2:
            yield f"deny.toml skips {skip}, which has no duplicate"


def main():
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    wrong, crates = set(), set()
    for manifest in MANIFESTS:
        packages = metadata(manifest)["packages"]
        crates |= {(package["name"], package["version"]) for package in packages}
        wrong |= set(wrong_licences(packages, rules["licenses"]))
        wrong |= set(wrong_sources(packages, rules["sources"]))
    skipped = [skip["crate"] for skip in rules["bans"]["skip"]]
    wrong |= set(wrong_duplicates(linked(), crates, skipped))
    for line in sorted(wrong):
        print(line)
    print(f"{len(crates)} crates, {len(wrong)} violations of deny.toml")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
