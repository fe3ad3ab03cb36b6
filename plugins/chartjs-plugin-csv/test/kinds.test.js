/** What kinds of chart compute without a canvas, and the registry that knows them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  loadKind,
  kindOf,
  readModel,
  registerKind,
  summarize,
  tablesOf,
  nearest,
  whyNoKind,
  withSeries,
} from "chartjs-plugin-csv";
import { namesInLanes, seriesOfEachFile, valueOfEachFile } from "../src/kinds/base.js";
import { nextBet } from "../src/kinds/bets.js";
import forest from "../src/kinds/forest.js";
import { rowsOf } from "../src/kinds/forest-rows.js";
import { colorAt } from "../src/kinds/heatmap.js";
import quadrant from "../src/kinds/quadrant.js";
import { kneeOf } from "../src/kinds/response.js";
import { fit, squaresOf, unitAsked } from "../src/kinds/squares.js";
import { sideBySide } from "../src/kinds/strip.js";
import { overlap, wrapLabel } from "../src/labels-layout.js";
import { placeBoxes, placesAround } from "../src/place.js";
import { short } from "../src/units.js";

const widthOf = ({ length }) => 10 * length;
const point = (x, y, more = {}) => ({ x, y, low: null, high: null, n: null, ...more });

test("a kind is fetched once, Chart.js' own types need none, and what nobody draws is refused with what was meant", async () => {
  const kind = await loadKind("dumbbell");
  assert.equal(kind.id, "dumbbell");
  assert.equal(kindOf("dumbbell"), kind);
  assert.equal(await loadKind("dumbbell"), kind);
  assert.equal(await loadKind("line"), null);
  await assert.rejects(loadKind("lien"), {
    name: "CsvError",
    message: /no chart “lien”; did you mean “line”\?/,
  });
  await assert.rejects(loadKind("dumbell"), /did you mean “dumbbell”/);
  await assert.rejects(
    loadKind("sankey"),
    /there are bar, chain, dumbbell, forest, .*strip, and what the page/,
  );
});

test("a page has kinds of its own, by the same one module", async () => {
  const { controller, ...strip } = await loadKind("strip");
  const own = {
    ...strip,
    id: "own",
    controller: class extends controller {
      static id = "own";
    },
  };
  let fetched = 0;
  const further = { own: () => Promise.resolve((fetched += 1)).then(() => ({ default: own })) };
  assert.equal(await loadKind("own", further), own);
  assert.equal(await loadKind("own", further), own);
  assert.equal(fetched, 1);
  registerKind({ ...own, id: "other" });
  assert.equal(kindOf("other").id, "other");
  assert.equal(whyNoKind("gauge", ["gauge"]), null);
  assert.match(whyNoKind("guage", ["gauge"]), /no chart “guage”; did you mean “gauge”/);
});

test("the word that was meant is near: letters swapped, left out, or added; a short word may differ in one", () => {
  const known = ["line", "bar", "strip", "share"];
  assert.equal(nearest("lien", known), "line");
  assert.equal(nearest("stirp", known), "strip");
  assert.equal(nearest("Bars", known), "bar");
  assert.equal(nearest("sh", known), null);
  assert.equal(nearest("boxplot", known), null);
});

test("labels never lie on each other: each takes its cheapest free place, and the less important gives way", () => {
  const area = { left: 0, top: 0, right: 200, bottom: 100 };
  const label = (x, y) => ({
    width: 60,
    height: 20,
    at: { x, y },
    places: placesAround({ x, y, reach: 5 }, { width: 60, height: 20 }),
  });
  const found = placeBoxes([label(100, 50), label(104, 52), label(96, 48)], { area });
  assert.ok(found.every(Boolean));
  for (const [at, one] of found.entries())
    for (const other of found.slice(at + 1)) assert.ok(!overlap(one, other));
  const crowded = placeBoxes(
    Array.from({ length: 3 }, () => ({ width: 60, height: 20, places: [{ left: 10, top: 10 }] })),
    { area },
  );
  assert.deepEqual(
    crowded.map((one) => one !== null),
    [true, false, false],
  );
});

test("a label does not cover a mark, nor stands beyond one that is between it and what it names", () => {
  const area = { left: 0, top: 0, right: 400, bottom: 300 };
  const at = { x: 100, y: 100 };
  const places = [
    { left: 110, top: 90, cost: 1 },
    { left: 70, top: 20, cost: 2 },
    { left: 70, top: 150, cost: 30 },
  ];
  const wanted = [{ width: 60, height: 20, at, places }];
  const mark = { left: 120, top: 95, right: 140, bottom: 105, cost: 100 };
  assert.equal(placeBoxes(wanted, { area })[0].top, 90);
  assert.equal(placeBoxes(wanted, { area, obstacles: [mark] })[0].top, 20);
  const arrow = { left: 0, top: 60, right: 400, bottom: 66, cost: 50 };
  assert.equal(placeBoxes(wanted, { area, obstacles: [mark, arrow] })[0].top, 150);
});

test("dots of the same value stand side by side, and the others in the middle of their lane", () => {
  assert.deepEqual(sideBySide([10, 50, 90], 8, 40), [0, 0, 0]);
  const [first, second, third] = sideBySide([10, 10, 10], 8, 40);
  assert.equal(first, 0);
  assert.deepEqual([Math.abs(second), Math.abs(third)], [8, 8]);
  assert.notEqual(second, third);
  assert.deepEqual(sideBySide([1, 1, 1], 8, 0), [0, 0, 0], "no room: they overlap");
  assert.deepEqual(sideBySide([10, NaN, 10, 18], 8, 40), [0, 0, -8, 0], "not measured: no place");
});

test("a lane takes as many dots as a file may have", () => {
  const values = Array.from({ length: 100_000 }, (_, index) => index % 600);
  const offsets = new Set(sideBySide(values, 8, 40));
  assert.deepEqual(
    [...offsets].sort((a, b) => a - b),
    [-40, -32, -24, -16, -8, 0, 8, 16, 24, 32, 40],
  );
});

test("names stand in their lanes, every other one lower where a word is wider than a lane", () => {
  assert.deepEqual(namesInLanes(["one two", "three"], 64, widthOf), [
    { lines: ["one", "two"], row: 0 },
    { lines: ["three"], row: 0 },
  ]);
  const wide = namesInLanes(["unbreakable", "word", "last"], 60, widthOf);
  assert.deepEqual(
    wide.map(({ row }) => row),
    [0, 1, 0],
  );
});

test("a number stays with what it counts, and a middle dot with what it follows", () => {
  assert.deepEqual(wrapLabel("every 60 s", 80, widthOf), ["every", "60 s"]);
  assert.deepEqual(wrapLabel("With journal · mine", 120, widthOf), ["With journal", "· mine"]);
});

test("squares: nearest count, and the largest size with which every group fits", () => {
  assert.equal(squaresOf(4.6, 1), 5);
  assert.equal(squaresOf(0.3, 1), 0);
  assert.equal(squaresOf(null, 1), 0);
  const box = { width: 200, height: 100, largest: 20 };
  const { size, pitch, perRow } = fit([70, 12], box);
  assert.ok(size < 20 && Math.ceil(70 / perRow) * pitch - (pitch - size) <= 100);
  assert.ok(perRow * pitch - (pitch - size) <= 200);
  assert.equal(fit([1], box).size, 20);
  assert.deepEqual(
    [{}, { unit: 5 }, { unit: 0 }, { unit: -1 }, { unit: NaN }].map(unitAsked),
    [1, 5, 1, 1, 1],
    "no unit is nothing",
  );
});

test("beyond the knee, each point brings more waiting than work, compared with it", () => {
  const curve = [point(100, 1), point(200, 1.5), point(400, 2), point(500, 8), point(550, 40)];
  assert.equal(kneeOf(curve), 2);
  assert.equal(kneeOf(curve.slice(0, 3)), null);
  assert.equal(kneeOf([point(0, 1), point(10, null), point(20, 5)]), null);
  const unsteady = [point(100, 1), point(120, 1.5), point(400, 2), point(450, 9)];
  assert.equal(kneeOf(unsteady), 2, "one step that brings more waiting is no knee");
});

test("a response curve is said to have its knee where the page puts it, or none", async () => {
  const { sentence } = await loadKind("response");
  const model = readModel("series,x,y,low,high,n\nReads,100,1,,,\nReads,200,1.5,,,\nReads,220,9,,,\n");
  const told = (knee) => sentence(model, { x: String, y: String, title: null, settings: { knee } });
  assert.match(told(undefined), /, with the knee at 200$/);
  assert.match(told(100), /, with the knee at 100$/);
  assert.doesNotMatch(told(false), /knee/);
});

test("a response curve of two files has the loads that are asked for, in their order", async () => {
  const { join } = await loadKind("response");
  const models = ["0.1 0.2 0.9", "100 180 190"].map((values) => {
    const rows = values.split(" ").map((y, at) => `A,${2 ** at},${y},,,\n`);
    return readModel(`series,x,y,low,high,n\n${rows.join("")}`);
  });
  const loads = (settings) => join(models, settings).series[0].points.map(({ x, y, at }) => [at, x, y]);
  assert.deepEqual(loads({}), [
    [1, 100, 0.1],
    [2, 180, 0.2],
    [4, 190, 0.9],
  ]);
  assert.deepEqual(loads({ at: ["2", "4"] }), [
    [2, 180, 0.2],
    [4, 190, 0.9],
  ]);
});

test("a colour lies between those of a ramp, and never beyond its ends", () => {
  const ramp = [
    [0, 0, 0],
    [100, 100, 100],
    [200, 0, 0],
  ];
  assert.equal(colorAt(ramp, 0.25), "rgb(50, 50, 50)");
  assert.equal(colorAt(ramp, 2), "rgb(200, 0, 0)");
  assert.equal(colorAt(ramp, -1), "rgb(0, 0, 0)");
});

test("an interval of a forest that says hardly anything does not decide where its axis ends", () => {
  const [point, usual, none] = forest.measured([
    { y: 12, low: 0.001, high: 1e5, min: 6, max: 24 },
    { y: -1, low: -20, high: 3 },
    { y: 2, low: null, high: null },
  ]);
  assert.deepEqual(point, { y: 12, low: 1.5, high: 96, min: 6, max: 24 });
  assert.deepEqual(usual, { y: -1, low: -20, high: 3 });
  assert.deepEqual([none.low, none.high], [null, null]);
});

test("a forest's rows: one for each series, each x, or groups with a heading above or beside them", () => {
  const single = rowsOf(["all"], 3);
  assert.deepEqual([single.headings, single.laneOf(2, 0), single.count], [[], 2, 3]);
  const perX = rowsOf(["a", "b"], 1);
  assert.deepEqual([perX.headings, perX.laneOf(0, 1), perX.count], [[], 1, 2]);
  const above = rowsOf(["a", "b"], 2, { heightOf: (x) => (x === "a" ? 3 : 1) });
  assert.deepEqual(above.headings, [
    { lane: 1, x: "a" },
    { lane: 5, x: "b" },
  ]);
  assert.deepEqual([above.laneOf(0, 0), above.laneOf(1, 1), above.count], [3, 7, 8]);
  const beside = rowsOf(["a", "b"], 3, { isBeside: true });
  assert.deepEqual(
    beside.headings.map(({ lane }) => lane),
    [1, 4.5],
  );
  assert.equal(beside.laneOf(0, 1), 3.5);
});

test("several files are columns of one, or series of one, at the places that are asked for", () => {
  const [iops, latency] = [
    readModel("I/O size,4096,65536\nplain,100,90\njournal,50,45\n"),
    readModel("I/O size,4096,65536\nplain,1,2\njournal,3,4\n"),
  ];
  const columns = valueOfEachFile([iops, latency], { names: ["writes", "waiting"], at: 65536 });
  assert.deepEqual(columns.xs, ["writes", "waiting"]);
  assert.deepEqual(
    columns.series.map(({ name, points }) => [name, ...points.map(({ y }) => y)]),
    [
      ["plain", 90, 2],
      ["journal", 45, 4],
    ],
  );
  const series = seriesOfEachFile([iops, latency], { names: ["writes", "waiting"], of: "journal" });
  assert.deepEqual(
    series.series.map(({ name, points }) => [name, ...points.map(({ y }) => y)]),
    [
      ["writes", 50, 45],
      ["waiting", 3, 4],
    ],
  );
});

test("read from afar, a figure has two digits, and a rounded one keeps its zero", () => {
  const of = (...args) => short(...args);
  assert.deepEqual(
    [
      of(4.24838, "ratio"),
      of(12.4999, "seconds"),
      of(0.0042499, "seconds"),
      of(1249.6, "operations_per_second"),
    ],
    ["4.2×", "12 s", "4.2 ms", "1.2k ops/s"],
    "rounded once",
  );
  assert.equal(of(60.69, "seconds"), "61 s");
  assert.equal(of(4.843, "seconds"), "4.8 s");
  assert.equal(of(2.04, "ratio"), "2.0×");
  assert.equal(of(16.4, "ratio"), "16×");
  assert.equal(of(1012, "operations_per_second"), "1.0k ops/s");
});

/** Each kind with what it is told as, and the first row of its table. */
const TOLD = {
  quadrant: {
    csv: "way,lost,typical,tail,under load\nJournal,5,0.01,0.03,95\nNone,1e9,0,,\n",
    sentence: /^Quadrant: Journal lost 5 s, typical 10 ms, tail 30 ms, under load 95 s; None /,
    row: ["5 s", "10 ms", "30 ms", "95 s"],
  },
  dumbbell: {
    csv: "way,typical,tail\nJournal,0.01,0.03\n",
    sentence: /^Dumbbells: Journal 10 ms for typical, 30 ms for tail\.$/,
    row: ["10 ms", "30 ms"],
  },
  forest: {
    csv: "series,x,y,low,high,n\nHost,Estimate,2,1.5,2.5,6\n",
    yUnit: "ratio",
    sentence: /^Estimates: Host 2\.00× \(1\.50× to 2\.50×\)\.$/,
    row: ["2.00×", "6"],
  },
  strip: {
    csv: "series,x,y,low,high,n\nJournal,1,1,,,1\nJournal,2,3,,,1\nJournal,3,2,,,1\n",
    sentence: /^Trials: Journal median 2 s, worst 3 s of 3 trials\.$/,
    row: ["2 s", "3 s", "3"],
  },
  squares: {
    csv: "writes,kept,lost\nJournal,60,5\n",
    units: ["count", "seconds"],
    sentence: /^Squares: Journal 60 kept, 5 s lost/,
    row: ["60", "5 s"],
  },
  "squares of trials": {
    id: "squares",
    csv: "series,x,y,low,high,n\nSnapshot,1,14,,,1\nSnapshot,2,16,,,1\nJournal,1,3,,,1\n",
    levels: { name: "interval", of: { Snapshot: 15 } },
    sentence:
      /^Squares: Snapshot median 15 s, worst 16 s of 2 trials, interval 15 s; Journal 3 s in the only trial\.$/,
    row: ["15 s", "16 s", "2", "15 s"],
  },
  response: {
    csv: "series,x,y,low,high,n\nReads,100,1,,,\nReads,200,1.5,,,\nReads,220,9,,,\n",
    sentence: /knee/,
    row: null,
  },
  chain: {
    csv: "layer,writes,cpu\nDisk,64,0.5\nCeph,16,0.95\n",
    yUnit: "operations_per_second",
    sentence: /^Chain: Disk 64 ops\/s, cpu 50 %; Ceph 16 ops\/s, ÷ 4(?:\.0)?, cpu 95 %\.$/,
    row: ["64 ops/s", "–", "50 %"],
  },
  heatmap: {
    csv: "time,1,2\nrun 1,0.003,\nrun 2,0.004,0.2\n",
    sentence:
      /^Heat map, 2 by 2: lowest 3 ms for run 1 at 1 s; highest 200 ms for run 2 at 2 s; not measured in 1 of 4/,
    row: null,
  },
  share: {
    csv: "clients,1,2\nfinished,10,12\nslowest,1,3\n",
    units: ["operations_per_second", "seconds"],
    sentence: /^Shares: finished 10 ops\/s at 1, 12 ops\/s at 2; slowest 1 s at 1, 3 s at 2\.$/,
    row: ["10 ops/s", "1 s"],
  },
};

