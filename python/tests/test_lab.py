"""The lab in Python: the numbers are those of the command, and of the library."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import steadyfs
from steadyfs import lab, runs
from steadyfs.lab.decode import DoesNotFit, decode

Steady = Callable[[list[str]], str]


def plain(result: object) -> object:
    """The JSON of a dataclass: what was missing in it, and times, are left out."""
    assert is_dataclass(result) and not isinstance(result, type)

    def clean(value: object) -> object:
        if isinstance(value, dict):
            # The command leaves out some empty values.
            told = {
                key: item
                for key, item in value.items()
                if item is not None and (key, item) not in [("beside", []), ("skipped", []), ("grows", False), ("near_mean", False)]
            }
            return {key: clean(item) for key, item in told.items() if key not in ("access_ns", "text")}
        if isinstance(value, (list, tuple)):
            return [clean(item) for item in value]
        return value

    return clean(json.loads(json.dumps(asdict(result), default=lambda _: None)))


def found(text: str) -> object:
    def clean(value: object) -> object:
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items() if item is not None}
        return [clean(item) for item in value] if isinstance(value, list) else value

    return clean(json.loads(text))


def check_figure(figure: Figure) -> None:
    """It is drawn, with text."""
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert axes.get_title(loc="left") and (axes.lines or axes.patches)


def test_an_evaluation_is_that_of_the_command(steady: Steady) -> None:
    run = steadyfs.evaluate("m25p16", fill="50%", accesses=300, rates=["5kB/s", 20_000], idle="100ms", seed=3, progress=False)
    line = "evaluate --device m25p16 --fill 50% --accesses 300 --rate 5kB/s --rate 20kB/s --idle 100ms --seed 3 --json -"
    assert plain(run) == found(steady(line.split()))
    assert run.access_ns.dtype == np.uint64 and len(run.access_ns) == 300
    assert run.max_us == run.access_ns.max() / 1000 <= run.bound_us
    assert run.idle is not None and run.idle.bursts > 0
    check_figure(run.plot())


def test_the_defaults_are_those_of_the_command(steady: Steady) -> None:
    run = steadyfs.evaluate("m25p16", accesses=100, progress=False)
    assert plain(run) == found(steady(["evaluate", "--device", "m25p16", "--accesses", "100", "--json", "-"]))
    assert steadyfs.evaluate("m25p16", accesses=50, workload="log", progress=False).write_bytes == 64


@pytest.mark.parametrize("workload", ["random", "append", "log", "hot", "adversary", "adversary-append"])
def test_every_workload_is_that_of_the_command(workload: str, steady: Steady) -> None:
    """A run that appended had a key that the package did not have."""
    run = steadyfs.evaluate("m25p16", accesses=300, workload=workload, progress=False)
    line = f"evaluate --device m25p16 --accesses 300 --workload {workload} --json -"
    assert plain(run) == found(steady(line.split()))


def test_a_replay_is_that_of_the_command(tmp_path: Path, steady: Steady) -> None:
    trace = tmp_path / "board.csv"
    trace.write_text("duration_us\n252.5\n2505\n252\n18000\n" + "250\n" * 500)
    read = steadyfs.replay(trace, "4KiB", ["500kB/s", "2MB/s"], buffer_bytes="10KiB")
    line = ["replay", str(trace), "--rate", "500kB/s", "--rate", "2MB/s", "--buffer", "10KiB", "--json", "-"]
    assert plain(read) == found(steady(line))
    again = steadyfs.replay(read.access_ns, 4096, [500_000, 2_000_000], buffer_bytes=10_240, name=str(trace))
    assert again == read
    check_figure(read.plot())
    with pytest.raises(ValueError, match=r"board.csv, line 2: found `fast`, expected a number"):
        trace.write_text("duration_us\nfast\n")
        steadyfs.replay(trace)
    with pytest.raises(ValueError, match="found no access"):
        steadyfs.replay([])


def test_a_trace_that_cannot_be_read_is_an_oserror_in_every_call(tmp_path: Path) -> None:
    """`replay` raised a ValueError, and `evaluate` a LabError."""
    calls: list[Callable[[Path], object]] = [
        steadyfs.replay,
        lambda path: steadyfs.evaluate("m25p16", accesses=50, beside=path, progress=False),
        lambda path: steadyfs.evaluate("m25p16", accesses=50, beside=("FAT", path), progress=False),
    ]
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("duration_us\nfast\n")
    for call in calls:
        with pytest.raises(FileNotFoundError) as error:
            call(tmp_path / "none.csv")
        assert error.value.filename == str(tmp_path / "none.csv")
        with pytest.raises(ValueError, match=r"wrong\.csv, line 2: found `fast`, expected a number"):
            call(wrong)


def test_the_unit_of_a_trace_is_one_that_the_documentation_names(tmp_path: Path) -> None:
    """`sec` was taken for seconds, and messages named an option of the command."""
    trace = tmp_path / "board.csv"
    trace.write_text("1\n2\n")
    assert steadyfs.replay(trace, unit="ms").max_us == 2000
    with pytest.raises(ValueError, match="unit is 'sec'; expected one of ns, us, ms, s"):
        steadyfs.replay(trace, unit="sec")
    with pytest.raises(ValueError, match="unit is 'ms'; expected none for an array"):
        steadyfs.replay([1, 2], unit="ms")
    with pytest.raises(ValueError, match="unit='us'") as error:
        steadyfs.replay(trace)
    assert "--" not in str(error.value) and "steady " not in str(error.value)


def test_a_log_of_fio_tells_the_size_of_its_writes_and_averages_are_refused(tmp_path: Path) -> None:
    log = tmp_path / "card_lat.1.log"
    log.write_text("1, 1000000, 1, 65536, 0\n2, 70, 0, 512, 0\n3, 2000000, 1, 65536, 0\n")
    with pytest.warns(UserWarning, match="1 read left out"):
        read = steadyfs.replay(log)
    assert (read.write_bytes, read.accesses) == (65_536, 2)
    with pytest.raises(ValueError, match="found writes of 65536 bytes"):
        steadyfs.replay(log, 4096)
    log.write_text("1000, 2000000, 1, 0, 0\n")
    with pytest.raises(ValueError, match="log_avg_msec"):
        steadyfs.replay(log)


def test_a_file_system_may_stand_beside_an_evaluation(tmp_path: Path) -> None:
    trace = tmp_path / "fat-on-ftl.csv"
    trace.write_text("duration_us\n7000\n9000\n")
    run = steadyfs.evaluate("m25p16", accesses=50, beside=trace, progress=False)
    named = steadyfs.evaluate("m25p16", accesses=50, beside=("FAT", trace), progress=False)
    assert ([peer.label for peer in run.beside], [peer.label for peer in named.beside]) == (["fat on ftl"], ["FAT"])
    assert run.beside[0].mean_us == 8000.0


def test_a_bench_is_that_of_the_command(steady: Steady) -> None:
    report = steadyfs.bench("w25q128jv", size_bytes="1MiB", cases=["open", "append-64", "copy-10mb"], files=20, progress=False)
    line = "bench --device w25q128jv --size 1MiB --case open,append-64,copy-10mb --files 20 --json -"
    assert plain(report) == found(steady(line.split()))
    frame = report.frame().set_index("case")
    assert frame.loc["open", "mean_us"] == report.rows[0].mean_us
    assert frame["skipped"].notna().tolist() == [False, False, True]
    check_figure(report.plot())


def test_streams_are_those_of_the_command(steady: Steady) -> None:
    report = steadyfs.streams(blocks=40, writes=["zipf"], ways=["one", "automatic"], fills=["70%"], progress=False)
    line = "streams --blocks 40 --writes zipf --streams one,automatic --fill 70% --json -"
    assert plain(report) == found(steady(line.split()))
    assert report.frame()["streams"].tolist() == ["one", "automatic"]
    check_figure(report.plot())


def test_transactions_are_those_of_the_command(steady: Steady) -> None:
    report = steadyfs.transactions(["sd-industrial"], files=4, series=2, copies=3, progress=False)
    theirs = found(steady(["transactions", "--device", "sd-industrial", "--files", "4", "--series", "2", "--copies", "3", "--json", "-"]))
    ours = plain(report)
    assert isinstance(theirs, dict) and isinstance(ours, dict)
    cache = theirs["devices"][0].pop("cache")
    expected = cache["volatile"]["bytes"] if isinstance(cache, dict) else None
    assert ours["devices"][0].pop("cache_bytes", None) == expected
    assert ours == theirs
    assert set(report.frame()["device"]) == {"sd-industrial"}
    assert {"create_us", "after_us", "file_us"} <= set(report.frame().columns)
    assert report.copies_frame()["copies"].tolist() == [3, 3, 3]
    check_figure(report.plot())


def little_realtime() -> lab.Realtime:
    return steadyfs.realtime(["sd-consumer"], accesses=1000, fill="2%", ram_bytes="16KiB", progress=False)


def test_realtime_compares_the_media() -> None:
    """The rows had two keys that the package did not have, so that every call failed."""
    report = little_realtime()
    assert [str(row.medium) for row in report.rows][:2] == ["sd-consumer", "SteadyFS on mt29f1g01abafd"]
    assert report.frame()["answer"].tolist()[1] == "yes"
    check_figure(report.plot())


@pytest.mark.slow
def test_realtime_is_that_of_the_command(steady: Steady) -> None:
    line = "realtime --card sd-consumer --accesses 1000 --fill 2% --ram 16KiB --json -"
    assert plain(little_realtime()) == found(steady(line.split()))


def test_costs_are_those_of_the_command(steady: Steady) -> None:
    report = steadyfs.costs("mt29f1g01abafd", files=5, progress=False)
    assert plain(report) == found(steady(["costs", "--files", "5", "--json", "-"]))
    assert len(report.frame()) == len(report.calls) and len(report.copies_frame()) == 8
    check_figure(report.plot())


def test_an_advice_is_told_in_words_and_numbers() -> None:
    advice = steadyfs.advise("w25q128jv", "log", size_bytes="1MiB", effort=0.02, progress=False)
    assert advice.best.differs is None and {row.differs for row in advice.settings[1:]} <= {"erase block", "logical page", "overlay", "cache"}
    assert "const CONFIG" in advice.rust and advice.rust in advice.text
    assert len(advice.frame()) == len(advice.settings)
    check_figure(advice.plot())


def test_backlogs_are_the_librarys_own() -> None:
    times = np.array([1, 10, 1, 1]) * 1_000_000
    assert steadyfs.backlog(times, 1_000_000, 4096) == (5904, 10_000)
    assert steadyfs.backlog(times.astype("timedelta64[ns]"), "1MB/s", "4KiB") == (5904, 10_000)
    assert steadyfs.backlog((times / 1.0).tolist(), 1_000_000, 4096) == (5904, 10_000)
    assert steadyfs.backlog(times, 2_000_000, 4096) is None
    assert steadyfs.backlog([1_000_000] * 9, 4_000_000, 4096) is None  # 98 % of the mean rate
    assert steadyfs.backlog([], 1, 1) == (0, 0)
    assert steadyfs.backlog_levels(times, 1_000_000, 4096).tolist() == [0, 5904, 2808, 0]
    assert steadyfs.highest_rate([250_000_000], 512, 0) == 2048
    assert steadyfs.highest_rate([], 512, 0) is None


@pytest.mark.parametrize(
    ("times", "words"),
    [([-1], "access time 0 is -1"), ([1.0, float("nan")], "access time 1 is nan"), ([[1]], "2 dimensions")],
)
def test_times_that_are_none_are_named(times: list[float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        steadyfs.backlog(times, 1, 1)
    with pytest.raises(TypeError, match="of the type"):
        steadyfs.backlog(["a"], 1, 1)  # type: ignore[arg-type]


def test_what_is_not_possible_is_told_with_what_is() -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: steadyfs.evaluate("mt29", progress=False), "mt29f1g01abafd"),
        (lambda: steadyfs.evaluate("m25p16", timing="fast", progress=False), "expected one of typical, maximum"),
        (lambda: steadyfs.evaluate("m25p16", fill="120%", progress=False), "0% to 100%"),
        (lambda: steadyfs.evaluate("m25p16", fill=1.2, progress=False), "fill is 1.2; expected a share from 0 to 1"),
        (lambda: steadyfs.evaluate("m25p16", rates=["500kB"], progress=False), "500kB/s"),
        (lambda: steadyfs.bench(cases=["opn"], progress=False), "copy-35"),
        (lambda: steadyfs.streams(ways=["auto"], progress=False), "automatic"),
        (lambda: steadyfs.advise("w25q128jv", "logs", progress=False), "expected one of log, overwrite"),
        (lambda: steadyfs.transactions(series=0, progress=False), "series is 0; expected a whole number from 1"),
    ]
    for call, words in cases:
        with pytest.raises((ValueError, steadyfs.LabError), match=words):
            call()


def test_a_value_out_of_range_is_refused_before_the_run() -> None:
    """Some ended a run with a panic, others were taken as another value."""
    run, card = steadyfs.evaluate, "sd-industrial"
    cases: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: run(write_bytes=0), ValueError, "write_bytes is 0; expected whole bytes from 1"),
        (lambda: run(write_bytes=True), TypeError, "write_bytes is True; expected whole bytes"),
        (lambda: run(accesses=0), ValueError, "accesses is 0; expected a whole number from 1 to"),
        (lambda: run(accesses=-1), ValueError, "accesses is -1; expected a whole number"),
        (lambda: run(accesses="100"), TypeError, "accesses is '100'; expected a whole number"),  # type: ignore[arg-type]
        (lambda: run(fill=80), ValueError, "fill is 80; expected a share from 0 to 1"),
        (lambda: run(rates=1000), TypeError, "rates is 1000; expected a list of bytes per second"),  # type: ignore[arg-type]
        (lambda: run(rates=[0]), ValueError, "rates is 0; expected 1 to"),
        (lambda: run(seed=-1), ValueError, "seed is -1; expected a whole number"),
        (lambda: run(erase_block_bytes=1 << 32), ValueError, "erase_block_bytes is 4294967296; expected"),
        (lambda: run(idle=1, burst_bytes=0), ValueError, "burst_bytes is 0; expected whole bytes from 1"),
        (lambda: run(beside=("a", "b", "c")), ValueError, "beside is .*; expected a path, or a label and a path"),  # type: ignore[arg-type]
        (lambda: run(device=5), TypeError, "device is 5; expected a name of steadyfs.devices"),  # type: ignore[arg-type]
        (lambda: run(timing="fast"), ValueError, "timing: found `fast`"),
        (lambda: run(workload="logs"), ValueError, "workload: found `logs`"),
        (lambda: steadyfs.costs(files=0), ValueError, "files is 0; expected a whole number from 1"),
        (lambda: steadyfs.bench(files=0), ValueError, "files is 0; expected a whole number from 1"),
        (lambda: steadyfs.bench(cache_pages=-1), ValueError, "cache_pages is -1; expected a whole number from 0 to 1,024"),
        (lambda: steadyfs.bench(cases="open"), TypeError, "cases is 'open'; expected a list of names"),
        (lambda: steadyfs.realtime(commit_every=0), ValueError, "commit_every is 0; expected a whole number from 1 to 1,000"),
        (lambda: steadyfs.realtime(accesses=0), ValueError, "accesses is 0; expected a whole number from 1,000"),
        (lambda: steadyfs.realtime(card), TypeError, "cards is 'sd-industrial'; expected a list of names"),
        (lambda: steadyfs.streams(fills=[80]), ValueError, "fills is 80; expected a share"),
        (lambda: steadyfs.streams(count=5), ValueError, "count is 5; expected a whole number from 2 to 4"),
        (lambda: steadyfs.transactions(files=0), ValueError, "files is 0; expected a whole number from 1"),
        (lambda: steadyfs.transactions(write_bytes=0), ValueError, "write_bytes is 0; expected whole bytes from 1"),
        (lambda: steadyfs.advise("w25q128jv", "log", effort=0), ValueError, "effort is 0; expected a share above 0"),
        (lambda: steadyfs.advise("w25q128jv", "log", effort=-1), ValueError, "effort is -1; expected a share"),
        (lambda: steadyfs.replay([1], 0), ValueError, "write_bytes is 0; expected whole bytes from 1"),
        (lambda: steadyfs.backlog([1], 0, 1), ValueError, "rate is 0; expected 1 to"),
    ]
    for call, kind, words in cases:
        with pytest.raises(kind, match=words):
            call()


def test_the_names_of_devices_are_those_that_the_calls_take() -> None:
    """The list of raw chips had one that every call refused. A message offered cards."""
    chips, cards = steadyfs.devices()
    for name in chips:
        runs.Evaluate(device=name).check()
    assert "sd-industrial" in cards
    with pytest.raises(OSError, match="expected one of") as error:
        steadyfs.Image.blank("mt29")
    assert all(name in str(error.value) for name in chips) and not any(name in str(error.value) for name in cards)


def test_a_progress_function_hears_of_a_run_and_may_end_it() -> None:
    heard: list[tuple[float, str]] = []
    steadyfs.evaluate("w25q128jv", accesses=100, progress=lambda share, phase: heard.append((share, phase)))
    shares = [share for share, _ in heard]
    assert shares == sorted(shares) and shares[-1] == 1.0

    def enough(share: float, phase: str) -> None:
        raise StopAsyncIteration("enough")

    for call in (
        lambda: steadyfs.evaluate(accesses=10_000_000, progress=enough),
        lambda: steadyfs.bench(progress=enough),
        lambda: steadyfs.costs(progress=enough),
        lambda: steadyfs.streams(progress=enough),
        lambda: steadyfs.realtime(progress=enough),
        lambda: steadyfs.transactions(copies=1_000_000, progress=enough),
        lambda: steadyfs.advise("mt29f1g01abafd", "files", progress=enough),
    ):
        with pytest.raises(StopAsyncIteration, match="enough"):
            call()


def test_ctrl_c_ends_a_run_and_says_nothing_else() -> None:
    # A shell's background jobs ignore the signal, and so would this one.
    handled = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)"
    script = f"{handled}\nimport steadyfs\nprint('runs', flush=True)\nsteadyfs.bench(progress=False)"
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stderr is not None
    assert child.stdout.readline() == "runs\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert errors.rstrip().endswith("KeyboardInterrupt") and "panicked" not in errors
    assert child.returncode == -signal.SIGINT


def test_other_threads_go_on_during_a_run() -> None:
    counted, ended = [0], threading.Event()

    def count() -> None:
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.monotonic()
    steadyfs.evaluate("w25q128jv", accesses=500, progress=False)
    seconds = time.monotonic() - begin
    ended.set()
    thread.join()
    assert counted[0] > 50 * seconds


def test_json_that_does_not_fit_is_refused() -> None:
    good = {"rate": 1, "bytes": None, "peak_bytes": 2}
    assert decode(lab.RateRow, json.dumps(good)) == lab.RateRow(1, None, 2)
    for wrong in ({**good, "more": 1}, {**good, "rate": None}, {**good, "rate": "1"}, {**good, "rate": True}, [good]):
        with pytest.raises(DoesNotFit):
            decode(lab.RateRow, json.dumps(wrong))
