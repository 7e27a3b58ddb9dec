"""``steady-sweep``: a sweep from a file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from steadyfs.command import main

GRID = """
seeds = 2
accesses = 20
rates = ["500kB/s"]

[grid]
device = "m25p16"
fill = ["30%", 0.6]
"""


def write(directory: Path, text: str) -> str:
    path = directory / "grid.toml"
    path.write_text(text)
    return str(path)


def test_a_file_becomes_a_table_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pandas as pd

    path = write(tmp_path, GRID)
    assert main([path, "--workers", "1", "--quiet"]) == 0
    frame = pd.read_parquet(tmp_path / "grid" / "table.parquet")
    assert frame[["fill", "seed"]].values.tolist() == [[0.3, 0], [0.3, 1], [0.6, 0], [0.6, 1]]
    assert "buffer_bytes_at_500000" in frame.columns
    assert all((tmp_path / "grid" / f"{name}.svg").stat().st_size > 1000 for name in ("ram", "pareto", "effects"))
    assert "4 runs" in capsys.readouterr().out
    # What is there is not run again: nobody listens there.
    assert main([path, "--scheduler", "tcp://127.0.0.1:1", "--quiet"]) == 0


def test_the_other_command_runs_this_one(tmp_path: Path, program: str) -> None:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = [program, "sweep", write(tmp_path, GRID), "--workers", "1", "--quiet"]
    done = subprocess.run(words, env={**os.environ, "PATH": programs}, capture_output=True, text=True)
    assert (done.returncode, "4 runs" in done.stdout) == (0, True), done.stderr
    assert (tmp_path / "grid" / "table.parquet").exists()


def test_runs_that_are_not_possible_are_told_with_their_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, 'accesses = 20\n[grid]\ndevice = ["m25p16", "nowhere.toml"]\nfill = 0.3\n')
    assert main([path, "--into", str(tmp_path / "out"), "--workers", "1", "--quiet"]) == 1
    told = capsys.readouterr().err
    assert "steady evaluate --device nowhere.toml" in told and told.count("steady evaluate") == 1


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[grid", "is no TOML"),
        ("seeds = 3", "has no axes; expected one table: [grid], [torture] or [siege]"),
        ("[grid]\nfill = 0.5\n[siege]", "has grid and siege"),
        ("grid = {}", "expected a table [grid] with one axis at least"),
        ("torture = 1", "torture is 1"),
        ("accesses = 20\n[torture]\nsteps = 3", "found accesses beside [torture]"),
        ("[torture]\nsteps = true", "steps is True"),
        ("seeds = [-1]\n[grid]\nfill = 0.5", "seeds is [-1]"),
        ("[grid]\nfill = [[1]]", "fill is [[1]]"),
        ("[grid]\nfil = 0.5", "the axes fil"),
        ("colour = 1\n[grid]\nfill = 0.5", "found colour"),
        ("seeds = 0\n[grid]\nfill = 0.5", "seeds is 0"),
        ("accesses = 1.5\n[grid]\nfill = 0.5", "accesses is 1.5"),
        ('rates = "1MB/s"\n[grid]\nfill = 0.5', "rates is '1MB/s'"),
    ],
)
def test_a_wrong_file_says_what_was_expected(text: str, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, text), "--quiet"]) == 2
    assert part in capsys.readouterr().err
    assert main([str(tmp_path / "none.toml")]) == 2