for (const [title, told] of Object.entries(TOLD)) {
  const { id = title, csv, sentence, row, yUnit = "seconds", units, levels } = told;
  test(`${title}: one sentence says what it shows, and a table has its figures`, async () => {
    const kind = await loadKind(id);
    const model = readModel(csv, kind.defaults?.({ yUnit }) ?? {});
    const settings = { type: id, yUnit, units, levels, xUnit: id === "quadrant" ? "seconds" : null };
    assert.match(summarize(model, settings), sentence);
    const shown = model.series.map(({ name }) => name);
    const chart = {
      kind: id,
      heading: null,
      model,
      shown,
      axes: { xLabel: model.xLabel, ...settings },
      settings,
    };
    const [table] = tablesOf([chart]);
    assert.ok(table.rows.length > 0);
    if (row === null) return;
    assert.deepEqual(
      table.rows[0].cells.map(({ text }) => text),
      row,
    );
  });
}

test("a series of shares that is shown alone keeps its unit, also where a slide names it first", async () => {
  const { csv, units } = TOLD.share;
  const { defaults } = await loadKind("share");
  const model = readModel(csv, defaults());
  const told = (settings) => {
    const axes = { xLabel: model.xLabel, xUnit: null, yUnit: null };
    const chart = { kind: "share", heading: null, model, shown: ["slowest"], axes, settings };
    return [
      summarize(withSeries(model, ["slowest"]), { type: "share", ...axes, ...settings }),
      tablesOf([chart])[0].rows[0].cells[0].text,
    ];
  };
  assert.deepEqual(told({ units }), ["Shares: slowest 1 s at 1, 3 s at 2.", "1 s"]);
  const [first, second] = units;
  const turned = { units: [second, first], series: ["slowest", "finished"] };
  assert.deepEqual(told(turned), told({ units }));
});

