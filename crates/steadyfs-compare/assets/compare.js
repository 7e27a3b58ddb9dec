"use strict";
// The slider for the rate, and tables that are sorted by a column. Without it every figure and every number is there as well.

const rates = JSON.parse(document.getElementById("rates").textContent);

for (const card of document.querySelectorAll(".needs-card")) {
  const slider = card.querySelector("input"), output = card.querySelector("output");
  const show = () => {
    const at = +slider.value;
    output.textContent = rateText(rates[at]);
    slider.setAttribute("aria-valuetext", output.textContent);
    for (const item of card.querySelectorAll("li")) {
      const bytes = JSON.parse(item.dataset.needs)[at];
      item.querySelector("strong").textContent = leftText(bytes);
    }
  };
  slider.addEventListener("input", show);
  show();
}

const UNITS = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, min: 6e10, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4,
  "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "%": 1 };
/** The number that a cell begins with, in its unit; what is no number stands last. */
const key = cell => {
  const [, number, unit] = /^([\d,.]+)\s*([^\s\d/·]+(?:\/s)?)?/.exec(cell.textContent) ?? [];
  return number === undefined ? Infinity : +number.replaceAll(",", "") * (UNITS[unit] ?? 1);
};
for (const button of document.querySelectorAll("table.answer th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0], at = head.cellIndex;
    const falls = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    const order = (a, b) => {
      const [x, y] = [key(a.cells[at]), key(b.cells[at])];
      return x === y ? a.cells[at].textContent.localeCompare(b.cells[at].textContent) : x - y;
    };
    const rows = [...body.rows].sort(order);
    body.append(...(falls ? rows.reverse() : rows));
  });
}
