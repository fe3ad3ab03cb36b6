/** Every kind of chart in the deck, on one page: what its canvas, its table and its sentence hold, and how it follows its file. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";

import { parse } from "csv-parse/sync";

import { EXAMPLES } from "../../../plugins/chartjs-plugin-csv/demo/examples.js";
import { READY } from "../support/browser.js";
import { onlyMarkdown } from "../support/chapters.js";
import { startDeck } from "../support/deck.js";

const OTHER = "fixture-small";
/** Of Chart.js' own, those that a deck draws without registering anything. */
const CLASSIC = ["line", "bar", "scatter"];
const NOT_IN_A_DECK = ["pie", "radar"];
/** Those that lie on their side unless told otherwise; Chart.js' own cannot. */
const USUALLY_LYING = ["dumbbell", "forest", "chain"];
/** What the keys say of values that have a unit of their own. */
const SPOKEN = { chain: /processors.*: 28.%/, share: /: 10\.4.ms/ };
/** Their tables tell the median and the worst of many values. */
const TRIALS = ["strip"];

/** The demo's first example of each kind. */
const KINDS = [...new Map(EXAMPLES.toReversed().map((one) => [one.type ?? "line", one]))]
  .filter(([kind]) => !NOT_IN_A_DECK.includes(kind))
  .map(([kind, { csv, options, drawn }]) => ({ kind, text: csv, drawn, csv: options?.plugins.csv ?? {} }));

/** The values of a file, read by another parser than ours. */
function valuesIn(text) {
  const [[first], ...rows] = parse(text);
  return rows.flatMap((cells) =>
    (first === "series" ? [cells[2]] : cells.slice(1)).filter((cell) => cell !== "").map(Number),
  );
}

/** The same file with all values multiplied. */
function scaled(text, factor) {
  const [header, ...rows] = parse(text);
  const isValue = (at) => (header[0] === "series" ? at >= 2 && at <= 4 : at > 0);
  const write = (cells) => cells.map((cell) => (cell.includes(",") ? `"${cell}"` : cell)).join(",");
  const times = (cell) => (cell === "" ? cell : String(Number((factor * cell).toPrecision(9))));
  const changed = rows.map((cells) => cells.map((cell, at) => (isValue(at) ? times(cell) : cell)));
  return `${[header, ...changed].map(write).join("\n")}\n`;
}

const fileOf = (kind, dataSet = "fixture") => `${dataSet}/kinds/aggregate/${kind}.csv`;

function slideOf({ kind, csv }, isTurned) {
  const turned = isTurned ? ` data-chart-index-axis="${USUALLY_LYING.includes(kind) ? "x" : "y"}"` : "";
  // The deck reads every file as derive writes it; those of the demo for Chart.js' own are as people write them.
  const options = JSON.stringify({ csv: { ...(CLASSIC.includes(kind) && { orientation: "auto" }), ...csv } });
  return `<!-- .slide: id="${kind}${isTurned ? "-turned" : ""}" data-timing="10" -->
## ${kind}

<canvas data-chart="${kind}" data-chart-src="benchmarks/${fileOf(kind, "reference")}"${turned}><!-- ${options} --></canvas>

<!-- Note -->
Words.
`;
}

const TURNED = KINDS.filter(({ kind }) => !CLASSIC.includes(kind));
const CHAPTER = [...KINDS.map((one) => slideOf(one, false)), ...TURNED.map((one) => slideOf(one, true))].join(
  "\n\n",
);

let deck;
let page;

before(async () => {
  deck = await startDeck();
  for (const dataSet of ["fixture", OTHER])
    await mkdir(path.dirname(path.join(deck.benchmarks, fileOf("", dataSet))), { recursive: true });
  for (const { kind, text } of KINDS) {
    await writeFile(path.join(deck.benchmarks, fileOf(kind)), text);
    await writeFile(path.join(deck.benchmarks, fileOf(kind, OTHER)), scaled(text, 0.5));
  }
  page = await deck.openDeck(`?data=fixture&compare=${OTHER}&explore`, {
    stays: true,
    hash: `#/${KINDS[0].kind}`,
    prepare: (opened) => onlyMarkdown(opened, CHAPTER),
  });
  await page.evaluate(() => window.replay.stage.tools.ready);
});
after(() => deck?.close());

