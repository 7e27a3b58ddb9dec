#!/usr/bin/env python3
"""Lays reports out in headless Chromium, on a phone and on a desk, light, dark and printed, and
prints their faults.

    tools/reports.py             makes reports of evaluate, replay, streams, its study, life,
                                 realtime, transactions and compare, and checks them; STEADY names a
                                 built `steady`
    tools/reports.py FILE.html…  checks these files
    tools/reports.py --keep DIR  … and keeps a picture of each, as FILE-light-390.png

Text of a figure must not overlap, nothing must be wider than the page, and every text must have the
contrast of WCAG AA. Sliders are moved to their ends and between. Then the page's numbers for a rate
must match its own data and its tables. The exit code is 1 if there is a fault, and 2 without
Chromium.
"""
import argparse, html, json, os, pathlib, re, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTHS = (390, 1280)
# Reports with sliders, and the number of sliders. The other reports of `make` have none.
SLIDERS = {"evaluate": 1, "replay": 1, "compare": 3}
DARK, PRINT = r"\(prefers-color-scheme:\s*dark\)", r"@media\s+print"
# Media queries are replaced in the text, because a frame has the colours and the paper of its
# window. Figures have no space before their queries.
MODES = {
    "light": lambda page: re.sub(DARK, " not all", page),
    "dark": lambda page: re.sub(DARK, " all", page),
    "print": lambda page: re.sub(PRINT, "@media all", re.sub(DARK, " not all", page)),
}
FRAME = """<!doctype html><iframe id="frame" src="page.html" style="width:{width}px;height:4000px;border:0"></iframe>
<script>frame.onload = () => {{
  const got = document.createElement('pre');
  got.id = 'got';
  got.textContent = frame.contentDocument.getElementById('found').textContent;
  document.body.append(got);
}}</script>"""


def steady(*arguments):
    binary = os.environ.get("STEADY")
    command = [binary, *arguments] if binary else ["cargo", "run", "--quiet", "--release", "--", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def make(directory):
    """Makes reports with their commands."""
    steady("evaluate", "--accesses", "3000", "--report", f"{directory}/evaluate.html", "--trace", f"{directory}/trace.csv")
    steady("replay", f"{directory}/trace.csv", "--write", "4096", "--rate", "500kB/s", "--report", f"{directory}/replay.html")
    steady("streams", "--report", f"{directory}/streams.html")
    steady("streams", "--study", "--blocks", "192", "--passes", "2", "--report", f"{directory}/study.html")
    steady("life", "--blocks", "64", "--pages", "16", "--endurance", "300", "--spread", "5", "--report", f"{directory}/life.html")
    steady("realtime", "--accesses", "10000", "--fill", "20%", "--report", f"{directory}/realtime.html")
    steady("transactions", "--files", "20", "--copies", "100", "--report", f"{directory}/transactions.html")
    steady("compare", "--kept", "--report", f"{directory}/compare.html")
    names = ("evaluate", "replay", "streams", "study", "life", "realtime", "transactions", "compare")
    return [directory / f"{name}.html" for name in names]


def look(chromium, page, width, directory, sliders, picture):
    """Returns the faults of a page at a width, with a number of sliders if it is known. Keeps a picture
    if a path is given. The page is in a frame, because a window has a least width."""
    script = (ROOT / "tools/reports/check.js").read_text()
    (directory / "page.html").write_text(page.replace("</body>", f"<script>{script}</script></body>"))
    frame = directory / "frame.html"
    frame.write_text(FRAME.format(width=width))
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--virtual-time-budget=3000"]
    output = subprocess.run([chromium, *options, "--dump-dom", frame.as_uri()], capture_output=True, text=True, timeout=120).stdout
    if picture:
        # The picture shows the page as a reader opens it: the check has moved the sliders.
        (directory / "page.html").write_text(page)
        size = ["--hide-scrollbars", f"--window-size={max(width, 500)},4000", f"--screenshot={picture}"]
        subprocess.run([chromium, *options, *size, frame.as_uri()], capture_output=True, timeout=120, check=True)
    got = re.search(r'<pre id="got">(.*?)</pre>', output, re.DOTALL)
    report = json.loads(html.unescape(got[1])) if got else {"width": width, "texts": 11, "sliders": sliders, "found": ["nothing was laid out"]}
    found = report["found"]
    if report["width"] != width or report["texts"] <= 10:
        found.append(f"a page of {report['texts']} texts")
    if sliders not in (None, report["sliders"]):
        found.append(f"a page of {report['sliders']} sliders, expected {sliders}")
    return found


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("error: needs Chromium: apt-get install chromium", file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE.html")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR")
    arguments = parser.parse_args()
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        bad = 0
        given = arguments.files
        for file in given or make(directory):
            text, sliders = file.read_text(), None if given else SLIDERS.get(file.stem, 0)
            for mode, change in MODES.items():
                for width in WIDTHS:
                    picture = arguments.keep and arguments.keep.absolute() / f"{file.stem}-{mode}-{width}.png"
                    found = look(chromium, change(text), width, directory, sliders, picture)
                    bad += len(found)
                    print(f"{file.name}, {mode}, {width} px: {len(found) or 'nothing'} found", *found, sep="\n  ")
    return bad > 0


sys.exit(main())
