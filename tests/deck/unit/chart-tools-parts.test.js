/** The parts of the chart tools that need no page: commands, marks, steps, keyboard navigation, the second data set. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { JSDOM } from "jsdom";

import { chartLink, linkedChart } from "../../../deck/chart-tools/chart-address.js";
import { Comparison } from "../../../deck/chart-tools/comparison.js";
import { attemptsBehind, commandsFor } from "../../../deck/chart-tools/commands.js";
import { copyCsv, copyPng } from "../../../deck/chart-tools/panel.js";
import { stepFrom } from "../../../deck/chart-tools/cursor.js";
import { marksOf, notesOf, parseMarks } from "../../../deck/chart-tools/marks.js";
import { ShownCharts } from "../../../deck/chart-tools/shown.js";
import { makeSteps } from "../../../deck/chart-tools/steps.js";
import { Tables } from "../../../deck/chart-tools/tables.js";
import { ACTS } from "../../../deck/chart-tools/tools.js";
import { marginOf, marginWords } from "../../../deck/data/margin.js";
import { fileName, stepsOf, wholeFileName } from "../../../deck/text/canvases.js";
import { chooseTexts } from "../../../deck/text/verdict-text.js";

const CHART = "benchmarks/reference/rbd-journaling/aggregate/iops-read-seq.csv";

test("steps and file names are read from attributes", () => {
  assert.deepEqual(stepsOf("A | B + C |"), [["A"], ["B", "C"]]);
  assert.deepEqual(stepsOf(""), []);
  assert.equal(fileName("a/b/ratio-x.csv?v=1"), "ratio-x");
  assert.equal(fileName(null), "");
  assert.equal(wholeFileName("http://127.0.0.1/benchmarks/mine/claims.json?v=2"), "claims.json");
});

test("the steps of a chart that a verdict hides take no click", () => {
  const { document } = new JSDOM(
    `<section><div data-when="a held"><canvas data-chart="line" data-chart-steps="A | B"></canvas></div>
    <aside class="notes"></aside></section>`,
  ).window;
  makeSteps(document.body);
  const clicks = (verdict) => {
    chooseTexts(document.body, { claims: { a: { verdict } } });
    return document.querySelectorAll(".fragment:not(.disabled)").length;
  };
  assert.equal(clicks("held"), 2);
  assert.equal(clicks("not measured"), 0);
  assert.equal(document.querySelector("section").lastElementChild.className, "notes");
});

test("of two charts as tables, one that loses its data has its place again", async () => {
  const figure = '<div class="chart-figure"><canvas data-chart="line"></canvas></div>';
  const { document } = new JSDOM(`<section>${figure}${figure}</section>`).window;
  const slide = document.querySelector("section");
  const points = [{ x: 1, y: 2, low: null, high: null, n: null }];
  const model = { kind: "wide", xLabel: "Clients", xs: [1], series: [{ name: "A", points }] };
  const slotOf = (canvas) => ({ canvas, model, kind: "line", src: null, settings: {} });
  const slots = [...document.querySelectorAll("canvas")].map(slotOf);
  const tables = Tables({ slotsOf: () => slots, data: {}, scrolls: true });
  const told = () =>
    slots.map(({ canvas }) => [canvas.parentElement.querySelectorAll("table").length, canvas.inert]);
  await tables.show(slide);
  assert.deepEqual(told(), [
    [1, true],
    [1, true],
  ]);
  slots[1].model = null;
  await tables.renew(slide);
  assert.deepEqual(told(), [
    [1, true],
    [0, false],
  ]);
  slots[1].model = model;
  await tables.renew(slide);
  assert.deepEqual(told()[1], [1, true]);
  await tables.hide(slide);
  assert.deepEqual(told(), [
    [0, false],
    [0, false],
  ]);
});

test("runs that are hidden again while they are read are not said to be missing", async () => {
  const { document } = new JSDOM('<section><canvas data-chart="line"></canvas></section>').window;
  const slide = document.querySelector("section");
  const canvas = slide.querySelector("canvas");
  let arrive;
  const slot = {
    canvas,
    state: { runs: false },
    async showRuns(runs) {
      slot.state = { runs };
      if (runs) await new Promise((resolve) => (arrive = resolve));
      return slot.state.runs && slot.hasRuns;
    },
  };
  const shown = new ShownCharts({ charts: { charts: new Map([[canvas, slot]]) }, data: {} });
  const press = (hasRuns) => {
    slot.hasRuns = hasRuns;
    return ACTS.runs(slide, { shown });
  };
  const first = press(true);
  assert.equal(await press(true), "Individual runs hidden");
  arrive();
  assert.equal(await first, null);
  for (const [hasRuns, words] of [
    [true, /^Individual runs$/],
    [false, /has no individual runs/],
  ]) {
    slot.state = { runs: false };
    const pressed = press(hasRuns);
    arrive();
    assert.match(await pressed, words);
  }
});

test("a chart is measured again with its site, scale and experiment, into data of one's own", () => {
  const place = {
    manifest: { site: "sandbox" },
    name: "rbd-journaling",
    experiment: { scale: "talk" },
    dataSet: "reference",
  };
  const [measure, derive, show] = commandsFor(place);
  assert.equal(
    measure.command,
    "./replay measure --site sandbox --data mine --scale talk --experiment rbd-journaling",
  );
  assert.equal(derive.command, "./replay derive --data mine");
  assert.equal(show.command, "npm run present -- --data mine");
  assert.match(show.then, /compare=reference/);
  assert.match(commandsFor({ ...place, dataSet: "mine" })[0].command, /--data mine-again /);
  assert.match(commandsFor({ ...place, manifest: { site: "a b'c" } })[0].command, /--site 'a b'\\''c' /);
  assert.deepEqual(commandsFor({ ...place, manifest: null }), []);
  assert.deepEqual(commandsFor({ ...place, name: null }), []);
});

test("the attempts behind a chart are counted, and found", () => {
  const place = { name: "rbd-bench", dataSet: "mine" };
  const experiment = { raw: { path: "rbd-bench/raw", blocks: [1, 2, 3] } };
  const entry = { attempts: { all: 12, used: 11, invalid: 1 } };
  assert.deepEqual(attemptsBehind({ ...place, experiment, entry }), {
    text: "12 attempts: 11 used, 1 void but kept.",
    tidy: "benchmarks/mine/rbd-bench/tidy.csv",
    raw: "benchmarks/mine/rbd-bench/raw/block-01-*.tar.gz … block-03-*.tar.gz",
  });
  const clean = attemptsBehind({
    ...place,
    experiment,
    entry: { attempts: { all: 12, used: 12, invalid: 0 } },
  });
  assert.equal(clean.text, "12 attempts: 12 used, none void.");
  assert.deepEqual(
    attemptsBehind({ ...place, dataSet: "mine.bundle", experiment: {}, entry }),
    { text: "12 attempts: 11 used, 1 void but kept." },
    "a bundle holds neither",
  );
  assert.equal(attemptsBehind({ ...place, experiment: null, entry: null }), null);
});

test("who may not copy a chart is told how to have it instead", async () => {
  const page = new JSDOM().window.document;
  const file = { url: CHART, name: "iops-read-seq.csv" };
  const answer = () => Promise.resolve(new Response("x,1\n"));
  assert.equal(await copyCsv(file, answer, page), "Your browser blocked copying. Download the file instead.");
  const picture = () => Promise.resolve(new Blob());
  assert.match(await copyPng(picture, { page }), / Save the picture instead\.$/);
  assert.match(await copyPng(picture, { where: " (key I)", page }), / Save the picture instead \(key I\)\.$/);
});

test("a chart has an address", () => {
  const link = chartLink("http://x/talk/?data=mine&chart=1#/old", "journal-ratio", 3);
  assert.equal(link, "http://x/talk/?data=mine&chart=3#/journal-ratio");
  assert.equal(linkedChart(new URL(link).search), 3);
  for (const search of ["", "?chart=", "?chart=0", "?chart=x", "?chart=2.5", "?chart=100"])
    assert.equal(linkedChart(search), null, search);
});

test("published figures are read as names and base units; anything else is a problem", () => {
  assert.deepEqual(parseMarks("S1, journal = 30000000 | S1, a=b = 2e8"), {
    marks: [
      { label: "S1, journal", value: 30000000 },
      { label: "S1, a=b", value: 2e8 },
    ],
    problems: [],
  });
  assert.deepEqual(parseMarks(undefined), { marks: [], problems: [] });
  // A figure for one place of the x axis.
  assert.deepEqual(parseMarks("S0 @ 4096 = 15.6 | a@b = 2"), {
    marks: [
      { label: "S0", value: 15.6, at: 4096 },
      { label: "a@b", value: 2 },
    ],
    problems: [],
  });
  for (const wrong of ["30000000", "journal = 30 MB/s", "= 3", "journal =", "S0 @ 4K = 3", "@ 4096 = 3"]) {
    const { marks, problems } = parseMarks(wrong);
    assert.deepEqual(marks, [], wrong);
    assert.equal(problems.length, 1, wrong);
  }
});

test("a chart is marked with the margin of its claim, and with published figures in its own view only", () => {
  const state = { shown: null, used: null };
  const canvas = { dataset: { chartSrc: "a/iops.csv", chartMarks: "S1 = 5" } };
  const margin = { low: 0.9, high: 1.1, series: ["With journal"] };
  const entryOf = (src) => (src === "a/ratio-iops.csv" ? { margin } : {});
  const marks = (slot) => marksOf({ canvas, state, scale: "log", ...slot }, entryOf(slot.src));
  assert.deepEqual(
    marks({ src: "a/iops.csv" }).map(({ axis, value, label }) => [axis, value, label]),
    [["value", 5, "S1"]],
  );
  assert.deepEqual(
    marks({ src: "a/ratio-iops.csv" }).map(({ low, high, label }) => [low, high, label]),
    [[0.9, 1.1, undefined]],
  );
  assert.deepEqual(marks({ src: null }), []);
  // Several figures of one name: it is written once.
  const points = { dataset: { chartSrc: "a/iops.csv", chartMarks: "S0 @ 4096 = 15.6 | S0 @ 65536 = 2" } };
  assert.deepEqual(
    marks({ src: "a/iops.csv", canvas: points }).map(({ axis, x, y, label }) => [axis, x, y, label]),
    [
      [undefined, 4096, 15.6, "S0"],
      [undefined, 65536, 2, undefined],
    ],
  );
  // A claim about a line gives no mark if that line is not shown.
  const without = { src: "a/ratio-iops.csv", state: { ...state, shown: ["Journal mirrored"] } };
  assert.deepEqual(marks(without), []);
  assert.equal(marks({ ...without, state: { ...state, shown: ["With journal"] } }).length, 1);
  // A linear axis need not have a tick at 1.
  assert.deepEqual(
    marks({ ...without, scale: "linear" }).map(({ value, dash }) => [value, dash]),
    [[1, []]],
  );
  assert.equal(marginWords(margin), "0.900× to 1.10× counts as no difference");
  assert.equal(marginOf({ margin: { low: 0.9, high: null } }, null), null);
  assert.equal(marginOf(null, null), null);
});

test("arrow keys go from point to point and from line to line, and stay within the chart", () => {
  const lines = [[0, 1, 2], [], [0, 2]];
  const go = (here, way) => stepFrom(lines, here, way);
  assert.deepEqual(go(null, { along: 1 }), { line: 0, at: 0 });
  assert.deepEqual(go({ line: 0, at: 0 }, { along: 1 }), { line: 0, at: 1 });
  assert.deepEqual(go({ line: 0, at: 2 }, { along: 1 }), { line: 0, at: 2 });
  assert.deepEqual(go({ line: 0, at: 0 }, { along: -1 }), { line: 0, at: 0 });
  assert.deepEqual(go({ line: 0, at: 2 }, { across: 1 }), { line: 2, at: 2 });
  assert.deepEqual(go({ line: 2, at: 2 }, { across: 1 }), { line: 2, at: 2 });
  assert.deepEqual(go({ line: 2, at: 2 }, { across: -1 }), { line: 0, at: 2 });
  assert.deepEqual(go({ line: 0, at: 1 }, { to: "last" }), { line: 0, at: 2 });
  assert.deepEqual(go({ line: 0, at: 1 }, { to: "first" }), { line: 0, at: 0 });
  // The line was hidden meanwhile.
  assert.deepEqual(go({ line: 1, at: 1 }, { along: 1 }), { line: 0, at: 0 });
  assert.equal(stepFrom([[], []], null, { along: 1 }), null);
});

/** A second data set on a server that has these files and answers 404 to everything else. */
async function compared(name, { files = null, manifest = null, shows = "mine" } = {}) {
  const data = {
    available: files && Object.keys(files).sort(),
    has(address) {
      const [, dataSet, ...rest] = address.split("/");
      return files && files[dataSet].includes(rest.join("/"));
    },
    resolve: (src) => src.replace("reference", shows),
    alterationsOf: () => [],
    fetch: (address) =>
      Promise.resolve(
        manifest && address === `benchmarks/${name}/manifest.json`
          ? new Response(JSON.stringify(manifest))
          : new Response("", { status: 404 }),
      ),
  };
  const comparison = new Comparison({ name, data });
  await comparison.load();
  return comparison;
}
const MANIFEST = {
  label: "Sandbox",
  experiments: {
    "rbd-journaling": {
      charts: { "iops-read-seq": { n: { min: 3, max: 3 }, limiter: "cpu", measured_to: "2026-01-03" } },
    },
  },
};