/** Shows a slide, and waits until its chart has this value in both data sets, or an error. */
async function show(id, value) {
  await page.evaluate((slide) => {
    const { h, v } = window.replay.deck.getIndices(document.getElementById(slide));
    window.replay.deck.slide(h, v);
  }, id);
  await page.waitForFunction(
    ([slide, wanted]) => {
      const slot = window.replay.charts.charts.get(document.querySelector(`#${slide} canvas`));
      if (wanted === null) return slot.error !== null;
      const has = slot.model?.series.some(({ points }) => points.some(({ y }) => y === wanted));
      return has && slot.error === null && slot.state.overlay !== null;
    },
    [id, value],
  );
  await page.evaluate(async () => {
    await window.replay.charts.ready();
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
  });
}

/** What a canvas holds. Runs in the page. */
function held(id) {
  const canvas = document.querySelector(`#${id} canvas[data-chart]`);
  const { chart } = window.replay.charts.charts.get(canvas);
  const valueOf = (point) => (point !== null && typeof point === "object" ? point.y : point);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return {
    series: Object.fromEntries(
      chart.data.datasets.map((dataset, at) => {
        const marks = chart.getDatasetMeta(at).data;
        const values = dataset.data.map(valueOf);
        return [
          dataset.label,
          {
            measured: values.filter((value) => value !== null).length,
            seen: marks.filter(({ skip, x, y }) => !skip && Number.isFinite(x) && Number.isFinite(y)).length,
            inside: marks.every(
              ({ x, y, skip }) => skip || (x >= 0 && y >= 0 && x <= chart.width && y <= chart.height),
            ),
          },
        ];
      }),
    ),
    says: canvas.getAttribute("aria-label"),
    inked: data.some(Boolean),
    picture: canvas.toDataURL(),
  };
}

/** Reads a chart by its keys, series by series, and returns what each stop says. Runs in the page. */
function readByKeys(id) {
  const canvas = document.querySelector(`#${id} canvas`);
  const { chart } = window.replay.charts.charts.get(canvas);
  const press = (key) => {
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const [active] = chart.getActiveElements();
    return `${active.datasetIndex} ${active.index}`;
  };
  const said = new Map();
  const note = (at) =>
    said.set(at, [...chart.tooltip.title, ...chart.tooltip.body.flatMap(({ lines }) => lines)].join(", "));
  canvas.focus();
  press("Home");
  for (let series = 0; series < chart.data.datasets.length; series += 1) {
    let at = press("Home");
    for (let before = null; at !== before;) {
      note(at);
      before = at;
      at = press("ArrowRight");
    }
    press("ArrowDown");
  }
  return [...said];
}

const figuresIn = (id) =>
  page.$$eval(`#${id} .chart-table-view [data-figure]`, (all) =>
    all.map(({ dataset }) => Number(dataset.figure)),
  );

/** What a table has to tell of these values. */
function told({ kind }, text) {
  const values = valuesIn(text);
  return TRIALS.includes(kind) ? [Math.max(...values)] : values;
}

