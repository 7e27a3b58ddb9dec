// Looks at a report as it is laid out: what is wider than the page, texts of figures that overlap, text too faint for AA; moves its sliders, and
// holds what the page then says against its own data; and writes what it found into the page.
(async () => {
  const found = [];
  const name = e => `${e.tagName.toLowerCase()} "${e.textContent.trim().slice(0, 40)}"`;
  const hasText = e => [...e.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
  const isShown = e => getComputedStyle(e).visibility === 'visible' && e.getClientRects().length > 0;
  const skipped = ['SCRIPT', 'STYLE', 'TITLE', 'DESC'];
  const textsNow = () => [...document.querySelectorAll('body *')].filter(e => hasText(e) && isShown(e) && !skipped.includes(e.tagName.toUpperCase()));
  const texts = textsNow();

  const width = innerWidth;
  const overflow = (texts, when) => {
    const wide = document.documentElement.scrollWidth;
    if (wide > width) found.push(`overflow${when}: the page is ${wide} wide of ${width}`);
    for (const e of texts) {
      const right = e.getBoundingClientRect().right;
      // What scrolls by itself may be wider.
      if (right > width + 1 && !e.closest('.wide, .figure')) found.push(`overflow${when}: ${name(e)} to ${right.toFixed()}`);
      const figure = e.closest('svg')?.getBoundingClientRect();
      if (figure && right > figure.right + 1) found.push(`overflow${when}: ${name(e)} leaves its figure`);
    }
  };
  overflow(texts, '');

  for (const [index, e] of texts.entries()) for (const other of texts.slice(index + 1)) {
    if (!e.closest('svg') || e.closest('svg') !== other.closest('svg')) continue;
    const [a, b] = [e, other].map(text => text.getBoundingClientRect());
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left), down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    // Boxes of lines have room above and below the letters.
    if (across > 1 && down > 0.3 * Math.min(a.height, b.height)) found.push(`overlap: ${name(e)} and ${name(other)}`);
  }

  const colour = text => (text.match(/[\d.]+/g) ?? []).map(Number);
  const linear = part => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const behind = e => {
    const paper = e.closest('svg')?.querySelector('.paper');
    if (paper) return colour(getComputedStyle(paper).fill);
    for (; e; e = e.parentElement) {
      const back = colour(getComputedStyle(e).backgroundColor);
      if (back.length === 3 || back[3] > 0.5) return back;
    }
    return [255, 255, 255];
  };
  for (const e of texts) {
    const style = getComputedStyle(e), ink = colour(e.closest('svg') ? style.fill : style.color);
    const [dark, light] = [luminance(ink), luminance(behind(e))].sort((a, b) => a - b), ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize), isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ${name(e)}`);
  }

  const element = id => document.getElementById(id), json = id => element(id) && JSON.parse(element(id).textContent);
  // Each unit with half of the last digit that is shown.
  const RATES = { 'B/s': [1, 0.5], 'kB/s': [1e3, 0.05], 'MB/s': [1e6, 0.005] };
  const SIZES = { B: [1, 0], KiB: [1024, 0.05], MiB: [1024 ** 2, 0.05], GiB: [1024 ** 3, 0.005] };
  // Texts of a page in place of a size that does not exist.
  const NO_SIZE = ['near or above the mean rate', 'near mean', 'above mean', 'no promise'];
  /** The least and the greatest value that a text may stand for; null where it is no such number. */
  const range = (text, units) => {
    if (units === SIZES && NO_SIZE.includes(text)) return [Infinity, Infinity];
    const [, number, unit] = /^(\d+(?:\.\d+)?) (\S+)$/.exec(text) ?? [];
    if (!(unit in units)) return null;
    const [scale, half] = units[unit];
    return [(number - half) * scale, (+number + half) * scale];
  };
  /** A text must stand for a value from `least` to `most`. */
  const expect = (when, text, units, least, most) => {
    const [low, high] = range(text, units) ?? [NaN, NaN];
    // A page counts in doubles, and rounds a byte up.
    if (!(low <= most + 1 && high >= least - 1)) found.push(`slider${when}: shows "${text}", its data say ${least} to ${most}`);
  };

  /** What accesses leave in a buffer at a rate, and hold within one; without end where no buffer suffices. */
  const backlog = ({ access_ns, write_bytes }, rate) => {
    let [left, most, peak, total] = [0, 0, 0, 0];
    for (const ns of access_ns) {
      const level = left + ns * rate / 1e9;
      [left, peak, total] = [Math.max(0, level - write_bytes), Math.max(peak, level), total + ns];
      most = Math.max(most, left);
    }
    return total * rate > access_ns.length * write_bytes * 1e9 ? [Infinity, Infinity] : [most, peak];
  };

  /** A report of one run: its trace says what any rate needs, and its table what some rates do. */
  const run = (data, slider) => {
    const shown = () => ['left', 'peak', 'guaranteed'].map(id => element(id).textContent);
    const look = when => {
      const rates = range(element('rate-text').textContent, RATES) ?? [NaN, NaN], [low, high] = rates.map(rate => backlog(data, rate));
      const [left, peak, guaranteed] = shown();
      expect(when, left, SIZES, low[0], high[0]);
      expect(when, peak, SIZES, low[1], high[1]);
      expect(when, element('tile-left').textContent, SIZES, low[0], high[0]);
      // What is promised holds for these accesses as well.
      if (data.bound_ns !== null && high[0] < Infinity) expect(when, guaranteed, SIZES, low[0], Infinity);
      if (!element('verdict').textContent.replace(',', '').startsWith(`At ${element('rate-text').textContent} `)) found.push(`slider${when}: the sentence is of another rate`);
    };
    const end = () => {
      for (const button of document.querySelectorAll('button[data-rate]')) {
        button.click();
        const cells = [...button.closest('tr').cells].map(cell => cell.textContent), [left, peak, guaranteed] = shown(), now = [element('rate-text').textContent, guaranteed, left, peak];
        const isSame = (cell, at) => cell === now[at] || (NO_SIZE.includes(cell) && NO_SIZE.includes(now[at]));
        if (cells.length !== now.length || !cells.every(isSame)) found.push(`slider at the rate of a row: the table says ${cells}, above it stands ${now}`);
        if (!(+slider.value > slider.min && +slider.value < slider.max)) found.push(`slider: the row of ${cells[0]} is at its end or beyond`);
      }
    };
    return { look, end };
  };

  /** A comparison: each contender's list says what it needs at each rate, and the table behind what it needs at some. */
  const comparison = (rates, slider) => {
    const card = slider.closest('.needs-card'), output = card.querySelector('output');
    const items = () => [...card.querySelectorAll('li')].map(e => [e.querySelector('span').textContent, JSON.parse(e.dataset.needs), e.querySelector('strong').textContent]);
    const look = when => {
      const at = +slider.value;
      expect(when, output.textContent, RATES, rates[at], rates[at]);
      for (const [who, needs, text] of items()) {
        if (needs.length !== rates.length) found.push(`slider${when}: ${who} has ${needs.length} sizes for ${rates.length} rates`);
        expect(`${when}, ${who}`, text, SIZES, needs[at] ?? Infinity, needs[at] ?? Infinity);
      }
    };
    const end = async move => {
      let table = card;
      while (table && !table.matches('details')) table = table.nextElementSibling;
      const [head, ...rows] = [...table?.querySelectorAll('tr') ?? []].map(row => [...row.cells].map(cell => cell.textContent));
      let compared = 0;
      for (const [column, rate] of (head ?? []).entries()) {
        const [low, high] = range(rate, RATES) ?? [NaN, NaN], at = rates.findIndex(rate => low <= rate && rate <= high);
        if (at < 0) continue;
        await move(at);
        for (const [who, , text] of items()) {
          compared += 1;
          const cell = rows.find(row => row[0] === who)?.[column];
          if (cell !== text && !(NO_SIZE.includes(cell) && NO_SIZE.includes(text))) found.push(`slider at ${rate}: the table says "${cell}" of ${who}, the list "${text}"`);
        }
      }
      if (items().length > 0 && compared === 0) found.push('slider: no table behind it has a rate of its own');
    };
    return { look, end };
  };

  const sliders = [...document.querySelectorAll('input[type=range]')];
  for (const slider of sliders) {
    const output = document.querySelector(`output[for="${slider.id}"]`), data = json('data'), rates = json('rates');
    const kind = data?.access_ns && slider.id === 'rate' ? run(data, slider) : rates && slider.closest('.needs-card') ? comparison(rates, slider) : null;
    const move = async to => {
      slider.value = to;
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      // What is drawn later is drawn in microtasks.
      for (let turn = 0; turn < 9; turn++) await null;
    };
    const [least, most] = [+slider.min, +slider.max], first = slider.value;
    let before = null, highest = null;
    for (const share of [0, 1, 2, 3, 4, 5, 6, 7, 8].map(eighth => eighth / 8)) {
      await move(Math.round(least + share * (most - least)));
      const text = output.textContent, when = ` ${slider.id} at ${slider.value}`, [low, high] = range(text, RATES) ?? [null, null];
      if (text === before) found.push(`slider${when}: shows "${text}" as before`);
      if (kind && highest !== null && !(low > highest)) found.push(`slider${when}: ${text} is not above ${before}`);
      [before, highest] = [text, high];
      const odd = /NaN|undefined|null|Infinity/.exec(textsNow().map(e => e.textContent).join('\n'));
      if (odd) found.push(`slider${when}: shows ${odd[0]}`);
      kind?.look(when);
      overflow(textsNow(), when);
    }
    await kind?.end(move);
    await move(first);
  }

  const report = document.createElement('pre');
  report.id = 'found';
  report.textContent = JSON.stringify({ width, texts: texts.length, sliders: sliders.length, found });
  document.body.append(report);
})();
