#!/usr/bin/env python3
"""Builds the playground, one HTML file that works offline, and tests it in a browser.

    tools/playground.py            builds target/playground.html
    tools/playground.py --install  first installs its needs, with apt-get
    tools/playground.py --check    builds it, and tests it in headless Chromium

The check compares the numbers with `steady evaluate` on six questions (STEADY names a built
`steady`). It tests a link that contains the choice, and a wrong chip. Nothing may be too wide, too
faint or overlapping. It prints the time of the defaults.

The lab is compiled for WebAssembly. tools/bare-metal.sh finds the compiler, whose source builds the
standard library. LLVM's linker has the same version (Debian: lld-22). The exit code is 2 if one of
them, or the browser, is missing.
"""
import base64, gzip, http.server, json, os, pathlib, re, shutil, subprocess, sys, tempfile, threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "playground"
BUILD = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PAGE = BUILD / "playground.html"
TARGET = "wasm32-unknown-unknown"
BYTES_MAX = 1 << 20
SECONDS_GOAL = 2.0

# Questions of the check: the fragment of a link, and the equal arguments of the command.
QUESTIONS = {
    "": "",
    "chip=mt29f1g01abafd&fill=50&timing=maximum": "--fill 50% --timing maximum",
    "chip=w25q128jv&workload=log&bytes=64&accesses=2000": "--device w25q128jv --workload log --accesses 2000",
    "chip=w25n01gv&workload=hot&accesses=3000&seed=7&fill=90": "--device w25n01gv --workload hot --accesses 3000 --seed 7 --fill 90%",
    "chip=gd5f1gq5&workload=append&bytes=100&accesses=3000": "--device gd5f1gq5 --workload append --write 100 --accesses 3000",
    "chip=mt29f2g08abaea&workload=adversary&accesses=2000&fill=95": "--device mt29f2g08abaea --workload adversary --accesses 2000 --fill 95%",
}

# The test adds this script to the page. It sends the lab's answers and the look of the page to the
# test.
SPY = """
addEventListener('answer', ({detail}) => setTimeout(() => {
  const told = {answer: detail, state: document.getElementById('state').textContent, link: location.hash,
    title: document.getElementById('report').contentDocument?.title, height: document.getElementById('report').offsetHeight};
  fetch('/told', {method: 'POST', body: JSON.stringify(told)});
}, 300));
addEventListener('error', event => fetch('/told', {method: 'POST', body: JSON.stringify({broken: event.message})}));
addEventListener('unhandledrejection', event => fetch('/told', {method: 'POST', body: JSON.stringify({broken: String(event.reason)})}));
"""


def missing(what):
    print(f"error: needs {what}", file=sys.stderr)
    sys.exit(2)


def module():
    """Compiles the lab to WebAssembly."""
    script = f"""
        export STEADYFS_INSTALL={"1" if "--install" in sys.argv else os.environ.get("STEADYFS_INSTALL", "")}
        . "{ROOT}/tools/bare-metal.sh"
        linker=$(command -v wasm-ld-22 wasm-ld-21 wasm-ld-20 wasm-ld-19 wasm-ld | head -n 1)
        [ -n "$linker" ] || {{ install_debian lld-22 || install_debian lld; linker=$(command -v wasm-ld-22 wasm-ld | head -n 1); }}
        [ -n "$linker" ] && find_bare_metal || exit 2
        # Features that every browser has had since 2023.
        export RUSTFLAGS="-Ctarget-feature=+bulk-memory,+simd128,+sign-ext,+nontrapping-fptoint ${{RUSTFLAGS:-}}"
        export RUSTC CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker CARGO_TARGET_DIR="{BUILD}/playground"
        cargo build --quiet --locked --release --manifest-path "{SOURCE}/Cargo.toml" --target {TARGET} -Zbuild-std=std,panic_abort"""
    done = subprocess.run(["bash", "-c", script], cwd=ROOT)
    if done.returncode == 2:
        missing("a Rust compiler with its library's source, and wasm-ld")
    if done.returncode:
        sys.exit(done.returncode)
    return (BUILD / f"playground/{TARGET}/release/steadyfs_playground.wasm").read_bytes()


def build():
    text = {
        "style": (ROOT / "crates/steadyfs-lab/assets/report.css").read_text(),
        "script": (SOURCE / "page.js").read_text(),
        "module": base64.b64encode(gzip.compress(module(), 9, mtime=0)).decode(),
    }
    page = re.sub(r"\{\{(\w+)\}\}", lambda place: text[place[1]], (SOURCE / "page.html").read_text())
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page)
    print(f"{PAGE}: {len(page.encode()):,} bytes")
    return page


class Told(http.server.ThreadingHTTPServer):
    """Serves the page, and receives its reports."""

    def __init__(self, page):
        self.page, self.told, self.is_told = page.encode(), None, threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/" else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        if self.path == "/":
            self.wfile.write(self.server.page)

    def do_POST(self):
        self.server.told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.is_told.set()

    def log_message(self, *_):
        pass


def asked(chromium, page, fragment):
    """Returns the page's report on a question."""
    server = Told(page.replace("</body>", f"<script>{SPY}</script></body>"))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}", "--remote-debugging-port=0"]
        browser = subprocess.Popen([chromium, *options, f"http://127.0.0.1:{server.server_port}/#{fragment}"], stderr=subprocess.DEVNULL)
        is_told = server.is_told.wait(60)
        browser.kill()
        browser.wait()
    server.shutdown()
    return server.told if is_told else {"broken": "nothing was told within a minute"}


def steady(arguments):
    command = ["cargo", "run", "--quiet", "--release", "--", "evaluate", *arguments.split(), "--json", "-"]
    binary = os.environ.get("STEADY")
    return json.loads(subprocess.run([binary, *command[5:]] if binary else command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def check(page):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or missing("Chromium")
    found = []
    if len(page.encode()) > BYTES_MAX:
        found.append(f"the page has {len(page.encode()):,} bytes, more than {BYTES_MAX:,}")
    for fragment, arguments in QUESTIONS.items():
        told, ours = asked(chromium, page, fragment), steady(arguments)
        name = fragment or "the defaults"
        theirs = told.get("answer", {}).get("evaluation", {})
        # The page is a processor of 32 bits with smaller structures. So its RAM is nearer to a
        # microcontroller's.
        if {**theirs, "ram_bytes": 0} != {**ours, "ram_bytes": 0} or theirs["ram_bytes"] > ours["ram_bytes"]:
            found.append(f"{name}: {told.get('broken') or told['answer'].get('error') or 'other numbers than those of the command'}")
            continue
        seconds = told["answer"]["seconds"]
        print(f"{name}: the same as the command, {seconds} s, a report of {told['answer']['report']:,} bytes, {told['height']} high")
        if not fragment and seconds > SECONDS_GOAL:
            print(f"above target: {name} take {seconds} s, the goal is {SECONDS_GOAL}")
        if not all(part in told["link"] for part in fragment.split("&")) or told["height"] < 400:
            found.append(f"{name}: the link {told['link']}, a report {told['height']} high")
    wrong = asked(chromium, page, "toml=name%20%3D%201")
    if "name" not in wrong.get("state", ""):
        found.append(f"a wrong chip: {wrong}")
    layout = subprocess.run([sys.executable, ROOT / "tools/reports.py", PAGE], capture_output=True, text=True)
    if layout.returncode:
        found.append(f"laid out: {layout.stdout}{layout.stderr}")
    print("\n".join(found) or "nothing found")
    return bool(found)


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"], ["--install"]):
        sys.exit(__doc__)
    made = build()
    sys.exit(check(made) if "--check" in sys.argv else 0)
