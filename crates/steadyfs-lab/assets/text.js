"use strict";
// Numbers as text, and the values of a legend.

// Rates are decimal, sizes binary, as everywhere in the project.
const trim = (value, decimals) => String(+value.toFixed(decimals));
const rateText = r => r < 999.5 ? trim(r, 0) + " B/s" : r < 999950 ? trim(r / 1e3, 1) + " kB/s" : trim(r / 1e6, 2) + " MB/s";
const sizeText = b => b < 1024 ? trim(b, 0) + " B" : b < 1048525 ? trim(b / 1024, 1) + " KiB"
  : b < 1073689396 ? trim(b / 1048576, 1) + " MiB" : trim(b / 1073741824, 2) + " GiB";
const timeText = ms => ms < 1 ? trim(ms * 1e3, 1) + " µs" : ms < 1000 ? trim(ms, 3) + " ms" : trim(ms / 1e3, 3) + " s";
const countText = n => n.toLocaleString("en-US");

const leftText = b => b === null ? "near or above the mean rate" : sizeText(b);
const promiseText = b => b === null ? "no promise" : sizeText(b);
// A tick of a size is exact: 1.25 KiB, not 1.3 KiB.
const sizeTick = b => b < 1024 || b >= 1048576 ? sizeText(b) : trim(b / 1024, 3) + " KiB";

/**
 * Returns the values of a legend. They are at the pointer or, without a pointer, at `standing`, which
 * `name` names.
 */
const follow = (text, standing, name) => (u, v, series, index) => {
  const at = index ?? standing(u), value = u.data[series][at];
  return value == null ? "none" : text(value) + (index == null && name ? ` (${name})` : "");
};
