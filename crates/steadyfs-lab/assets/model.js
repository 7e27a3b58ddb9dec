"use strict";
// The backlog equation in the page. It follows the library's `backlog` and `envelope` modules, in
// doubles and bytes.
const model = {
  /** Returns whole bytes, rounded up; a millionth allows for the rounding of doubles. */
  whole: bytes => Math.ceil(bytes - 1e-6),

  /** Returns the relation of a rate to the mean rate: "below" up to 95 % of it, "near", or "above". */
  load(data, rate) {
    const written = data.access_ns.length * data.write_bytes * 1e9;
    return data.total_ns * rate > written ? "above" : data.total_ns * Math.ceil(rate * 100 / 95) > written ? "near" : "below";
  },

  /**
   * Returns the greatest backlog left after an access, and the greatest within one. Calls `each`, if
   * there is one, with both backlogs of every access.
   */
  backlog(data, rate, each) {
    const perNs = rate / 1e9, written = data.write_bytes, access = data.access_ns;
    let left = 0, mostLeft = 0, mostPeak = 0;
    for (let k = 0; k < access.length; k++) {
      const peak = left + access[k] * perNs;
      left = peak > written ? peak - written : 0;
      if (left > mostLeft) mostLeft = left;
      if (peak > mostPeak) mostPeak = peak;
      if (each) each(k, left, peak);
    }
    return { left: mostLeft, peak: mostPeak };
  },

  /**
   * Returns the most bytes left after any access of any run within the promised envelopes; null if
   * none is promised.
   */
  guaranteed(data, rate) {
    if (data.bound_ns === null) return null;
    const lines = data.envelopes.concat([[0, data.bound_ns]]);
    if (!lines.some(([, perAccess]) => perAccess * rate <= data.write_bytes * 1e9)) return null;
    const lengths = [1];
    for (const [steepBurst, steep] of lines) for (const [flatBurst, flat] of lines) {
      if (flat >= steep || flatBurst <= steepBurst) continue;
      const crossing = Math.floor((flatBurst - steepBurst) / (steep - flat));
      lengths.push(Math.max(1, crossing), crossing + 1);
    }
    let most = 0;
    for (const n of lengths) {
      const longest = Math.min(...lines.map(([burst, perAccess]) => burst + n * perAccess));
      most = Math.max(most, longest * rate / 1e9 - n * data.write_bytes);
    }
    return most;
  },

  /** Returns the promised buffer in whole bytes; null if none is promised. */
  promised(data, rate) {
    const bytes = model.guaranteed(data, rate);
    return bytes === null ? null : model.whole(bytes);
  },

  /** Returns the index of the greatest value, the first of equal ones. */
  greatest: values => values.reduce((top, value, i) => value > values[top] ? i : top, 0),

  /** Returns true if a line shows anything: a legend names no line that is nowhere drawn. */
  isDrawn: values => values.some(value => value !== null),

  /**
   * Returns indices of at most about `points` values. They keep the minimum and the maximum of every
   * stretch.
   */
  thin(values, points) {
    const count = values.length, picked = [];
    if (count <= points) { for (let i = 0; i < count; i++) picked.push(i); return picked; }
    const stretches = points >> 1;
    for (let s = 0; s < stretches; s++) {
      const from = Math.floor(count * s / stretches), to = Math.floor(count * (s + 1) / stretches);
      let low = from, high = from;
      for (let i = from + 1; i < to; i++) {
        if (values[i] < values[low]) low = i;
        if (values[i] > values[high]) high = i;
      }
      picked.push(Math.min(low, high));
      if (low !== high) picked.push(Math.max(low, high));
    }
    return picked;
  },
};
