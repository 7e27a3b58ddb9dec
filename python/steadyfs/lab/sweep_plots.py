"""The figures of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyfs.lab.plots import BLUE, GREY, RED, SERIES, Chart, plain, say_rates, say_sizes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from steadyfs.sweeping import Sweep


def _possible(sweep: Sweep) -> pd.DataFrame:
    frame = sweep.frame()
    found = frame[frame["error"].isna()]
    if found.empty:
        raise ValueError(f"{sweep.path}: no run was possible; `failed()` returns the reasons")
    return found


def ram(sweep: Sweep) -> Figure:
    """Draw the RAM of each chip for each rate: buffer and file system, the largest of all runs."""
    frame = _possible(sweep)
    chart = Chart(7.5, 4.0)
    axes = chart.subplots()
    plain(axes, "RAM for buffer and file system, the most of all runs; a line ends where no finite buffer suffices")
    drawn = False
    for index, (device, runs) in enumerate(frame.groupby("device", sort=False)):
        points = []
        for rate in sweep.rates:
            buffers = runs[f"buffer_bytes_at_{rate}"]
            if buffers.notna().all():
                points.append((rate, float((buffers + runs["ram_bytes"]).max())))
        drawn = drawn or bool(points)
        colour = SERIES[index % len(SERIES)]
        axes.plot([rate for rate, _ in points], [size for _, size in points], "o-", color=colour, label=str(device), linewidth=1.6)
    if drawn:
        axes.set_xscale("log")
        axes.set_yscale("log", base=2)
    say_rates(axes)
    say_sizes(axes)
    axes.set_xlabel("input rate" if drawn else "no finite buffer suffices for any of these rates", fontsize=8)
    axes.legend(frameon=False, fontsize=8)
    return chart


def _points(sweep: Sweep) -> pd.DataFrame:
    """Return the means over the seeds for each point of the grid.

    The figures are RAM, longest access, and pages programmed for each page of data.
    """
    frame = _possible(sweep)
    columns = ["idle_ns" if axis == "idle" else axis for axis in sweep.axes]
    wanted = ["ram_bytes", "max_us", "programs_per_data_page"]
    if not columns:
        return frame[wanted].mean().to_frame().T
    return frame.groupby(columns, sort=False, dropna=False)[wanted].mean().reset_index()


def pareto(sweep: Sweep) -> Figure:
    """Draw RAM, time and wear of each point of the grid.

    Filled points are the front: no other point beats them in all three.
    """
    points = _points(sweep)
    values = points[["ram_bytes", "max_us", "programs_per_data_page"]].to_numpy(float)
    beaten = [bool(np.any(np.all(values <= row, axis=1) & np.any(values < row, axis=1))) for row in values]
    chart = Chart(7.5, 4.2)
    axes = chart.subplots()
    plain(axes, "RAM, time and wear of each point; filled: nothing beats it in all three")
    wear = values[:, 2] / max(1e-9, float(values[:, 2].max()))
    for row, is_beaten, size in zip(values, beaten, wear):
        face = "none" if is_beaten else BLUE
        axes.plot(row[1], row[0], "o", markersize=4 + 12 * size, markerfacecolor=face, markeredgecolor=GREY if is_beaten else BLUE)
    axes.set_xscale("log")
    say_sizes(axes)
    axes.set_xlabel("longest access, µs; the larger the circle, the more pages are programmed for each page of data", fontsize=8)
    axes.set_ylabel("RAM of the file system", fontsize=8)
    columns = [name for name in points.columns if name not in ("ram_bytes", "max_us", "programs_per_data_page")]
    for index, is_beaten in enumerate(beaten):
        if not is_beaten and len(points) <= 24:
            label = ", ".join(str(points[name].iloc[index]) for name in columns)
            axes.annotate(label, (values[index, 1], values[index, 0]), xytext=(7, 5), textcoords="offset points", fontsize=7)
    axes.margins(0.15)
    return chart


def effects(sweep: Sweep, figure: str) -> Figure:
    """Draw the effect of each axis: the largest mean of a figure as a multiple of the smallest."""
    frame = _possible(sweep)
    if figure not in frame.columns:
        raise ValueError(f"found {figure!r}; expected a column of the table, such as 'max_us'")
    spans = []
    for axis in (*sweep.axes, "seed"):
        means = frame.groupby("idle_ns" if axis == "idle" else axis, dropna=False)[figure].mean()
        if len(means) > 1:
            spans.append((axis, float(means.max() / means.min()) if means.min() > 0 else float("nan")))
    spans.sort(key=lambda span: -span[1] if span[1] == span[1] else 0.0)
    chart = Chart(6.5, 0.9 + 0.32 * max(1, len(spans)))
    axes = chart.subplots()
    plain(axes, f"Which axis matters: the largest mean of {figure} as a multiple of the smallest")
    colours = [RED if index == 0 else BLUE for index in range(len(spans))]
    axes.barh([name for name, _ in spans], [span - 1 for _, span in spans], left=1, color=colours, height=0.6)
    axes.invert_yaxis()
    axes.set_xlim(left=1)
    return chart
