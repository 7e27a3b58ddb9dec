"use strict";
// The figures of the page and its slider.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const access = data.access_ns;
  data.total_ns = access.reduce((sum, ns) => sum + ns, 0);
  const POINTS = 50000;
  const promised = data.bound_ns !== null;
  const element = id => document.getElementById(id);

  // The axis of access times ends with the scale. A promise far beyond it is drawn behind a tear.
  const view = data.view;
  const scaleEnd = view.break_ms ?? view.end_ms;
  const msAxis = more => Object.assign({
    filter: (u, ticks) => ticks.map(ms => ms > scaleEnd ? null : ms), values: (u, ticks) => ticks.map(ms => ms === null ? null : trim(ms, 3) + " ms"),
  }, more);
  const msGrid = () => ({ stroke: color("faint"), width: 1, filter: (u, ticks) => ticks.map(ms => ms > scaleEnd ? null : ms) });
  const promise = (upright, text) => !promised ? [] :
    [mark(() => view.bound_at_ms, upright, "red", () => text + timeText(data.bound_ns / 1e6))].concat(view.break_ms === null ? [] : tear(view.break_ms, upright));

  const charts = [];
  const chart = (id, height, options, values) => {
    const host = element(id);
    const made = new uPlot(Object.assign({ width: host.clientWidth || 300, height, cursor: { points: { size: 7 } } }, options), values, host);
    charts.push([made, host, height]);
    return made;
  };
  const fit = () => charts.forEach(([made, host, height]) => {
    if (host.clientWidth && host.clientWidth !== made.width) made.setSize({ width: host.clientWidth, height });
  });

  function accessChart() {
    const picked = model.thin(access, POINTS), longest = () => picked.indexOf(model.greatest(access));
    chart("access", 350, {
      padding: [null, margin(data.levels), null, null],
      scales: { x: { time: false }, y: { range: () => [0, view.end_ms] } },
      axes: [labelled("access", { values: (u, ticks) => ticks.map(countText) }), axis(msAxis({ size: 64, grid: msGrid() }))],
      series: [{ label: "Access", value: follow(countText, longest, "the longest") },
        { label: "took", stroke: color("blue"), fill: color("dot"), paths: dots(access.length > 5000 ? 2.2 : 3), points: { show: false },
          value: follow(timeText, longest) }],
      hooks: { draw: promise(false, "promised: at most ").concat(names(data.levels)) },
    }, [picked, picked.map(i => access[i] / 1e6)]);
  }

  function distributionChart() {
    const bins = 60, width = view.end_ms / bins, counts = new Array(bins).fill(0);
    for (const ns of access) counts[Math.min(bins - 1, Math.floor(ns / 1e6 / width))]++;
    const most = counts.reduce((a, b) => Math.max(a, b), 1), fullest = () => counts.indexOf(most);
    chart("distribution", 270, {
      scales: { x: { time: false, range: () => [0, view.end_ms] }, y: { distr: 3, range: () => [0.7, most * 4] } },
      axes: [labelled("access time", msAxis({ grid: msGrid() })),
        axis(ticksAt(DECADES, { size: 56, values: (u, ticks) => ticks.map(countText) }))],
      series: [{ label: "Around", value: follow(timeText, fullest, "the most") },
        { label: "accesses", fill: color("blue"), paths: bars(width), points: { show: false }, value: follow(countText, fullest) }],
      hooks: { draw: promise(true, "promised longest: ") },
    }, [counts.map((_, i) => (i + 0.5) * width), counts.map(n => n || null)]);
  }

  // The slider ends a little beyond the rate that the accesses sustain, and beyond the rates of the table.
  const mean = data.total_ns > 0 ? access.length * data.write_bytes * 1e9 / data.total_ns : 1e9;
  const highest = Math.max(mean * 1.3, ...data.rates.map(r => r * 1.2)), lowest = Math.min(mean / 50, highest / 10, ...data.rates.map(r => r / 1.2));
  const rateAt = place => +(lowest * (highest / lowest) ** (place / 1000)).toPrecision(3);
  const placeOf = rate => 1000 * Math.log(rate / lowest) / Math.log(highest / lowest);
  let rate = data.opening_rate;

  const ends = new Float64Array(access.length);
  access.reduce((sum, ns, k) => ends[k] = sum + ns / 1e9, 0);
  const lefts = new Float64Array(access.length);
  let overviewPlot, detailPlot, curvePlot;

  /** Returns the greatest level in each of at most a thousand stretches, and its time. */
  function overviewValues() {
    const stretches = Math.min(1000, access.length), times = [], levels = [];
    for (let s = 0; s < stretches; s++) {
      const from = Math.floor(access.length * s / stretches), to = Math.floor(access.length * (s + 1) / stretches);
      let top = from;
      for (let k = from + 1; k < to; k++) if (lefts[k] > lefts[top]) top = k;
      times.push(ends[top]);
      levels.push(lefts[top]);
    }
    return [times, levels];
  }
  /**
   * Returns the level around its greatest value. It rises within every access, and falls by one write
   * at its end.
   */
  function detailValues() {
    const top = model.greatest(lefts);
    const from = Math.max(0, Math.min(top - 24, access.length - 48)), to = Math.min(access.length, from + 48);
    const times = [], levels = [], after = [], origin = from > 0 ? ends[from - 1] : 0;
    element("detail-origin").textContent = trim(origin, 3) + " s";
    for (let k = from; k < to; k++) {
      const before = k > 0 ? lefts[k - 1] : 0, start = k > 0 ? ends[k - 1] : 0;
      times.push((start - origin) * 1e3, (ends[k] - origin) * 1e3);
      levels.push(before, before + access[k] * rate / 1e9);
      after.push(null, lefts[k]);
    }
    return [times, levels, after];
  }
  const levelAxis = () => axis({ size: 70, incrs: BYTE_STEPS, values: (u, ticks) => ticks.map(sizeTick) });
  const levelRange = (u, low, high) => [0, Math.max(high, 1024) * 1.08];
  const level = bytes => sizeText(model.whole(bytes));

  function backlogCharts() {
    const seconds = decimals => v => trim(v, decimals) + " s", top = series => u => model.greatest(u.data[series]);
    overviewPlot = chart("backlog", 170, {
      scales: { x: { time: false }, y: { range: levelRange } },
      axes: [labelled("time spent in accesses", { values: (u, ticks) => ticks.map(seconds(4)) }), levelAxis()],
      series: [{ label: "After", value: follow(seconds(3), top(1), "the greatest") },
        { label: "left in the buffer, at most", stroke: color("blue"), fill: color("blue-soft"), width: 1.4, points: { show: false },
          value: follow(level, top(1)) }],
    }, overviewValues());
    detailPlot = chart("detail", 230, {
      scales: { x: { time: false }, y: { range: levelRange } },
      axes: [labelled("time spent in accesses", { values: (u, ticks) => ticks.map(ms => trim(ms, 3) + " ms") }), levelAxis()],
      series: [{ label: "After", value: follow(ms => trim(ms, 3) + " ms", top(1), "the greatest") },
        { label: "in the buffer", stroke: color("blue"), fill: color("blue-soft"), width: 1.4, points: { show: false }, value: follow(level, top(1)) },
        { label: "left after the access", stroke: color("red"), fill: color("red"), paths: dots(5), points: { show: false }, value: follow(level, top(1)) }],
    }, detailValues());
  }

  function curveChart() {
    const rates = [], left = [], guaranteed = [], points = access.length > 200000 ? 60 : 160, least = 16;
    // A logarithmic axis has no zero, so values below `least` are not drawn.
    const drawn = bytes => bytes === null || bytes < least ? null : bytes;
    for (let i = 0; i <= points; i++) {
      const r = lowest * (highest / lowest) ** (i / points);
      rates.push(r);
      left.push(model.load(data, r) === "below" ? drawn(model.backlog(data, r).left) : null);
      guaranteed.push(drawn(model.guaranteed(data, r)));
    }
    const most = Math.max(1024, ...left, ...guaranteed), bytes = { width: 2, points: { show: false } };
    const atRate = text => (u, v, series, index) => text(index == null ? rate : u.data[0][index]);
    const lines = [[left, Object.assign({ label: "RAM needed", stroke: color("blue"),
      value: atRate(r => leftText(model.load(data, r) === "below" ? model.whole(model.backlog(data, r).left) : null)) }, bytes)]];
    if (model.isDrawn(guaranteed)) lines.push([guaranteed, Object.assign({ label: "guaranteed", stroke: color("red"), dash: [6, 4],
      value: atRate(r => promiseText(model.promised(data, r))) }, bytes)]);
    const marks = highest / lowest > 200 ? DECADES : DECADES.flatMap(r => [r, 3 * r]);
    curvePlot = chart("curve", 270, {
      scales: { x: { time: false, distr: 3, range: () => [lowest, highest] },
        y: { distr: 3, log: 2, range: () => [least, 2 ** Math.ceil(Math.log2(most * 1.2))] } },
      axes: [labelled("input rate", ticksAt(marks, { values: (u, ticks) => ticks.map(rateText) })),
        axis(ticksAt(BYTE_STEPS.filter((_, i) => i % 2 === 0), { size: 66, values: (u, ticks) => ticks.map(sizeTick) }))],
      series: [{ label: "At", value: atRate(rateText) }].concat(lines.map(([, series]) => series)),
      hooks: { draw: [mark(() => rate, true, "soft", () => rateText(rate))] },
    }, [rates].concat(lines.map(([values]) => values)));
  }

  function answer() {
    const worst = model.backlog(data, rate), load = model.load(data, rate), isBelow = load === "below";
    const left = isBelow ? model.whole(worst.left) : null, peak = isBelow ? model.whole(worst.peak) : null;
    const guaranteed = model.promised(data, rate);
    const texts = { "rate-text": rateText(rate), "tile-rate": rateText(rate), "tile-left": leftText(left), left: leftText(left),
      peak: leftText(peak), guaranteed: promiseText(guaranteed) };
    if (promised) texts["tile-guaranteed"] = texts.guaranteed;
    for (const id in texts) element(id).textContent = texts[id];
    slider.setAttribute("aria-valuetext", rateText(rate));
    const unit = sizeText(data.write_bytes), meanText = timeText(data.total_ns / access.length / 1e6);
    const at = `At ${rateText(rate)}`, beside = `beside the ${unit} of the write in progress`;
    const need = left ? sizeText(left) : "no buffer";
    // A promise stands before an observation.
    const verdict = load === "near" ? `${at}, above 95 % of the mean rate, the buffer depends on the length of the run.`
      : !isBelow ? `${at} no finite buffer suffices: ${unit} arrive every ${timeText(data.write_bytes / rate * 1e3)}, and an access takes ${meanText} on average.`
      : !promised ? `${at} these accesses need ${need} ${beside}.`
      : guaranteed === null ? `${at} no finite buffer is promised. These accesses need ${need} ${beside}.`
      : guaranteed === 0 ? `${at} it is promised that no run needs a buffer ${beside}.`
      : `${at} the promise for every run is ${sizeText(guaranteed)}. These accesses need ${need} ${beside}.`;
    element("verdict").textContent = verdict;
    model.backlog(data, rate, (k, left) => { lefts[k] = left; });
    overviewPlot.setData(overviewValues());
    detailPlot.setData(detailValues());
    curvePlot.redraw(false, true);
    [overviewPlot, detailPlot, curvePlot].forEach(plot => plot.setLegend({ idx: null }, false));
  }

  function draw() {
    charts.splice(0).forEach(([made]) => made.destroy());
    accessChart();
    distributionChart();
    backlogCharts();
    curveChart();
    answer();
  }

  const slider = element("rate");
  const choose = (next, moved) => { rate = next; if (!moved) slider.value = placeOf(rate); answer(); };
  slider.addEventListener("input", () => choose(rateAt(+slider.value), true));
  document.querySelectorAll("button[data-rate]").forEach(button => button.addEventListener("click", () => {
    choose(+button.dataset.rate, false);
    slider.scrollIntoView({ block: "center", behavior: "smooth" });
  }));
  slider.value = placeOf(rate);

  // A phone folds everything except the sentence, the slider and one figure.
  const phone = matchMedia("(max-width: 600px)"), folds = document.querySelectorAll("details");
  const fold = () => document.querySelectorAll("details.fold").forEach(part => { part.open = !phone.matches; });
  phone.addEventListener("change", fold);
  folds.forEach(part => part.addEventListener("toggle", fit));
  fold();
  draw();
  addEventListener("resize", fit);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