for (const one of KINDS) {
  const { kind, text, drawn } = one;
  const [first] = valuesIn(text);

  test(`${kind}: canvas, sentence, table, keys and second data set tell the file, and follow it through an error`, async () => {
    await show(kind, first);
    const canvas = await page.evaluate(held, kind);
    assert.ok(canvas.inked);
    const names = Object.keys(drawn);
    assert.deepEqual(Object.keys(canvas.series), [...names, ...names.map((name) => `${name} · ${OTHER}`)]);
    for (const [label, { measured, seen, inside }] of Object.entries(canvas.series)) {
      assert.equal(measured, drawn[label.replace(` · ${OTHER}`, "")], label);
      assert.ok(seen > 0, label);
      assert.ok(inside, `a mark of ${label} is outside the canvas`);
    }
    assert.ok(
      names.some((name) => canvas.says.includes(name)),
      canvas.says,
    );
    assert.match(canvas.says, new RegExp(`; data set fixture; compared with ${OTHER}\\.$`));
    assert.ok((await page.textContent(`#${kind}`)).includes(OTHER), "the slide names the second data set");

    const stops = await page.evaluate(readByKeys, kind);
    assert.equal(
      stops.length,
      Object.values(canvas.series).reduce((sum, { seen }) => sum + seen, 0),
      "each mark is a stop",
    );
    for (const [at, words] of stops) {
      const label = Object.keys(canvas.series)[at.split(" ")[0]];
      assert.match(words, /\d|not /, at);
      assert.ok(words.includes(`${label}: `), words);
    }
    const own = SPOKEN[kind] ?? /./;
    assert.ok(
      stops.some(([, words]) => own.test(words)),
      JSON.stringify(stops),
    );
    await page.keyboard.press("Escape");

    await page.keyboard.press("t");
    await page.waitForSelector(`#${kind} .chart-table-view table`);
    const figures = await figuresIn(kind);
    for (const value of told(one, text)) assert.ok(figures.includes(value), `${value} is not in the table`);

    const changed = scaled(text, 1.5);
    await deck.replaceFile(fileOf(kind), changed);
    await show(kind, valuesIn(changed)[0]);
    const later = await page.evaluate(held, kind);
    assert.notEqual(later.picture, canvas.picture);
    assert.notEqual(later.says, canvas.says);
    await page.waitForFunction(
      ([id, value]) =>
        [...document.querySelectorAll(`#${id} .chart-table-view [data-figure]`)].some(
          ({ dataset }) => Number(dataset.figure) === value,
        ),
      [kind, told(one, changed).at(-1)],
    );
    await page.keyboard.press("t");
    await page.waitForSelector(`#${kind} .chart-table-view`, { state: "detached" });

    await deck.replaceFile(fileOf(kind), "x,1,2\na,1\n");
    await show(kind, null);
    assert.match(
      await page.textContent(`#${kind} .chart-csv-error`),
      new RegExp(`^No chart: benchmarks/${fileOf(kind).replaceAll(".", "\\.")}: row 2`),
    );
    await deck.replaceFile(fileOf(kind), text);
    await show(kind, first);
    assert.equal(await page.$$eval(`#${kind} .chart-csv-error`, (all) => all.length), 0);
    assert.deepEqual(page.complaints, []);
  });
}

for (const { kind, text, drawn } of TURNED) {
  test(`${kind}: turned the other way round it holds the same`, async () => {
    await show(`${kind}-turned`, valuesIn(text)[0]);
    const { series, inked, says } = await page.evaluate(held, `${kind}-turned`);
    assert.ok(inked);
    for (const [name, count] of Object.entries(drawn)) {
      assert.equal(series[name].measured, count, name);
      assert.ok(series[name].seen > 0 && series[name].inside, name);
    }
    assert.ok(says.includes(`compared with ${OTHER}`), says);
  });
}

test("on paper each kind is drawn whole, with both data sets", async () => {
  await page.goto(`${deck.url}?data=fixture&compare=${OTHER}&view=print`);
  await page.waitForSelector(READY.print);
  await page.waitForFunction(
    (other) =>
      [...window.replay.charts.charts.values()].every(({ chart }) =>
        chart?.data.datasets.some(({ label }) => label.endsWith(other)),
      ),
    OTHER,
  );
  for (const { kind, drawn } of KINDS) {
    const { series, inked } = await page.evaluate(held, kind);
    assert.ok(inked, kind);
    assert.equal(Object.keys(series).length, 2 * Object.keys(drawn).length, kind);
    for (const [name, count] of Object.entries(drawn)) assert.equal(series[name].measured, count, kind);
  }
  assert.deepEqual(page.complaints, []);
});
