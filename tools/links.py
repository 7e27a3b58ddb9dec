#!/usr/bin/env python3
"""Checks every relative link of every Markdown page: the file exists, and the heading, too.

    tools/links.py    prints each dead link with its page; the exit code is 1 if there is any
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[^\]]+\]:\s+(\S+)", re.M)


def anchor(heading):
    """Returns the anchor that GitHub gives a heading."""
    plain = re.sub(r"[`*]", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(page):
    text = FENCED.sub("", page.read_text())
    return {anchor(line.lstrip("#")) for line in text.splitlines() if line.startswith("#")}


def dead_links(page):
    """Yields each link of a page that leads nowhere, and the reason."""
    for match in LINK.finditer(FENCED.sub("", page.read_text())):
        link = match[1] or match[2]
        path, _, heading = link.partition("#")
        # Links to other sites, and rustdoc's links to items.
        if ":" in path:
            continue
        target = page.parent / path if path else page
        if not target.exists():
            yield link, "no such file"
        elif heading and target.suffix == ".md" and heading not in anchors(target):
            yield link, f"no heading {heading!r}"


def main():
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    # A link in the folder of a package leads to a page that is listed, too.
    pages = sorted({(ROOT / name).resolve() for name in listed if (ROOT / name).exists()})
    dead = [(page, *link) for page in pages for link in dead_links(page)]
    for page, link, reason in dead:
        print(f"{page.relative_to(ROOT)}: {link}: {reason}")
    print(f"{len(pages)} pages, {len(dead)} dead links")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