test("a chart is compared with the same file of the other data set, and the label says both", async () => {
  const files = { reference: ["rbd-journaling/aggregate/iops-read-seq.csv"], mine: [] };
  const comparison = await compared("reference", { files, manifest: MANIFEST });
  assert.equal(comparison.problem, null);
  assert.equal(comparison.addressOf(CHART), CHART);
  assert.equal(
    comparison.words([CHART]),
    "hollow markers show reference: Sandbox · n = 3 · 3 Jan 2026 · limited by the CPU",
  );
  const missing = CHART.replace("iops", "latency");
  assert.equal(comparison.addressOf(missing), null);
  assert.match(comparison.words([CHART, missing]), / · reference lacks 1 of 2 charts$/);
  assert.equal(comparison.words([missing]), "reference has nothing to compare with here");
});

test("without a list of files the other data set's manifest says what it has", async () => {
  const comparison = await compared("reference", { manifest: MANIFEST });
  assert.equal(comparison.addressOf(CHART), CHART);
  assert.equal(comparison.addressOf(CHART.replace("iops", "latency")), null);
});

test("a data set is not compared with itself, nor with one that is not there", async () => {
  const files = { reference: ["rbd-journaling/aggregate/iops-read-seq.csv"], mine: [] };
  const itself = await compared("reference", { files, manifest: MANIFEST, shows: "reference" });
  assert.equal(itself.addressOf(CHART), null);
  assert.equal(itself.words([CHART]), "compared with reference: the same data");
  const absent = await compared("nowhere", { files });
  assert.equal(absent.problem, "There is no data set “nowhere” to compare with. Available: mine, reference.");
  assert.equal(absent.addressOf(CHART), null);
  assert.equal(absent.words([CHART]), "");
  const wrong = await compared("../x", { files });
  assert.match(wrong.problem, /is not a valid data set name/);
});

