"""Sweeps: what is killed goes on, no row is missing or there twice, and the table is the same, bit for bit."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import steadyfs
from steadyfs import runs, store
from steadyfs.sweeping import SweepError, SweepWarning, Values
from tests.conftest import kill_worker
from tests.sweep_script import GRID

SEEDS = 5
SCRIPT = [sys.executable, "-m", "tests.sweep_script"]
HERE = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def expected(client: Client, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table of a sweep that nothing disturbs."""
    path = tmp_path_factory.mktemp("sweep")
    found = steadyfs.sweep(GRID, range(SEEDS), accesses=20, into=path, scheduler=client, progress=False)
    return Path(found.table).read_bytes()


def test_a_sweep_has_a_row_for_each_run_in_order(client: Client, tmp_path: Path, expected: bytes) -> None:
    found = steadyfs.sweep(GRID, range(SEEDS), accesses=20, into=tmp_path, scheduler=client, progress=False)
    assert Path(found.table).read_bytes() == expected
    frame = found.frame()
    assert frame["run"].tolist() == list(range(4 * SEEDS))
    assert frame["seed"].tolist() == list(range(SEEDS)) * 4
    row = frame.iloc[7]
    again = steadyfs.evaluate("m25p16", fill=row["fill"], workload=row["workload"], seed=int(row["seed"]), accesses=20, progress=False)
    assert (row["max_us"], row["ram_bytes"], row["buffer_bytes_at_100000"]) == (again.max_us, again.ram_bytes, again.backlog[0].bytes) or (
        again.backlog[0].bytes is None and np.isnan(row["buffer_bytes_at_100000"])
    )
    assert found.failed() == []
    for figure in (found.plot_ram(), found.plot_pareto(), found.plot_effects()):
        figure.draw_without_rendering()
    # Nothing is run again.
    assert steadyfs.sweep(GRID, range(SEEDS), accesses=20, into=tmp_path, scheduler="tcp://127.0.0.1:1", progress=False) == found


def test_the_command_of_a_row_gives_the_row(client: Client, tmp_path: Path, steady: Callable[[list[str]], str]) -> None:
    import json
    import shlex

    grid: dict[str, Values] = {"device": "m25p16", "idle": "50ms", "write_bytes": 512}
    row = steadyfs.sweep(grid, [4], accesses=30, into=tmp_path, scheduler=client, progress=False).frame().iloc[0]
    told = json.loads(steady([*shlex.split(row["replay"])[1:], "--json", "-"]))
    assert (told["mean_us"], told["max_us"], told["seed"], told["idle"]["idle_us"]) == (row["mean_us"], row["max_us"], 4, 50_000)


def test_a_sweep_that_is_killed_at_any_time_goes_on(client: Client, tmp_path: Path, expected: bytes) -> None:
    chance = random.Random(1)
    for kills in range(4):
        child = subprocess.Popen([*SCRIPT, str(tmp_path), client.scheduler.address, str(SEEDS)], cwd=HERE)
        # Some are killed as they begin, some when so many parts are there.
        parts = tmp_path / "parts"
        while child.poll() is None and (not parts.exists() or len(os.listdir(parts)) < kills):
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.2))
        child.kill()
        child.wait()
    found = steadyfs.sweep(GRID, range(SEEDS), accesses=20, into=tmp_path, scheduler=client, progress=False)
    assert Path(found.table).read_bytes() == expected
    assert sorted(os.listdir(tmp_path)) == ["lock", "plan.json", "table.parquet"]


