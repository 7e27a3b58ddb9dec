"use strict";
// The parts of figures: axes, dots, bars, lines, tears and names.

const color = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const font = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", Arial, sans-serif';
const BYTE_STEPS = Array.from({ length: 44 }, (_, i) => 2 ** i);

// An axis in the colours of the theme.
const axis = (more) => Object.assign({
  stroke: color("soft"), font, grid: { stroke: color("faint"), width: 1 }, ticks: { show: false },
}, more);
const labelled = (text, more) => axis(Object.assign({ label: text, labelFont: font, labelSize: 20, labelGap: 0, size: 28 }, more));

/** Returns ticks at given values within the range of a scale, all of them labelled. */
const ticksAt = (values, more) => Object.assign({
  splits: (u, index, low, high) => values.filter(v => v >= low * 0.999 && v <= high * 1.001), filter: (u, ticks) => ticks,
}, more);
const DECADES = Array.from({ length: 16 }, (_, i) => 10 ** i);

// Path builders: one small square per value, and one bar per bin.
const dots = size => (u, series, from, to) => {
  const fill = new Path2D(), half = size * devicePixelRatio / 2, [xs, ys] = [u.data[0], u.data[series]];
  for (let i = from; i <= to; i++) {
    if (ys[i] === null) continue;
    const x = u.valToPos(xs[i], "x", true), y = u.valToPos(ys[i], "y", true);
    fill.rect(x - half, y - half, 2 * half, 2 * half);
  }
  return { stroke: null, fill };
};
const bars = width => (u, series, from, to) => {
  const fill = new Path2D(), [xs, ys] = [u.data[0], u.data[series]];
  const bottom = u.bbox.top + u.bbox.height;
  for (let i = from; i <= to; i++) {
    if (ys[i] === null) continue;
    const left = u.valToPos(xs[i] - width / 2, "x", true), right = u.valToPos(xs[i] + width / 2, "x", true);
    const top = u.valToPos(ys[i], "y", true);
    fill.rect(left, top, Math.max(right - left - devicePixelRatio, 1.5 * devicePixelRatio), bottom - top);
  }
  return { stroke: null, fill };
};

// Draws a dashed line at a value, across or upright, with a text beside it.
const mark = (value, upright, tone, text) => u => {
  const at = value();
  if (at === null) return;
  const { ctx, bbox } = u, pos = u.valToPos(at, upright ? "x" : "y", true), px = devicePixelRatio;
  if (upright ? pos < bbox.left || pos > bbox.left + bbox.width : pos < bbox.top || pos > bbox.top + bbox.height) return;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = color(tone);
  ctx.lineWidth = 1.4 * px;
  ctx.setLineDash([6 * px, 4 * px]);
  ctx.beginPath();
  if (upright) { ctx.moveTo(pos, bbox.top); ctx.lineTo(pos, bbox.top + bbox.height); }
  else { ctx.moveTo(bbox.left, pos); ctx.lineTo(bbox.left + bbox.width, pos); }
  ctx.stroke();
  ctx.font = font.replace("12px", 12 * px + "px");
  ctx.textBaseline = "alphabetic";
  const crowded = upright && pos - bbox.left < ctx.measureText(text()).width + 12 * px;
  ctx.textAlign = crowded ? "left" : "right";
  if (upright) ctx.fillText(text(), pos + (crowded ? 6 : -6) * px, bbox.top + 14 * px);
  else ctx.fillText(text(), bbox.left + bbox.width - 4 * px, pos - 6 * px);
  ctx.restore();
};

// Draws the tear of a broken axis: a zigzag across or upright.
const tear = (at, upright) => u => {
  const { ctx, bbox } = u, px = devicePixelRatio, pos = u.valToPos(at, upright ? "x" : "y", true), step = 6 * px;
  const from = upright ? bbox.top + 20 * px : bbox.left, to = upright ? bbox.top + bbox.height : bbox.left + bbox.width;
  ctx.save();
  ctx.strokeStyle = color("soft");
  ctx.lineWidth = px;
  ctx.beginPath();
  for (let i = 0; from + i * step <= to; i++) {
    const along = from + i * step, aside = pos + (i % 2 ? 2.5 : -2.5) * px;
    if (upright) ctx.lineTo(aside, along); else ctx.lineTo(along, aside);
  }
  ctx.stroke();
  ctx.restore();
};

// Names of levels, each `[value, value beside which the name stands, name]`. They are in a margin on
// the right. Without room for a margin, they are inside, at the levels themselves.
const LEADER = 16;
const hasMargin = (u, levels) => levels.length > 0 && u.width > 560;
const margin = levels => u => {
  if (!hasMargin(u, levels)) return 12;
  u.ctx.font = font.replace("12px", 12 * devicePixelRatio + "px");
  return LEADER + 8 + Math.max(...levels.map(([, , name]) => u.ctx.measureText(name).width)) / devicePixelRatio;
};
const names = levels => u => {
  const { ctx, bbox } = u, px = devicePixelRatio, right = bbox.left + bbox.width, outside = hasMargin(u, levels);
  ctx.save();
  ctx.font = font.replace("12px", 12 * px + "px");
  ctx.textBaseline = "middle";
  ctx.textAlign = outside ? "left" : "right";
  ctx.lineWidth = px;
  const taken = [];
  for (const [ms, at, name] of levels) {
    const level = u.valToPos(ms, "y", true), y = u.valToPos(at, "y", true);
    // A name within the plot stays above the labels of the axis.
    const inside = Math.min(level, bbox.top + bbox.height - 8 * px);
    if (outside) {
      ctx.strokeStyle = color("soft");
      ctx.beginPath();
      ctx.moveTo(right, level);
      ctx.lineTo(right + (LEADER - 6) * px, y);
      ctx.lineTo(right + LEADER * px, y);
      ctx.stroke();
    } else if (taken.every(other => Math.abs(other - inside) > 18 * px)) {
      taken.push(inside);
      const width = ctx.measureText(name).width + 8 * px;
      ctx.fillStyle = color("card");
      ctx.fillRect(right - width, inside - 8 * px, width + 4 * px, 16 * px);
    } else continue;
    ctx.fillStyle = color("ink");
    ctx.fillText(name, outside ? right + (LEADER + 4) * px : right - 4 * px, outside ? y : inside);
  }
  ctx.restore();
};
