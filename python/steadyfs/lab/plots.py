"""Figures, in the colours and words of the reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Optional

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from steadyfs.words import said_rate, said_size

if TYPE_CHECKING:
    from io import BytesIO

    from matplotlib.axes import Axes

    from steadyfs.lab.evaluation import Evaluation, Replay
    from steadyfs.lab.tables import Advice, Bench, Costs, Realtime, Streams, Transactions
    from steadyfs.lab.times import Times

BLUE, DARK, RED, YELLOW, GREY, SOFT = "#2f6fde", "#14479e", "#d4552a", "#e8b23a", "#7b8494", "#b9d0f7"
"""The colours of the reports.

In order: measured values, further measured values, promised values, others, compared values, faint.
"""
SERIES = (BLUE, RED, YELLOW, GREY, DARK, "#8f2f10", "#7ba6ee", "#5c6878")
_POINTS = 20_000


class Chart(Figure):
    """A figure that notebooks display."""

    def __init__(self, width: float = 9.0, height: float = 3.6) -> None:
        """Make an empty figure. Sizes are inches."""
        super().__init__(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(self)

    def _repr_png_(self) -> bytes:
        from io import BytesIO

        png: BytesIO = BytesIO()
        self.savefig(png, format="png", dpi=110)
        return png.getvalue()


def plain(axes: Axes, title: str) -> None:
    """Set the title of axes, and the style of the reports."""
    axes.set_title(title, loc="left", fontsize=10, color="#1c2430")
    axes.grid(color="#e4e7ec", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors="#5b6472", labelsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#a7b0bd")


def say_sizes(axes: Axes) -> None:
    """Format the sizes of the vertical axis."""
    if axes.get_yscale() == "symlog":
        axes.set_yticks([0, *(1024 << (2 * power) for power in range(8) if 1024 << (2 * power) <= axes.get_ylim()[1])])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: said_size(value)))


def say_rates(axes: Axes) -> None:
    """Format the rates of the horizontal axis."""
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: said_rate(value)))


def _dots(axes: Axes, access_ns: Times, bound_us: Optional[float]) -> None:
    """Draw each access as a dot.

    Of many accesses, draw the longest of each stretch, and an even selection of the others.
    """
    step = max(1, len(access_ns) // _POINTS)
    index = np.arange(0, len(access_ns), step)
    if step > 1 and len(access_ns):
        stretches = np.add(index[:-1], [int(np.argmax(access_ns[at : at + step])) for at in index[:-1]])
        index = np.unique(np.concatenate([index, stretches]))
    axes.plot(index, access_ns[index] / 1e6, ".", color=BLUE, alpha=0.55, markersize=3, markeredgewidth=0)
    if bound_us is not None:
        axes.axhline(bound_us / 1e3, color=RED, linestyle=(0, (6, 4)), linewidth=1.4)
        axes.annotate(
            f"promised: at most {bound_us / 1e3:.3f} ms",
            (1, bound_us / 1e3),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 4),
            textcoords="offset points",
            ha="right",
            color="#bd4a24",
            fontsize=8,
        )
        axes.set_ylim(0, bound_us / 1e3 * 1.12)
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel("access", fontsize=8)
    axes.set_ylabel("access time, ms", fontsize=8)


def _need(axes: Axes, access_ns: Times, write_bytes: int, rates: Sequence[int], guaranteed: Sequence[Optional[int]]) -> None:
    """Draw the buffer that every input rate needs. The requested rates are points."""
    from steadyfs import _native

    data = access_ns.astype("<u8", copy=False).tobytes()
    total = int(access_ns.sum())
    most = write_bytes * len(access_ns) * 1e9 / total if total else float(max(rates, default=1))
    asked = [rate for rate in rates if rate <= most]
    grid = np.unique(np.concatenate([np.geomspace(most / 100, most, 40), np.array(asked, float)])).astype(np.int64)
    found = [(rate, _native.backlog_of(data, int(rate), write_bytes)) for rate in grid if rate > 0]
    points = [(rate, level[0]) for rate, level in found if level is not None]
    axes.plot([rate for rate, _ in points], [left for _, left in points], color=BLUE, linewidth=1.6, label="seen in this run")
    marks = [(rate, _native.backlog_of(data, rate, write_bytes)) for rate in asked]
    axes.plot([rate for rate, level in marks if level], [level[0] for _, level in marks if level], "o", color=BLUE, markersize=5)
    promised = [(rate, left) for rate, left in zip(rates, guaranteed) if left is not None]
    if promised:
        axes.plot([rate for rate, _ in promised], [left for _, left in promised], "D", color=RED, markersize=5, label="promised")
    axes.axvline(most, color=GREY, linewidth=1, linestyle=":")
    axes.annotate(
        "no finite buffer beyond",
        (most, 1),
        xycoords=("data", "axes fraction"),
        xytext=(-4, -4),
        textcoords="offset points",
        rotation=90,
        va="top",
        ha="right",
        fontsize=7,
        color="#5b6472",
    )
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1024)
    axes.set_ylim(bottom=0)
    say_rates(axes)
    say_sizes(axes)
    axes.set_xlabel("input rate", fontsize=8)
    axes.set_ylabel("RAM for the buffer", fontsize=8)
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def _accesses_and_need(
    title: str, access_ns: Times, bound_us: Optional[float], write_bytes: int, rates: Sequence[int], guaranteed: Sequence[Optional[int]]
) -> Figure:
    chart = Chart()
    left, right = chart.subplots(1, 2, width_ratios=(3, 2))
    plain(left, title)
    _dots(left, access_ns, bound_us)
    plain(right, "RAM that a data rate needs")
    _need(right, access_ns, write_bytes, rates, guaranteed)
    return chart


def evaluation(run: Evaluation) -> Figure:
    """Draw each access with the promised bound, and the buffer that input rates need."""
    title = f"{run.device}: {run.accesses:,} {run.workload} writes of {said_size(run.write_bytes)}, {run.fill:.0%} full"
    rates, guaranteed = [row.rate for row in run.backlog], [row.guaranteed_bytes for row in run.backlog]
    return _accesses_and_need(title, run.access_ns, run.bound_us, run.write_bytes, rates, guaranteed)


def replay(run: Replay) -> Figure:
    """Draw each access of a trace, and the buffer that input rates need."""
    title = f"{run.trace}: {run.accesses:,} writes of {said_size(run.write_bytes)}"
    return _accesses_and_need(title, run.access_ns, None, run.write_bytes, [row.rate for row in run.backlog], [])


def _levels(
    names: Sequence[str], bars: Sequence[tuple[str, str, Sequence[Optional[float]]]], title: str, unit: str, logarithmic: bool = True
) -> Figure:
    """Draw groups of horizontal bars, one group for each name.

    A bar has a label, a colour and its values.
    """
    chart = Chart(9.0, 0.9 + 0.17 * len(names) * (len(bars) + 0.6))
    axes = chart.subplots()
    plain(axes, title)
    places = np.arange(len(names), dtype=float)
    height = 0.8 / max(1, len(bars))
    for index, (label, colour, values) in enumerate(bars):
        widths = [np.nan if value is None else value for value in values]
        axes.barh(places + height * (index - (len(bars) - 1) / 2), widths, height * 0.9, color=colour, label=label)
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    if logarithmic:
        axes.set_xscale("log")
    axes.set_xlabel(unit, fontsize=8)
    if len(bars) > 1:
        axes.legend(frameon=False, fontsize=8, loc="best")
    return chart


def bench(report: Bench) -> Figure:
    """Draw the mean of each case beside the limit of the chip."""
    rows = [row for row in report.rows if row.mean_us is not None]
    bars = [
        ("limit of the chip", SOFT, [row.limit_us or None for row in rows]),
        ("mean", BLUE, [row.mean_us for row in rows]),
        ("promised", RED, [row.bound_us for row in rows]),
    ]
    return _levels([row.case for row in rows], bars, f"{report.system} on {report.device}", "time of a call, µs")


def costs(report: Costs) -> Figure:
    """Draw mean, maximum and bound of each call."""
    bars = [
        ("mean", BLUE, [row.mean_us or None for row in report.calls]),
        ("longest", DARK, [row.max_us or None for row in report.calls]),
        ("promised", RED, [row.bound_us or None for row in report.calls]),
    ]
    return _levels([row.call for row in report.calls], bars, f"{report.device}: calls with their commits", "time, µs")


def streams(report: Streams) -> Figure:
    """Draw the amplification of each run."""
    ways = list(dict.fromkeys(row.streams for row in report.rows))
    groups = list(dict.fromkeys((row.writes, row.fill) for row in report.rows))
    found = {(row.writes, row.fill, row.streams): row.amplification for row in report.rows}
    colours = (GREY, BLUE, DARK, RED, "#8f2f10")
    bars = [(way, colours[index % 5], [found.get((*group, way)) for group in groups]) for index, way in enumerate(ways)]
    names = [f"{writes}, {fill:.0%} full" for writes, fill in groups]
    return _levels(names, bars, f"{report.device}: what streams save", "pages programmed for each page written", False)


def realtime(report: Realtime) -> Figure:
    """Draw the buffer that each medium needs for each rate."""
    chart = Chart(9.0, 4.0)
    axes = chart.subplots()
    plain(axes, "RAM for the buffer, for each input rate; a line ends where no finite buffer suffices")
    for index, row in enumerate(report.rows):
        points = [(level.rate, level.buffer_bytes) for level in row.backlog if level.buffer_bytes is not None]
        label = f"{row.medium}" + ("" if row.commit_every == 1 else f", a commit each {row.commit_every} writes")
        axes.plot(
            [rate for rate, _ in points], [size for _, size in points], "o-", color=SERIES[index % len(SERIES)], label=label, linewidth=1.6
        )
    axes.axhline(report.ram_bytes, color=RED, linestyle=(0, (6, 4)), linewidth=1)
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1024)
    axes.set_ylim(bottom=0)
    say_rates(axes)
    say_sizes(axes)
    axes.legend(frameon=False, fontsize=8)
    return chart


def transactions(report: Transactions) -> Figure:
    """Draw the time of each call, for each choice of events."""
    pairs = [(device.device, row) for device in report.devices for row in device.rows]
    names = [f"{device}: {row.system}" + (f", {row.commit_on}" if row.commit_on else "") for device, row in pairs]
    colours = (BLUE, "#7ba6ee", YELLOW, RED, GREY)
    bars = [(call, colours[index], [row.us[index] or None for _, row in pairs]) for index, call in enumerate(report.CALLS)]
    return _levels(names, bars, f"Who pays for a commit: {report.files} files of {said_size(report.write_bytes)}", "time, µs")


def advice(report: Advice) -> Figure:
    """Draw RAM and time of the best settings, and of their neighbours."""
    chart = Chart(6.0, 3.6)
    axes = chart.subplots()
    plain(axes, f"{report.device}, {report.workload}, {report.fill:.0%} full: the best, and one setting changed")
    for index, row in enumerate(report.settings):
        axes.plot(row.mean_us, row.ram_bytes, "o" if index else "D", color=BLUE if index else RED, markersize=6)
        axes.annotate(
            row.differs or "best", (row.mean_us, row.ram_bytes), xytext=(5, 4), textcoords="offset points", fontsize=8, color="#5b6472"
        )
    say_sizes(axes)
    axes.set_xlabel("mean time of a step, µs", fontsize=8)
    axes.set_ylabel("RAM", fontsize=8)
    axes.margins(0.25)
    return chart