test("a step of a chain loses what the step before it on show had more", async () => {
  const { defaults } = await loadKind("chain");
  const model = readModel("layer,writes\nDisk,64\nCeph,32\nClient,16\n", defaults());
  const axes = { xLabel: model.xLabel, xUnit: null, yUnit: "operations_per_second" };
  const [{ rows }] = tablesOf([
    { kind: "chain", heading: null, model, shown: ["Disk", "Client"], axes, settings: {} },
  ]);
  assert.match(rows[1].cells[1].text, /^÷ 4(?:\.0)?$/);
});

test("a quadrant of several files has the ways of the first, and those that only another has", () => {
  const way = (name, lost) => ({ name, points: [{ x: "lost", y: lost }] });
  const model = (...series) => ({ kind: "wide", xLabel: "Way", xs: ["lost"], series });
  const joined = quadrant.join([model(way("A", 5), way("B", 16)), model(way("A", null), way("C", 0))]);
  assert.deepEqual(joined, model(way("A", 5), way("B", 16), way("C", 0)));
});

test("a key places the next bet, and moves the one in hand from cell to cell", () => {
  const placed = new Map([["of another chart", { x: 2, y: 2 }]]);
  const cells = { names: ["a", "b"], x: [0, 1, Infinity], y: [0.005, 0.05] };
  const press = (step) => {
    const [name, at] = nextBet(placed, step, cells);
    placed.delete(name);
    placed.set(name, at);
    return [name, at.x, at.y];
  };
  const pressed = (...steps) => steps.map(press).at(-1);
  assert.deepEqual(pressed("x"), ["a", 0, 0.005], "any key takes the first");
  assert.deepEqual(pressed("x"), ["a", 1, 0.005]);
  assert.deepEqual(pressed("x", "y"), ["a", Infinity, 0.05]);
  assert.deepEqual(pressed("x", "y"), ["a", 0, 0.005], "after the last cell the first");
  assert.deepEqual(pressed("name"), ["b", 0, 0.005]);
  placed.set("b", { x: 0.4, y: 0.01 });
  assert.deepEqual(pressed("x"), ["b", 1, 0.01], "from where the mouse placed it");
  assert.deepEqual(pressed("y"), ["b", 1, 0.05]);
  assert.deepEqual(pressed("name", "x"), ["a", 1, 0.005], "all are placed: the first again");
  assert.deepEqual(pressed("name"), ["b", 1, 0.05]);
});

test("of arrows that end at one place the first way has it, whatever a slide shows first", () => {
  const way = (name, ...values) => ({ name, points: values.map((y, at) => ({ x: String(at), y })) });
  const series = [
    way("A", 5, 1, 2, 95),
    way("B", 1, 1, 2, 93),
    way("C", 16, 1, 2, 17),
    way("D", 60, 1, 2, null),
  ];
  assert.deepEqual(quadrant.parts({ series }), ["A →", "C →"]);
  assert.deepEqual(quadrant.parts({ series }, { bets: ["cheap"] }), ["A →", "C →", "your bets"]);
  assert.deepEqual(quadrant.parts({ series }, { bets: ["cheap"], bet: true }), ["A →", "C →"]);
  const tips = quadrant
    .marks({ series })
    .map(({ points }) => points.filter(({ role }) => role === "to").length);
  assert.deepEqual(tips, [1, 0, 1, 0]);
});
