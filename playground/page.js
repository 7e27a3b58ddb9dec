// The page: a form, a worker that runs the lab, and the report that it returns.
'use strict';
const $ = id => document.getElementById(id);

// Runs in a worker: the module answers one question after the other.
function worker() {
  let exports;
  const ask = question => {
    const bytes = new TextEncoder().encode(JSON.stringify(question));
    const at = exports.input(bytes.length);
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    const length = exports.ask();
    return new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.output(), length));
  };
  onmessage = async ({ data }) => {
    try {
      if (data.module) {
        const page = { progress: share => postMessage({ share }) };
        exports = (await WebAssembly.instantiate(data.module, { page })).exports;
      }
      if (data.question) postMessage({ answer: ask(data.question) });
    } catch (error) {
      postMessage({ answer: JSON.stringify({ error: `the lab stopped: ${error.message}` }) });
    }
  };
}
const source = URL.createObjectURL(new Blob([`(${worker})()`], { type: 'text/javascript' }));

// The module is packed, so that the page stays small.
const module = (async () => {
  const packed = Uint8Array.from(atob($('module').textContent.trim()), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
})();

// Asks the lab; a new question ends the one that is under way.
let running;
async function ask(question, onShare) {
  const compiled = await module;
  running?.terminate();
  const mine = running = new Worker(source);
  return new Promise(resolve => {
    mine.onmessage = ({ data }) => data.answer ? resolve(JSON.parse(data.answer)) : onShare?.(data.share);
    mine.onerror = event => resolve({ error: `the lab stopped: ${event.message}` });
    mine.postMessage({ module: compiled, question });
  });
}

const FIELDS = ['chip', 'workload', 'timing', 'bytes', 'accesses', 'seed', 'fill'];
let choices;

const option = (value, text) => Object.assign(document.createElement('option'), { value, textContent: text ?? value });
const known = () => choices.chips.find(chip => chip.name === $('chip').value);
const isOwn = () => $('toml').value !== (known()?.toml ?? '');

// What is chosen, as the fragment of a link.
function fragment() {
  const chosen = new URLSearchParams(FIELDS.map(name => [name, $(name).value]));
  if (isOwn()) chosen.set('toml', $('toml').value);
  return `#${chosen}`;
}

function follow(link) {
  const chosen = new URLSearchParams(link.slice(1));
  $('chip').value = chosen.get('chip') ?? choices.chips[0].name;
  if (!known()) $('chip').value = choices.chips[0].name;
  $('workload').value = chosen.get('workload') ?? choices.workloads[0].name;
  $('timing').value = chosen.get('timing') ?? choices.timings[0].name;
  $('bytes').value = chosen.get('bytes') ?? choices.workloads.find(each => each.name === $('workload').value)?.write_bytes ?? 4096;
  $('accesses').value = chosen.get('accesses') ?? choices.accesses;
  $('seed').value = chosen.get('seed') ?? 1;
  $('fill').value = chosen.get('fill') ?? Math.round(100 * choices.fill);
  $('toml').value = chosen.get('toml') ?? known().toml;
  $('own').open = chosen.has('toml');
}

function command() {
  const device = isOwn() ? 'chip.toml' : $('chip').value;
  return `steady evaluate --device ${device} --fill ${$('fill').value}% --timing ${$('timing').value} --workload ${$('workload').value}`
    + ` --write ${$('bytes').value} --accesses ${$('accesses').value} --seed ${$('seed').value}`;
}

function tell(text, isWrong) {
  $('state').textContent = text;
  $('state').className = isWrong ? 'wrong' : '';
}

// A run takes a second or two: each change of the form begins a new one.
let latest = 0;
async function run() {
  const mine = ++latest;
  $('fill-text').textContent = `${$('fill').value} %`;
  $('link').href = fragment();
  $('command').textContent = command();
  const wrong = FIELDS.map($).find(field => !field.checkValidity());
  if (wrong) return tell(`${wrong.labels[0].textContent.trim()}: ${wrong.validationMessage}`, true);
  history.replaceState(null, '', fragment());
  $('report').classList.add('stale');
  $('share').value = 0;
  tell('running');
  const began = performance.now();
  const answer = await ask({
    ask: 'evaluate', chip: $('toml').value, fill: $('fill').valueAsNumber / 100, timing: $('timing').value, workload: $('workload').value,
    write_bytes: $('bytes').valueAsNumber, accesses: $('accesses').valueAsNumber, rates: choices.rates, seed: $('seed').valueAsNumber,
  }, share => { if (mine === latest) $('share').value = share; });
  if (mine !== latest) return;
  $('share').value = 1;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  if (answer.error) {
    tell(answer.error, true);
  } else {
    tell(`${$('accesses').valueAsNumber.toLocaleString('en')} writes in ${seconds} s`);
    $('report').srcdoc = answer.report;
    $('report').classList.remove('stale');
  }
  dispatchEvent(new CustomEvent('answer', { detail: { ...answer, seconds: Number(seconds), report: answer.report?.length } }));
}

let waits;
function soon() {
  clearTimeout(waits);
  waits = setTimeout(run, 250);
}

// The report is as high as it is.
addEventListener('resize', fit);
function fit() {
  const inside = $('report').contentDocument?.documentElement;
  if (inside) $('report').style.height = `${inside.scrollHeight + 1}px`;
}
$('report').addEventListener('load', () => {
  fit();
  const inside = $('report').contentDocument?.body;
  if (inside) new ResizeObserver(() => requestAnimationFrame(fit)).observe(inside);
});

$('form').addEventListener('submit', event => event.preventDefault());
$('form').addEventListener('input', event => {
  if (event.target === $('chip')) $('toml').value = known().toml;
  if (event.target === $('workload')) $('bytes').value = choices.workloads.find(each => each.name === $('workload').value).write_bytes;
  $('fill-text').textContent = `${$('fill').value} %`;
  soon();
});
addEventListener('hashchange', () => { follow(location.hash); run(); });

(async () => {
  try {
    choices = await ask({ ask: 'choices' });
    if (choices.error) throw new Error(choices.error);
    $('chip').append(...choices.chips.map(chip => option(chip.name, `${chip.name}: ${chip.title}`)));
    $('workload').append(...choices.workloads.map(each => option(each.name)));
    $('timing').append(...choices.timings.map(each => option(each.name)));
    follow(location.hash);
    run();
  } catch (error) {
    tell(`this browser cannot run the lab: ${error.message}`, true);
  }
})();
