/** The talk's answer: which figures a chart shows, where they stand, and what is said where there are none. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { answerModel, answerOrigin, answerSource, parseAnswer, waysOf } from "../../../deck/data/answer.js";
import { adviceOf, decisionTable } from "../../../deck/data/decisions.js";
import { appendixNumbers, minutesOf } from "../../../deck/stage/slide-number.js";
import { movedSentence } from "../../../deck/text/releases.js";
import { columnTitles } from "../../../deck/text/stacked-tables.js";
import { PROJECT } from "../../../scripts/deck/data-sets.js";

const COLUMNS = [
  ...[
    "name",
    "label",
    "mode",
    "recovery_point_worst_seconds",
    "recovery_point_median_seconds",
    "recovery_point_n",
  ],
  ...["recovery_point_source", "recovery_time_worst_seconds", "latency_added_4k_seconds"],
  ...[
    "latency_added_4k_low_seconds",
    "latency_added_4k_high_seconds",
    "latency_added_4k_n",
    "latency_added_4k_source",
  ],
  ...["media_bytes_per_byte_4k", "media_bytes_per_byte_4k_n", "media_bytes_per_byte_4k_source"],
];
const csvOf = (...rows) =>
  `${[COLUMNS, ...rows.map((row) => COLUMNS.map((column) => row[column] ?? ""))].map((line) => line.join(",")).join("\n")}\n`;
const NONE = { name: "none", label: "No mirroring", mode: "none", media_bytes_per_byte_4k: 7 };
const ALONE = { name: "journal", label: "Journal alone", mode: "journal", latency_added_4k_seconds: 0.001 };
const LOST = { recovery_point_n: 20, recovery_point_source: "site-loss: recovery_point_seconds" };
const PAID = { latency_added_4k_n: 6, latency_added_4k_source: "write-latency: latency_mean_seconds" };
const JOURNAL = {
  ...{ name: "journal-5", label: "Journal mirrored", mode: "journal-mirrored", ...LOST, ...PAID },
  ...{
    recovery_point_worst_seconds: 5.64,
    recovery_point_median_seconds: 2.9,
    recovery_time_worst_seconds: 0.0803,
  },
  ...{
    latency_added_4k_seconds: 0.00241,
    latency_added_4k_low_seconds: 0.002,
    latency_added_4k_high_seconds: 0.003,
  },
};
const SNAPSHOT = {
  ...{ name: "snapshot-60", label: "Snapshots", mode: "snapshot-mirrored", ...LOST, ...PAID },
  ...{
    recovery_point_worst_seconds: 67.4,
    recovery_point_median_seconds: 41,
    latency_added_4k_seconds: 0.0001,
    latency_added_4k_low_seconds: 0.00005,
    latency_added_4k_high_seconds: 0.00015,
  },
};
const UNMEASURED = { name: "snapshot-1", label: "Each second", mode: "snapshot-mirrored" };
const answer = parseAnswer(csvOf(NONE, ALONE, JOURNAL, SNAPSHOT, UNMEASURED));

test("the ways are no mirroring and what is mirrored; the price is the first figure that several of them have", () => {
  const { price, loss, modes } = waysOf(answer);
  assert.deepEqual(
    modes.map(({ name, worst, price: paid }) => [name, worst, paid]),
    [
      ["none", "everything", 0],
      ["journal-5", 5.64, 0.00241],
      ["snapshot-60", 67.4, 0.0001],
      ["snapshot-1", null, null],
    ],
  );
  assert.deepEqual([price.figure, price.sources, price.n], ["latency_added_4k", ["write-latency"], 6]);
  assert.deepEqual(loss, { sources: ["site-loss"], n: 20 });
  // A supplement is an experiment of its own.
  const often = { name: "journal-1", label: "Each 1 s", latency_added_4k_source: "write-latency-poll: x" };
  const supplemented = waysOf(parseAnswer(csvOf(NONE, JOURNAL, { ...JOURNAL, ...often }))).price;
  assert.deepEqual(supplemented.sources, ["write-latency", "write-latency-poll"]);
  assert.deepEqual([modes[1].low, modes[1].high], [0.002, 0.003]);
  const bytes = { media_bytes_per_byte_4k_n: 6, media_bytes_per_byte_4k_source: "amplification: x" };
  const older = waysOf(
    parseAnswer(csvOf({ ...NONE, ...bytes }, { ...UNMEASURED, media_bytes_per_byte_4k: 9.7, ...bytes })),
  );
  assert.deepEqual([older.price.figure, older.loss], ["media_bytes_per_byte_4k", null]);
  assert.deepEqual(waysOf(null), { price: null, loss: null, modes: [] });
});

test("a stretch cluster is a way of the data set that measured one, and loses nothing", () => {
  const stretch = { name: "stretch-20", label: "Stretched over 20 ms", mode: "stretch" };
  const trials = { ...LOST, recovery_point_worst_seconds: 0 };
  const namesOf = (...rows) =>
    waysOf(parseAnswer(csvOf(...rows))).modes.map(({ name, worst }) => [name, worst]);
  assert.deepEqual(namesOf(NONE, { ...stretch, ...trials }), [
    ["none", "everything"],
    ["stretch-20", 0],
  ]);
  assert.deepEqual(namesOf(NONE, stretch), [["none", "everything"]]);
});

const valuesOf = ({ series }) =>
  Object.fromEntries(series.map(({ name, points }) => [name, points.map(({ y }) => y)]));

test("as a quadrant, a way has what it loses, what is paid, the tail, and what it loses beyond the replay", () => {
  const model = answerModel("quadrant", answer);
  assert.deepEqual(model.xs.slice(0, 2), ["Lost at worst", "Time that a 4K write takes longer, on average"]);
  assert.deepEqual(valuesOf(model), {
    "No mirroring": [Infinity, 0, null, null],
    "Journal mirrored": [5.64, 0.00241, null, null],
    Snapshots: [67.4, 0.0001, null, null],
    "Each second": [null, null, null, null],
  });
  const [lost, paid] = model.series[1].points;
  assert.deepEqual([lost.low, lost.high], [null, null], "a median is no recovery point");
  assert.deepEqual([paid.low, paid.high, paid.n], [0.002, 0.003, 6]);
});

test("a typical write and the slowest of a hundred are the price, where the data have them", () => {
  const columns = [
    "latency_p50_4k_seconds",
    "latency_p99_4k_seconds",
    "latency_p50_4k_n",
    "latency_p50_4k_source",
  ];
  const more = ["lag_beyond_replay_worst_seconds", ...columns];
  const rows = [
    {
      name: "none",
      label: "None",
      mode: "none",
      latency_p50_4k_seconds: 0.0028,
      latency_p99_4k_seconds: 0.007,
    },
    {
      ...JOURNAL,
      lag_beyond_replay_worst_seconds: 95,
      latency_p50_4k_seconds: 0.0098,
      latency_p99_4k_seconds: 0.033,
    },
  ].map((row) => ({ latency_p50_4k_n: 6, latency_p50_4k_source: "write-latency: x", ...row }));
  const text = [
    [...COLUMNS, ...more],
    ...rows.map((row) => [...COLUMNS, ...more].map((name) => row[name] ?? "")),
  ];
  const model = answerModel("quadrant", parseAnswer(`${text.map((line) => line.join(",")).join("\n")}\n`));
  assert.deepEqual(valuesOf(model), {
    None: [Infinity, 0.0028, 0.007, null],
    "Journal mirrored": [5.64, 0.0098, 0.033, 95],
  });
});

test("beside another answer, a way has a height of the same kind, or none", () => {
  const stretch = { ...LOST, name: "stretch-20", label: "Stretch", mode: "stretch" };
  const beside = parseAnswer(
    csvOf({ ...stretch, recovery_point_worst_seconds: 0, media_bytes_per_byte_4k: 8 }, NONE),
  );
  const heightOf = (drawn) => valuesOf(answerModel("quadrant", beside, drawn)).Stretch;
  assert.deepEqual(heightOf({}), [0, 8, null, null]);
  assert.deepEqual(heightOf({ price: waysOf(answer).price }), [0, null, null, null]);
});

test("as squares, the last seconds before the loss: those that never arrived come last", () => {
  const model = answerModel("squares", answer);
  assert.deepEqual(model.xs, ["confirmed", "never arrived"]);
  const shown = Math.ceil(67.4 * 1.25);
  assert.deepEqual(valuesOf(model), { "Journal mirrored": [shown - 6, 5.64], Snapshots: [shown - 67, 67.4] });
});

test("as a forest, the prices alone; and where the figures come from is said", () => {
  assert.deepEqual(valuesOf(answerModel("forest", answer)), {
    "No mirroring": [0],
    "Journal mirrored": [0.00241],
    Snapshots: [0.0001],
    "Each second": [null],
  });
  assert.equal(answerOrigin(answer), "lost: n = 20, price: n = 6");
  assert.match(answerOrigin(null), /derive it again/);
});

test("the table has three digits, and words where nothing was measured", () => {
  const { ways, rows } = decisionTable(answer);
  assert.equal(ways.length, 4);
  assert.deepEqual(
    rows.map(({ title }) => title),
    ["Lost at worst", "First write after, at worst", "Added to a 4K write, on average"],
    "bytes to disks stand in only where no latency was measured",
  );
  assert.deepEqual(rows[0], {
    title: "Lost at worst",
    cells: ["all since the last backup", "5.64 s", "67.4 s", "not measured"],
  });
  assert.deepEqual(rows[1].cells, ["a restore", "80.3 ms", "not measured", "not measured"]);
});

test("the advice follows the figures: who is best at what, and no word on what was not measured", () => {
  assert.deepEqual(adviceOf(answer), [
    "what a backup can restore",
    "the fewest seconds lost",
    "the cheapest small writes",
    "not measured",
  ]);
  const media = (value, low, high) => ({
    media_bytes_per_byte_4k: value,
    media_bytes_per_byte_4k_low: low,
    media_bytes_per_byte_4k_high: high,
    media_bytes_per_byte_4k_n: 6,
    media_bytes_per_byte_4k_source: "amplification: x",
  });
  const way = (name, figures) => ({ name, label: name, mode: "snapshot-mirrored", ...LOST, ...figures });
  const columns = [...COLUMNS, "media_bytes_per_byte_4k_low", "media_bytes_per_byte_4k_high"];
  const told = (...rows) =>
    adviceOf({
      modes: rows.map((row) => Object.fromEntries(columns.map((name) => [name, String(row[name] ?? "")]))),
    });
  // Two intervals that overlap are both named; a third is worse in everything that was measured.
  assert.deepEqual(
    told(way("a", media(9, 8, 10)), way("b", media(9.5, 8.5, 10.5)), way("c", media(30, 29, 31))),
    ["small writes as cheap as any", "small writes as cheap as any", "too little measured to say"],
  );
  // Of a single block nothing is known but its own value.
  assert.deepEqual(told(way("a", media(9)), way("b", media(30, 30, 30))), [
    "too little measured to say",
    "too little measured to say",
  ]);
  // Nothing is advised where nothing can be told apart, nor by one figure alone.
  assert.deepEqual(told(way("a", media(9, 8, 10)), way("b", media(9.5, 8.5, 10.5))), [
    "too little measured to say",
    "too little measured to say",
  ]);
  assert.deepEqual(told(way("a", { recovery_point_worst_seconds: 1 }), way("b", {})), [
    "too little measured to say",
    "not measured",
  ]);
  assert.deepEqual(adviceOf(null), []);
});

test("each column of a stacked table has its heading, also below one that spans several", () => {
  const cell = (text, columns = 1, rows = 1) => ({ text, columns, rows });
  assert.deepEqual(
    columnTitles([
      [cell("Size", 1, 2), cell("Reads", 2)],
      [cell("with"), cell("without")],
    ]),
    ["Size", "Reads, with", "Reads, without"],
  );
  assert.deepEqual(columnTitles([[cell(""), cell("A")]]), ["", "A"]);
  assert.deepEqual(columnTitles([]), []);
});

test("a bound value reads a field of answer.csv with two digits, and null where there is none", () => {
  const look = answerSource(answer);
  assert.equal(look(["journal-5", "recovery_point_worst_seconds"]), "5.6 s");
  assert.equal(look(["none", "media_bytes_per_byte_4k"]), "7");
  for (const wrong of [
    ["nobody", "x"],
    ["journal-5"],
    ["snapshot-1", "recovery_point_worst_seconds"],
    ["none", "mode"],
  ])
    assert.equal(look(wrong), null, wrong.join("."));
  assert.equal(answerSource(null)(["none", "mode"]), null);
});

test("what is no answer.csv is refused, and the shipped one is read", async () => {
  assert.throws(() => parseAnswer("a,b\n1,2\n"), TypeError);
  const text = await readFile(path.join(PROJECT, "benchmarks/tentacle/answer.csv"), "utf8");
  const { modes } = waysOf(parseAnswer(text));
  assert.ok(modes.length >= 5 && modes[0].worst === "everything");
});

test("releases: how many estimates moved in the newest, since each older one that is here", () => {
  const manifest = (version) => ({ setup: { ceph_version: version } });
  const conditions = {
    first: { estimate: 1, verdict: "refuted" },
    deciding: { estimate: 2, verdict: "held" },
  };
  const claims = { claims: { a: { sentence: "S.", verdict: "held", conditions } } };
  const found = { ratio: 0.8, low: 0.7, high: 0.9, interval: "paired", more_than_noise: true, missing: null };
  const against = (one) => ({ claims: { a: { conditions: { deciding: one, first: { ratio: 9 } } } } });
  const releases = {
    against: {
      "r-16": against(found),
      "r-18": against({ ...found, more_than_noise: false, interval: "welch" }),
      "r-19": against(found),
    },
  };
  const sets = [
    { name: "r-16", claims, manifest: manifest("16.2.15") },
    { name: "r-18", claims, manifest: manifest("18.2.7"), releases: { against: { "r-16": against(found) } } },
    { name: "r-19", claims: null, manifest: null },
    { name: "r-20", claims, manifest: manifest("20.2.4"), releases },
  ];
  assert.equal(
    movedSentence(["a"], sets),
    "Moved by more than noise in Ceph 20.2.4: 1 of 1 since 16.2.15, none of 1 since 18.2.7.",
  );
  const untested = { ...found, low: null, high: null, interval: null, more_than_noise: null };
  const early = { ...sets[3], releases: { against: { "r-16": against(untested) } } };
  assert.match(movedSentence(["a"], [...sets.slice(0, 3), early]), /no difference is tested yet/);
  const counts = { ...untested, ratio: null, missing: "counts: alike" };
  const counted = { ...sets[3], releases: { against: { "r-16": against(counts) } } };
  assert.equal(movedSentence(["a"], [...sets.slice(0, 3), counted]), null);
  assert.equal(movedSentence(["a"], sets.slice(0, 1)), null);
});

test("a minute of the talk is spoken when the slide that ends nearest to it is on show", () => {
  const seconds = [55, 80, 20, 115];
  assert.deepEqual(
    seconds.map((_, at) => minutesOf(seconds, at)),
    [1, 2, 3, 5].map((spoken) => ({ all: 5, spoken })),
  );
  // On no slide of the talk.
  assert.deepEqual(minutesOf(seconds, -1), { all: 5, spoken: 0 });
});

test("the slides of the appendix have numbers of their own, from its first one", () => {
  const slide = (id, visibility) => ({ id, dataset: { visibility } });
  const numbers = appendixNumbers([
    slide("a"),
    slide("b", "uncounted"),
    slide("", "uncounted"),
    slide("c", "uncounted"),
  ]);
  assert.deepEqual(
    [...numbers],
    [
      ["b", "A1"],
      ["c", "A2"],
    ],
  );
});
