#!/usr/bin/env python3
"""Records what SQLite writes: tools/sqlite-trace.py > crates/steadyfs-lab/assets/sqlite.trace

Two databases, one with a rollback journal and one with a write-ahead log, take 1,000 small
transactions each: updates of rows with a few hot rows, and a queue. strace shows the calls. The pages
of 4 KiB that the calls touched are written when the file is synchronised. Needs strace.

A line of the trace is one write: the number of the file and its first page, both hexadecimal, and
`+N` if N more pages follow. A `-` before it means that the file is cut off there (to page 0:
removed). Lines before the first empty line have the names of the files, and their numbers of pages.
"""

import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

PAGE = 4096
ROWS = 20_000
TRANSACTIONS = 1_000
NAMES = ["orders.db", "orders.db-journal", "events.db", "events.db-wal"]


def connect(name, mode):
    database = sqlite3.connect(name, isolation_level=None)
    database.execute(f"pragma journal_mode={mode}")
    database.execute("pragma synchronous=full")
    return database


def fill():
    """Makes the databases in their state before the trace."""
    for name, mode in (("orders.db", "delete"), ("events.db", "wal")):
        database = connect(name, mode)
        database.execute("create table item (id integer primary key, name text, stock integer, note blob)")
        database.execute("create index by_name on item (name)")
        database.execute("create table queue (id integer primary key, body blob)")
        database.execute("begin")
        rng = random.Random(1)
        rows = ((row, f"{rng.getrandbits(40):x}", 0, rng.randbytes(200)) for row in range(ROWS))
        database.executemany("insert into item values (?, ?, ?, ?)", rows)
        database.execute("commit")
        database.close()


def work():
    """Makes the recorded transactions."""
    rng = random.Random(2)
    databases = [connect("orders.db", "delete"), connect("events.db", "wal")]
    for _ in range(TRANSACTIONS):
        for database in databases:
            database.execute("begin")
            for _ in range(rng.randint(1, 3)):
                row = int(ROWS * rng.random() ** 6)
                database.execute("update item set stock = stock + 1 where id = ?", (row,))
            if rng.random() < 0.1:
                name = f"{rng.getrandbits(40):x}"
                database.execute("update item set name = ? where id = ?", (name, rng.randrange(ROWS)))
            database.execute("insert into queue (body) values (?)", (rng.randbytes(300),))
            database.execute("delete from queue where id < (select max(id) from queue) - 400")
            database.execute("commit")


class Files:
    """Pages that calls touched and that are not synchronised yet, and the events so far."""

    def __init__(self, directory):
        self.directory, self.open, self.events = directory, {}, []
        self.dirty = {name: set() for name in NAMES}
        self.pages = dict.fromkeys(NAMES, 1)

    def name(self, descriptor):
        name = self.open.get(int(descriptor))
        return name if name in NAMES else None

    def write(self, descriptor, size, offset):
        if name := self.name(descriptor):
            self.dirty[name] |= set(range(offset // PAGE, (offset + size - 1) // PAGE + 1))

    def synchronise(self, name):
        if not name:
            return
        dirty = sorted(self.dirty[name])
        self.dirty[name].clear()
        while dirty:
            run = 1
            while run < len(dirty) and dirty[run] == dirty[0] + run:
                run += 1
            self.pages[name] = max(self.pages[name], dirty[run - 1] + 1)
            self.events.append(f"{NAMES.index(name)}{dirty[0]:x}" + (f"+{run - 1}" if run > 1 else ""))
            del dirty[:run]

    def cut(self, name, page):
        if name in NAMES:
            self.dirty[name] = {dirty for dirty in self.dirty[name] if dirty < page}
            self.events.append(f"-{NAMES.index(name)}{page:x}")


def record(directory):
    log = os.path.join(directory, "strace.log")
    calls = "trace=openat,close,pwrite64,unlink,ftruncate,fsync,fdatasync"
    subprocess.run(["strace", "-e", calls, "-o", log, sys.executable, os.path.abspath(__file__), "--work"], cwd=directory, check=True)
    files = Files(directory)
    for name in NAMES[::2]:
        files.pages[name] = os.path.getsize(os.path.join(directory, name)) // PAGE
    for line in open(log, encoding="latin-1"):
        if match := re.match(r'openat\(AT_FDCWD, "([^"]*)".* = (\d+)$', line):
            files.open[int(match[2])] = os.path.basename(match[1])
        elif match := re.match(r"close\((\d+)\)", line):
            files.open.pop(int(match[1]), None)
        elif match := re.match(r"f(?:data)?sync\((\d+)\)", line):
            files.synchronise(files.name(match[1]))
        elif match := re.match(r'unlink\("([^"]*)"\)\s+= 0', line):
            files.cut(os.path.basename(match[1]), 0)
        elif match := re.match(r"ftruncate\((\d+), (\d+)\)", line):
            files.cut(files.name(match[1]), -(-int(match[2]) // PAGE))
        elif match := re.match(r"pwrite64\((\d+), .*, (\d+), (\d+)\)\s+= \d+$", line):
            files.write(match[1], int(match[2]), int(match[3]))
    for name in NAMES:
        files.synchronise(name)
    print("".join(f"{name} {files.pages[name]}\n" for name in NAMES))
    print("\n".join(files.events))


if sys.argv[1:] == ["--work"]:
    work()
else:
    with tempfile.TemporaryDirectory() as temporary:
        here = os.getcwd()
        os.chdir(temporary)
        fill()
        os.chdir(here)
        record(temporary)
