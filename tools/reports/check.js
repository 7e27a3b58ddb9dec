// Looks at a report as it is laid out: what is wider than the page, texts of figures that overlap, text too faint for AA, and writes it into the page.
(() => {
  const found = [];
  const name = e => `${e.tagName.toLowerCase()} "${e.textContent.trim().slice(0, 40)}"`;
  const hasText = e => [...e.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
  const isShown = e => getComputedStyle(e).visibility === 'visible' && e.getClientRects().length > 0;
  const skipped = ['SCRIPT', 'STYLE', 'TITLE', 'DESC'];
  const texts = [...document.querySelectorAll('body *')].filter(e => hasText(e) && isShown(e) && !skipped.includes(e.tagName.toUpperCase()));

  const width = innerWidth, wide = document.documentElement.scrollWidth;
  if (wide > width) found.push(`overflow: the page is ${wide} wide of ${width}`);
  for (const e of texts) {
    const right = e.getBoundingClientRect().right;
    // What scrolls by itself may be wider.
    if (right > width + 1 && !e.closest('.wide, .figure')) found.push(`overflow: ${name(e)} to ${right.toFixed()}`);
    const figure = e.closest('svg')?.getBoundingClientRect();
    if (figure && right > figure.right + 1) found.push(`overflow: ${name(e)} leaves its figure`);
  }

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

  const report = document.createElement('pre');
  report.id = 'found';
  report.textContent = JSON.stringify({ width, texts: texts.length, found });
  document.body.append(report);
})();
