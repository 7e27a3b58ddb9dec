#!/usr/bin/env python3
"""Checks licences, sources and duplicates of all dependencies against deny.toml.

    tools/dependencies.py    prints each violation; the exit code is 1 if there is any

It checks the workspace, the Python package and the playground, on all platforms and with all
features. Crates of the tests count, except as duplicates. deny.toml has the format of cargo-deny,
and this script reads a part of it:

    licenses.allow, licenses.exceptions    bans.skip    sources.allow-registry

A skipped version that no crate needs any more is a violation, too.
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


def linked(graph):
    """Returns the ids of the packages that the workspace needs without its tests."""
    edges = {
        node["id"]: [
            dependency["pkg"]
            for dependency in node["deps"]
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"])
        ]
        for node in graph["resolve"]["nodes"]
    }
    found, waiting = set(), list(graph["workspace_members"])
    while waiting:
        package = waiting.pop()
        if package not in found:
            found.add(package)
            waiting += edges[package]
    return found


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


def wrong_duplicates(packages, skipped):
    versions = defaultdict(set)
    for package in packages:
        versions[package["name"]].add(package["version"])
    for name, found in sorted(versions.items()):
        kept = [version for version in found if not is_skipped(name, version, skipped)]
        if len(kept) > 1:
            yield f"{name}: versions {', '.join(sorted(kept))}"
    for skip in skipped:
        name = skip.partition("@")[0]
        if len(versions[name]) < 2:
            yield f"deny.toml skips {skip}, which has no duplicate"


def main():
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    wrong, count, graphs = set(), set(), []
    for manifest in MANIFESTS:
        graph = metadata(manifest)
        graphs.append(graph)
        packages = graph["packages"]
        count |= {(package["name"], package["version"]) for package in packages}
        wrong |= set(wrong_licences(packages, rules["licenses"]))
        wrong |= set(wrong_sources(packages, rules["sources"]))
    needed = linked(graphs[0])
    packages = [package for package in graphs[0]["packages"] if package["id"] in needed]
    skipped = [skip["crate"] for skip in rules["bans"]["skip"]]
    wrong |= set(wrong_duplicates(packages, skipped))
    for line in sorted(wrong):
        print(line)
    print(f"{len(count)} crates, {len(wrong)} violations of deny.toml")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