def test_what_was_saved_is_not_run_again(client: Client, tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steadyfs.running.SAVE_ROWS", 1)

    add = store.Store.add

    def stop(self: store.Store, index: int, row: object) -> None:
        if len(self._there) == 7:
            raise KeyboardInterrupt
        add(self, index, row)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(store.Store, "add", stop)
        steadyfs.sweep(GRID, range(SEEDS), accesses=20, into=tmp_path, scheduler=client, progress=False)
    assert len(os.listdir(tmp_path / "parts")) == 7
    ran: list[runs.Run] = []
    submit = client.submit

    def count(function: object, batch: list[runs.Run], **options: object) -> object:
        ran.extend(batch)
        return submit(function, batch, **options)

    monkeypatch.setattr(client, "submit", count)
    found = steadyfs.sweep(GRID, range(SEEDS), accesses=20, into=tmp_path, scheduler=client, progress=False)
    assert len(ran) == 4 * SEEDS - 7
    assert Path(found.table).read_bytes() == expected


def test_runs_that_are_not_possible_are_rows_with_their_reason(client: Client, tmp_path: Path) -> None:
    grid: dict[str, Values] = {"device": ["m25p16", "nowhere.toml"], "fill": [0.1]}
    with pytest.warns(
        SweepWarning, match="(?s)1 of 2 runs were not possible:\nsteady evaluate --device nowhere.toml .*nowhere.toml: No such file"
    ):
        found = steadyfs.sweep(grid, accesses=20, into=tmp_path, scheduler=client, progress=False)
    frame = found.frame()
    assert frame["error"].isna().tolist() == [True, False]
    assert np.isnan(frame["max_us"].iloc[1])
    assert [command.split()[:4] for command, _ in found.failed()] == [["steady", "evaluate", "--device", "nowhere.toml"]]
    found.plot_ram()


def die(batch: list[runs.Run]) -> tuple[float, list[runs.Row]]:
    if any(run.arguments()["seed"] == 2 and run.arguments()["fill"] == 0.1 for run in batch):
        kill_worker()
    return runs.run_rows(batch)


def test_runs_whose_workers_die_are_told_and_the_others_kept(tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask

    monkeypatch.setattr("steadyfs.running.run_rows", die)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        # Two, and now and then one that Dask was about to give the worker that dies.
        with pytest.raises(
            SweepError, match=r"(?s)[2-4] of 20 runs have no result; the same call tries them again:\nsteady evaluate .*--seed 2"
        ):
            steadyfs.sweep(GRID, range(SEEDS), accesses=20, into=tmp_path, scheduler=client, progress=False)
        monkeypatch.undo()
        assert not (tmp_path / "table.parquet").exists()
        assert list((tmp_path / "parts").iterdir())
        found = steadyfs.sweep(GRID, range(SEEDS), accesses=20, into=tmp_path, scheduler=client, progress=False)
    assert Path(found.table).read_bytes() == expected


def test_workers_over_tcp_give_the_same_table(tmp_path: Path, expected: bytes) -> None:
    place = tmp_path / "scheduler.json"
    python = [sys.executable, "-m"]
    started = [
        subprocess.Popen(
            [
                *python,
                "distributed.cli.dask_scheduler",
                "--port",
                "0",
                "--no-dashboard",
                "--host",
                "127.0.0.1",
                "--scheduler-file",
                str(place),
            ],
            stderr=subprocess.DEVNULL,
        )
    ]
    try:
        while not place.exists():
            time.sleep(0.1)
            assert started[0].poll() is None
        for _ in range(2):
            worker = [*python, "distributed.cli.dask_worker", "--scheduler-file", str(place), "--nthreads", "1", "--no-dashboard"]
            started.append(subprocess.Popen(worker, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=HERE))
        with Client(scheduler_file=str(place), set_as_default=False) as client:
            client.wait_for_workers(2)
            address = client.scheduler.address
        found = steadyfs.sweep(GRID, range(SEEDS), accesses=20, into=tmp_path / "sweep", scheduler=address, progress=False)
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait()
    assert Path(found.table).read_bytes() == expected


def test_a_directory_has_one_sweep_and_one_process(client: Client, tmp_path: Path) -> None:
    steadyfs.sweep(GRID, [1], accesses=20, into=tmp_path, scheduler=client, progress=False)
    with pytest.raises(ValueError, match=r"holds another sweep: its runs is 4; expected 8, or another directory"):
        steadyfs.sweep(GRID, [1, 2], accesses=20, into=tmp_path, scheduler=client, progress=False)
    plan = store.Plan([runs.Evaluate()], (), {})
    with store.Store(str(tmp_path / "new"), plan), pytest.raises(BlockingIOError, match="another process runs this sweep"):
        store.Store(str(tmp_path / "new"), plan).__enter__()


def test_a_sweep_refuses_a_foreign_directory(tmp_path: Path) -> None:
    """A directory with files of somebody else was taken for a complete sweep: its `parts` were
    removed. Another one got a plan.
    """
    plan = store.Plan([runs.Evaluate()], (), {})
    foreign = tmp_path / "foreign"
    (foreign / "parts").mkdir(parents=True)
    (foreign / "parts" / "keep.txt").write_text("keep")
    (foreign / "table.parquet").write_text("keep")
    words = "is not empty and holds no sweep; expected a new or empty directory"
    with pytest.raises(FileExistsError, match=words) as error:
        store.Store(str(foreign), plan).__enter__()
    assert error.value.filename == str(foreign)
    (foreign / "parts" / "keep.txt").read_text()
    assert sorted(os.listdir(foreign)) == ["parts", "table.parquet"]
    file = tmp_path / "file"
    file.write_text("keep")
    with pytest.raises(NotADirectoryError, match="is no directory; expected a new or empty directory") as refused:
        store.Store(str(file), plan).__enter__()
    assert (refused.value.filename, file.read_text()) == (str(file), "keep")
    other = tmp_path / "other"
    other.mkdir()
    for content in ("{", "[]"):
        (other / "plan.json").write_text(content)
        with pytest.raises(ValueError, match=r"plan\.json: is not the plan of a sweep"):
            store.Store(str(other), plan).__enter__()
        assert (other / "plan.json").read_text() == content


def test_a_sweep_removes_its_own_files_alone(client: Client, tmp_path: Path) -> None:
    begun = tmp_path / "sweep"
    begun.mkdir()
    # A sweep that was killed before it had a plan.
    (begun / "lock").touch()
    (begun / "plan.json.part").write_text("{")
    with store.Store(str(begun), store.Plan([runs.Evaluate()], (), {})):
        pass
    (begun / "plan.json").unlink()
    (begun / "parts").rmdir()
    grid: dict[str, Values] = {"device": ["m25p16"], "fill": [0.1]}
    steadyfs.sweep(grid, accesses=20, into=begun, scheduler=client, progress=False)
    (begun / "notes.txt").write_text("keep")
    (begun / "parts").mkdir()
    (begun / "parts" / "keep.txt").write_text("keep")
    (begun / "parts" / "0-0-1.parquet").write_text("of the sweep")
    steadyfs.sweep(grid, accesses=20, into=begun, scheduler=client, progress=False)
    assert sorted(os.listdir(begun)) == ["lock", "notes.txt", "parts", "plan.json", "table.parquet"]
    assert os.listdir(begun / "parts") == ["keep.txt"]


def test_grids_that_make_no_sense_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    """Unknown names were refused at the end, one row each. A write of no bytes ended a worker, and
    the sweep waited forever.
    """
    cases: list[tuple[dict[str, Values], list[int], str]] = [
        ({"device": ["m25p16", "m25p17"]}, [1], "device: .*m25p17.*m25p16"),
        ({"device": ["sd-industrial"]}, [1], "device: sd-industrial: is a card"),
        ({"workload": ["append", "logs"]}, [1], "workload: found `logs`, expected one of random, append"),
        ({"timing": "fast"}, [1], "timing: found `fast`, expected one of typical"),
        ({"fill": [0.5, 80]}, [1], "fill is 80; expected a share from 0 to 1"),
        ({"write_bytes": [0]}, [1], "write_bytes is 0; expected at least 1"),
        ({"accesses": [0]}, [1], "accesses is 0; expected at least 1"),
        ({"idle": "1ms", "burst_bytes": 0}, [1], "burst_bytes is 0; expected at least 1"),
        ({"device": ["m25p16", "m25p16"]}, [1], "2 equal runs: steady evaluate --device m25p16"),
        ({"fill": [0.5, "50%"]}, [1], "2 equal runs"),
        ({"device": ["m25p16"]}, [1, 1], "2 equal runs"),
        ({"devices": ["m25p16"]}, [1], "found the axes devices; expected some of device, fill"),
        ({"fill": ["120%"]}, [1], "0% to 100%"),
        ({"device": []}, [1], "the sweep has no runs"),
        ({"device": ["m25p16"]}, [], "the sweep has no runs"),
    ]
    for grid, seeds, words in cases:
        with pytest.raises(ValueError, match=words):
            steadyfs.sweep(grid, seeds, into=tmp_path / "new")
    calls: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: steadyfs.sweep({"fill": 0.1}, into=tmp_path / "new", workers=0), ValueError, "workers is 0; expected a whole number from 1"),
        (lambda: steadyfs.sweep({"fill": 0.1}, into=tmp_path / "new", rates=[0]), ValueError, "rates is 0; expected 1 to"),
        (lambda: steadyfs.sweep({"fill": 0.1}, into=tmp_path / "new", rates=5), TypeError, "rates is 5; expected a list"),  # type: ignore[arg-type]
        (lambda: steadyfs.sweep({"fill": 0.1}, 5, into=tmp_path / "new"), TypeError, "seeds is 5; expected a list"),  # type: ignore[arg-type]
        (lambda: steadyfs.sweep({"fill": 0.1}, ["1"], into=tmp_path / "new"), TypeError, "seeds is '1'"),  # type: ignore[list-item]
        (lambda: steadyfs.sweep({"fill": None}, into=tmp_path / "new"), TypeError, "fill is None"),  # type: ignore[dict-item]
        (lambda: steadyfs.sweep([], into=tmp_path / "new"), TypeError, "grid is"),  # type: ignore[arg-type]
    ]
    for call, kind, words in calls:
        with pytest.raises(kind, match=words):
            call()
    assert os.listdir(tmp_path) == []


def test_the_same_run_twice_gives_the_same_row() -> None:
    run = runs.Evaluate.of({"device": "m25p16", "fill": "10%", "accesses": 20}, 3, (1000,))
    first, second = (runs.run_row(run) for _ in range(2))
    assert first == second
    assert set(first) >= {name for name, _ in runs.FIGURES} | {"buffer_bytes_at_1000", "guaranteed_bytes_at_1000", "error", "replay"}
    pd.testing.assert_frame_equal(pd.DataFrame([first]), pd.DataFrame([second]))