test("a note stands at its point with the figures of the data, or not at all", () => {
  const point = (x, y) => ({ x, y, low: null, high: null, n: null });
  const model = { series: [{ name: "With journal", points: [point(4096, 2.004), point(65536, null)] }] };
  const numbers = { resolve: (value) => (value === "claim.ratio" ? "2.0×" : null) };
  const notes = (chartNotes, given = {}) => {
    const canvas = { dataset: { chartSrc: "a/iops.csv", chartNotes } };
    const slot = { src: "a/iops.csv", canvas, model, settings: { yUnit: "seconds" }, state: { shown: null } };
    return notesOf({ ...slot, ...given }, numbers).map(({ x, y, label, shape }) => [x, y, label, shape]);
  };
  assert.deepEqual(notes("With journal @ 4096 = {claim.ratio} at 4K"), [[4096, 2.004, "2.0× at 4K", "none"]]);
  assert.deepEqual(notes("With journal @ 4096 = {here}"), [[4096, 2.004, "2 s", "none"]]);
  const ratio = { settings: { yUnit: "ratio" } };
  assert.deepEqual(notes("With journal @ 4096 = {here}", ratio), [[4096, 2.004, "2.0×", "none"]]);
  assert.equal(
    notes("With journal @ 4096 = a sentence that is long enough for two lines")[0][2].split("\n").length,
    3,
  );
  for (const nowhere of [
    "With journal @ 8192 = a",
    "With journal @ 65536 = a",
    "Other @ 4096 = a",
    "With journal @ 4096 = {other}",
  ])
    assert.deepEqual(notes(nowhere), [], nowhere);
  // A series whose step is still to come has no note, and another file than the slide's own none either.
  assert.deepEqual(notes("With journal @ 4096 = a", { state: { shown: [] } }), []);
  assert.deepEqual(notes("With journal @ 4096 = a", { src: "a/other.csv" }), []);
});
