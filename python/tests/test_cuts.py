"""Campaigns of power cuts: seeds are shards, failures come back as strings that replay them, and what is killed goes on."""

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

import steadyfs
from steadyfs import runs, store
from steadyfs.command import main
from steadyfs.cuts import Siege, Torture
from steadyfs.running import SweepError, SweepWarning, Values
from tests.conftest import kill_worker

GRID: dict[str, Values] = {"geometry": ["small", "small-nor"], "workload": "log", "fault": "none", "steps": 2}
SEEDS = 3
# A chip that says that it programmed a page, and did not: no file system survives that.
LIE: dict[str, Values] = {"geometry": "small", "workload": "log", "fault": ["none", "lie"], "steps": 10}
LIE_SEED = 4


@pytest.fixture(scope="module")
def expected(client: Client, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table of a campaign that nothing disturbs."""
    found = steadyfs.torture(GRID, range(SEEDS), into=tmp_path_factory.mktemp("torture"), scheduler=client, progress=False)
    return Path(found.table).read_bytes()


def test_a_shard_is_a_run_of_the_command(client: Client, tmp_path: Path, expected: bytes, steady: Callable[[list[str]], str]) -> None:
    found = steadyfs.torture(GRID, range(SEEDS), into=tmp_path, scheduler=client, progress=False)
    assert Path(found.table).read_bytes() == expected
    frame = found.frame()
    assert frame[["geometry", "seed"]].values.tolist() == [[name, seed] for name in ("small", "small-nor") for seed in range(SEEDS)]
    assert found.failed() == [] and found.failures() == []
    row = frame.iloc[4]
    told = json.loads(steady([*shlex.split(row["replay"])[1:], "--json", "-"]))
    counts = ["cuts", "torn_cuts", "double_cuts", "states", "faults"]
    assert row[counts].tolist() == [told[name] for name in counts]
    assert row["cuts"] > 20
    # Nothing is run again.
    assert steadyfs.torture(GRID, range(SEEDS), into=tmp_path, scheduler="tcp://127.0.0.1:1", progress=False) == found


def test_a_failure_comes_back_as_a_command_that_replays_it(client: Client, tmp_path: Path, steady: Callable[[list[str]], str]) -> None:
    with pytest.warns(
        SweepWarning, match=r"(?s)1 failures were found:\nsteady torture --replay t1-.*\n  (after a mount|the volume reported): "
    ):
        found = steadyfs.torture(LIE, [LIE_SEED], into=tmp_path, scheduler=client, progress=False)
    assert [len(failures) for failures in found.frame()["failures"]] == [0, 1]
    ((command, reason),) = found.failures()
    with pytest.raises(subprocess.CalledProcessError) as replayed:
        steady(shlex.split(command)[1:])
    assert replayed.value.returncode == 1
    # The places of the oracle's lines are those of the build.
    assert reason.split(" (")[0].strip() in replayed.value.stderr


def test_a_campaign_that_is_interrupted_goes_on(client: Client, tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steadyfs.running.SAVE_ROWS", 1)
    add = store.Store.add

    def stop(self: store.Store, index: int, row: object) -> None:
        if len(self._there) == 2:
            raise KeyboardInterrupt
        add(self, index, row)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(store.Store, "add", stop)
        steadyfs.torture(GRID, range(SEEDS), into=tmp_path, scheduler=client, progress=False)
    assert len(os.listdir(tmp_path / "parts")) == 2
    found = steadyfs.torture(GRID, range(SEEDS), into=tmp_path, scheduler=client, progress=False)
    assert Path(found.table).read_bytes() == expected


def die(batch: list[runs.Run]) -> tuple[float, list[runs.Row]]:
    if any(run.arguments()["seed"] == 1 for run in batch):
        kill_worker()
    return runs.run_rows(batch)


def test_shards_whose_workers_die_are_told_with_their_command(tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask

    monkeypatch.setattr("steadyfs.running.run_rows", die)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        with pytest.raises(SweepError, match=r"(?s)the same call tries them again:\nsteady torture --geometry small .* --seed 1 --steps 2"):
            steadyfs.torture(GRID, range(SEEDS), into=tmp_path, scheduler=client, progress=False)
        monkeypatch.undo()
        found = steadyfs.torture(GRID, range(SEEDS), into=tmp_path, scheduler=client, progress=False)
    assert Path(found.table).read_bytes() == expected


def test_a_siege_counts_and_names_its_command(client: Client, tmp_path: Path) -> None:
    grid: dict[str, Values] = {"campaign": ["transient", "lives"], "medium": ["chip", "card"], "volumes": 2}
    found = steadyfs.siege(grid, [7], into=tmp_path, scheduler=client, progress=False)
    frame = found.frame()
    assert frame["medium"].tolist() == ["chip", "card"] * 2 and found.failures() == []
    assert all(json.loads(counts)["calls"] > 10 for counts in frame["counts"][:2])
    assert frame["replay"].iloc[3] == "cargo run --release -p steadyfs-siege -- lives --seed 7 --volumes 2 --medium card"


def test_a_file_becomes_a_campaign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "night.toml"
    path.write_text(f'seeds = [{LIE_SEED}]\n[torture]\ngeometry = "small"\nworkload = "log"\nfault = ["none", "lie"]\nsteps = 10\n')
    assert main([str(path), "--workers", "1", "--quiet"]) == 1
    told = capsys.readouterr()
    assert "night/table.parquet: 2 shards, " in told.out and " power cuts, 1 failures" in told.out
    assert told.err.startswith("steady torture --replay t1-")
    path.write_text('seeds = [1]\n[siege]\ncampaign = "chains"\nvolumes = 1\nstreams = [false, true]\n')
    assert main([str(path), "--into", str(tmp_path / "siege"), "--workers", "1", "--quiet"]) == 0
    assert "2 shards, 0 failures" in capsys.readouterr().out


def test_campaigns_that_make_no_sense_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    cases: list[tuple[str, dict[str, Values], str]] = [
        ("torture", {"device": "m25p16"}, "found the axes device; expected some of geometry, workload, fault"),
        ("torture", {"geometry": "tiny"}, "expected one of small, small-copy"),
        ("torture", {"fault": ["none", "flips"]}, "bit-flips"),
        ("torture", {"mode": "some"}, "expected every, sampled or exhaustive"),
        ("torture", {"steps": 0}, "steps is 0; expected 1 to 10000"),
        ("torture", {"steps": "many"}, "steps is 'many'; expected a whole number"),
        ("torture", {"workload": []}, "the sweep has no runs"),
        ("siege", {"campaign": "peace"}, "expected one of transient, lost"),
        ("siege", {"medium": "tape"}, "expected chip, chip-groups, card or card-within"),
        ("siege", {"streams": 2}, "streams is 2; expected true or false"),
        ("siege", {"volumes": 0}, "volumes is 0; expected one at least"),
    ]
    for name, grid, words in cases:
        campaign = steadyfs.torture if name == "torture" else steadyfs.siege
        with pytest.raises(ValueError, match=words):
            campaign(grid, [1], into=tmp_path / "new")
    assert os.listdir(tmp_path) == []


def test_a_grid_without_axes_is_all_that_the_commands_take() -> None:
    from steadyfs import cuts

    assert {axis: len(list(values)) for axis, values in cuts.TORTURE_USUAL.items()} == {"geometry": 4, "workload": 8, "fault": 7}
    assert (Torture("small", "log", "none").command().split()[:3], Siege("lost").volumes) == (["steady", "torture", "--geometry"], 20)
