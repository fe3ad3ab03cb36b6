/** The talk's answer: which figures a chart shows, where they stand, and what is said where there are none. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { adviceOf } from "../../../deck/data/advice.js";
import { answerSource, decisionTable, parseAnswer, waysOf } from "../../../deck/data/answer.js";
import { appendixNumbers } from "../../../deck/stage/slide-number.js";
import { medianOf } from "../../../deck/data/median.js";
import { dotsAcross, namesInLanes } from "../../../deck/stage/strip-chart.js";
import { answerLayout, goneLayout } from "../../../deck/text/answer-layout.js";
import { ratioBars } from "../../../deck/text/ratio-bars.js";
import { movedSentence, releaseRows } from "../../../deck/text/releases.js";
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
  ...["recovery_point_source", "recovery_time_median_seconds", "latency_added_4k_seconds"],
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
    recovery_time_median_seconds: 0.0803,
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
  },
};
const UNMEASURED = { name: "snapshot-1", label: "Each second", mode: "snapshot-mirrored" };
const answer = parseAnswer(csvOf(NONE, ALONE, JOURNAL, SNAPSHOT, UNMEASURED));
const BOX = { width: 1136, height: 480 };

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
  assert.deepEqual([price.figure, price.source, price.n], ["latency_added_4k", "write-latency", 6]);
  assert.deepEqual(loss, { source: "site-loss", n: 20 });
  assert.deepEqual([modes[1].low, modes[1].high], [0.002, 0.003]);
  const bytes = { media_bytes_per_byte_4k_n: 6, media_bytes_per_byte_4k_source: "amplification: x" };
  const older = waysOf(
    parseAnswer(csvOf({ ...NONE, ...bytes }, { ...UNMEASURED, media_bytes_per_byte_4k: 9.7, ...bytes })),
  );
  assert.deepEqual([older.price.figure, older.loss], ["media_bytes_per_byte_4k", null]);
  assert.deepEqual(waysOf(null), { price: null, loss: null, modes: [] });
});

test("the empty chart gives nothing away, the price has heights, and the whole has each measured way in its place", () => {
  const ways = waysOf(answer);
  const at = (stage) => answerLayout(ways, { stage, ...BOX });
  const empty = at("empty");
  assert.deepEqual([empty.points, empty.lines, empty.yTicks, empty.unplaced], [[], [], [], []]);
  const price = at("price");
  assert.deepEqual(price.points, []);
  assert.deepEqual(
    price.lines.map(({ name }) => name),
    ["none", "snapshot-60", "journal-5"],
  );
  const { plot, points, lines, unplaced, xTicks } = at("whole");
  assert.deepEqual([lines, unplaced], [[], ["Each second"]]);
  const [none, snapshot, journal] = points;
  assert.ok(plot.left < journal.at && journal.at < snapshot.at && snapshot.at < plot.beyond);
  assert.ok(plot.beyond < none.at && none.y === plot.bottom && journal.y < snapshot.y);
  assert.ok(journal.medianAt < journal.at);
  assert.deepEqual(journal.text, ["Journal mirrored", "5.6 s lost, 2.4 ms"]);
  assert.equal(none.text[1], "everything lost, no price");
  // The axis of losses stays where it is from the first stage to the last.
  assert.deepEqual(empty.xTicks, xTicks);
});

test("labels do not lie on each other, however close the points are", () => {
  const ways = waysOf(answer);
  const crowd = Array.from({ length: 6 }, (_, index) => ({
    ...ways.modes[1],
    ...{ name: `m${index}`, worst: 5 + index / 100, median: null, price: 0.002 },
  }));
  const { points } = answerLayout({ ...ways, modes: crowd }, { stage: "whole", width: 1136, height: 700 });
  // Labels on the left of the points cannot meet those on their right.
  const sides = ["start", "end", "middle"].map((anchor) => points.filter((point) => point.anchor === anchor));
  assert.equal(sides.flat().length, crowd.length);
  for (const side of sides) {
    const heights = side.map(({ labelY }) => labelY).sort((a, b) => a - b);
    heights.slice(1).forEach((y, index) => assert.ok(y - heights[index] >= 50, `${heights}`));
  }
});

test("a label that would lie on a neighbour's interval moves to where it lies on none, also downwards", () => {
  const ways = waysOf(answer);
  const way = (name, worst, price, low, high) => ({
    ...ways.modes[1],
    ...{ name, label: `Snapshots every ${worst} s`, worst, median: worst / 2, price, low, high },
  });
  const modes = [
    way("few", 61, 0.0063, 0.0018, 0.0109),
    way("many", 16, 0.0035, 0.001, 0.006),
    way("soon", 4.8, 0.0098, 0.0067, 0.013),
    way("dear", 3.8, 0.072, 0.07, 0.074),
  ];
  const { points } = answerLayout({ ...ways, modes }, { stage: "whole", ...BOX });
  for (const { text, anchor, labelAt, labelY } of points) {
    const length = 10.2 * Math.max(...text.map((line) => line.length));
    const start = anchor === "end" ? labelAt - length : labelAt;
    const [top, bottom] = [labelY - 19, labelY + 31];
    for (const { at, highY, lowY, name } of points) {
      const isCrossed = start < at && at < start + length && top < lowY && highY < bottom;
      assert.ok(!isCrossed, `“${text[0]}” is crossed by the interval of ${name}`);
    }
  }
  const many = points.find(({ name }) => name === "many");
  assert.ok(many.anchor === "end" && many.labelY > many.y, "below the bar to its median");
});

test("on a phone, labels of points hide neither each other nor the axis' name, and those of lines keep off its ticks", () => {
  const ways = waysOf(answer);
  const way = (label, worst, price, low, high) => ({
    ...ways.modes[1],
    ...{ name: label, label, worst, median: worst / 2, price, low, high },
  });
  const modes = [
    ways.modes[0],
    way("Snapshots every 60 s", 61, 0.0063, 0.0018, 0.0109),
    way("Snapshots every 15 s", 16, 0.0035, 0.001, 0.006),
    way("Journal mirrored", 4.8, 0.0098, 0.0067, 0.013),
    way("Snapshots every second", 3.8, 0.072, 0.07, 0.074),
  ];
  const type = 13;
  const letter = (10.2 * type) / 20;
  const line = (25 * type) / 20;
  // The size of its box in css/answer.css, less the line that says where the data come from.
  const box = { width: 350, height: 360, type };
  const { points, plot } = answerLayout({ ...ways, modes }, { stage: "whole", ...box });
  const labels = points.map(({ text: [name, figures], anchor, labelAt, labelY }) => {
    const length = letter * Math.max(1.15 * name.length, figures.length);
    const left = anchor === "end" ? labelAt - length : labelAt;
    return { name, left, right: left + length, top: labelY - line + 4, bottom: labelY + line + 4 };
  });
  assert.equal(labels.length, 5);
  labels.forEach((one, at) => {
    assert.ok(one.top >= plot.top - line / 2, `${one.name} covers the name of the axis`);
    for (const other of labels.slice(at + 1)) {
      const apart =
        one.right <= other.left ||
        other.right <= one.left ||
        one.bottom <= other.top ||
        other.bottom <= one.top;
      assert.ok(apart, JSON.stringify([one, other]));
    }
  });
  const price = answerLayout({ ...ways, modes }, { stage: "price", ...box });
  assert.equal(price.lines.length, 5);
  for (const { text, labelAt } of price.lines)
    assert.ok(labelAt - 1.15 * letter * text.length >= price.plot.left, `“${text}” lies on the ticks`);
});

test("a box without a size, on a slide that is hidden, is laid out as well", () => {
  const { points } = answerLayout(waysOf(answer), { stage: "whole", width: 0, height: 0 });
  assert.equal(points.length, 3);
  for (const { labelAt, labelY } of points) assert.ok(Number.isFinite(labelAt + labelY));
});

test("what is gone is crossed out from the loss backwards, for as long as the worst trial lost", () => {
  const { rows, seconds, unplaced } = goneLayout(waysOf(answer), BOX);
  assert.deepEqual(
    rows.map(({ label }) => label),
    ["Journal mirrored", "Snapshots"],
  );
  assert.deepEqual(unplaced, ["Each second"]);
  assert.equal(seconds, 67.4 * 1.25);
  for (const [index, worst] of [5.64, 67.4].entries()) {
    const { marks } = rows[index];
    const gone = marks.filter((mark) => mark.gone).length / marks.length;
    assert.ok(Math.abs(gone - worst / seconds) <= 1 / marks.length, `${gone}`);
    assert.ok(marks.at(-1).gone);
  }
});

test("the table has three digits, and words where nothing was measured", () => {
  const { ways, rows } = decisionTable(answer);
  assert.equal(ways.length, 4);
  assert.deepEqual(rows[0], {
    title: "Lost at worst",
    cells: ["all since the last backup", "5.64 s", "67.4 s", "not measured"],
  });
  assert.deepEqual(rows[1].cells, ["a restore", "80.3 ms", "not measured", "not measured"]);
  assert.equal(rows.length, 3, "bytes to disks stand in only where no latency was measured");
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

test("in a narrow box the titles are shorter, ticks do not touch, and each label stays within it", () => {
  const ways = waysOf(answer);
  const type = 13;
  for (const width of [280, 320, 350]) {
    const { titles, plot, points, xTicks } = answerLayout(ways, { stage: "whole", width, height: 320, type });
    assert.ok(titles.loss.length * type * 0.51 < width, titles.loss);
    assert.ok(titles.price.every((line) => line.length * type * 0.51 < width));
    assert.ok(plot.left < plot.beyond && plot.beyond < plot.right && plot.right <= width);
    xTicks.slice(1).forEach(({ at }, index) => assert.ok(at - xTicks[index].at > 2 * type));
    for (const { anchor, labelAt, text } of points) {
      const length = Math.max(...text.map((line) => line.length)) * type * 0.51;
      const start = { start: labelAt, end: labelAt - length, middle: labelAt - length / 2 }[anchor];
      assert.ok(start >= 0 && start + length <= width, `${text}: from ${start} to ${start + length}`);
    }
  }
  const gone = goneLayout(ways, { width: 280, height: 320, type });
  assert.ok(gone.above && gone.left === 0 && gone.right < 280);
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
  const look = answerSource(() => answer);
  assert.equal(look(["journal-5", "recovery_point_worst_seconds"]), "5.6 s");
  assert.equal(look(["none", "media_bytes_per_byte_4k"]), "7");
  for (const wrong of [
    ["nobody", "x"],
    ["journal-5"],
    ["snapshot-1", "recovery_point_worst_seconds"],
    ["none", "mode"],
  ])
    assert.equal(look(wrong), null, wrong.join("."));
  assert.equal(answerSource(() => null)(["none", "mode"]), null);
});

test("prices that differ much are told apart by their logarithms, and no price stays at the bottom", () => {
  const mode = (name, price, worst) => ({
    ...{ name, label: name, kind: "snapshot", worst, median: null, price },
    ...{ low: price && price * 0.9, high: price && price * 1.1 },
  });
  const ways = (...modes) => ({ price: { title: "Added", unit: "seconds" }, loss: {}, modes });
  const box = { stage: "whole", width: 1100, height: 500 };
  const heights = (...modes) => {
    const { plot, points, yTicks } = answerLayout(ways(...modes), box);
    const at = Object.fromEntries(
      points.map(({ name, y }) => [name, (plot.bottom - y) / (plot.bottom - plot.top)]),
    );
    return { at, ticks: yTicks.map(({ text }) => text) };
  };
  const wide = heights(mode("none", 0, 50), mode("a", 0.004, 10), mode("b", 0.008, 5), mode("c", 0.08, 1));
  assert.equal(wide.at.none, 0);
  assert.ok(wide.at.a > 0.1 && wide.at.c < 1);
  const factor = (one, other) => wide.at[one] - wide.at[other];
  assert.ok(Math.abs(factor("c", "b") / factor("b", "a") - Math.log(10) / Math.log(2)) < 1e-9);
  assert.deepEqual(wide.ticks, ["0", "5 ms", "10 ms", "20 ms", "50 ms", "100 ms"]);
  // Prices that are near each other have an axis on which twice as high is twice as much.
  const near = heights(mode("none", 0, 50), mode("a", 0.004, 10), mode("b", 0.008, 5));
  assert.ok(Math.abs(near.at.b / near.at.a - 2) < 1e-9);
});

test("what is no answer.csv is refused, and the shipped one is read", async () => {
  assert.throws(() => parseAnswer("a,b\n1,2\n"), TypeError);
  const text = await readFile(path.join(PROJECT, "benchmarks/tentacle/answer.csv"), "utf8");
  const { modes } = waysOf(parseAnswer(text));
  assert.ok(modes.length >= 5 && modes[0].worst === "everything");
});

test("names of a strip's lanes never run into each other, however narrow the lanes", () => {
  const widthOf = (text) => 8 * text.length;
  const labels = [
    "Journal, poll age 5 s",
    "Journal, poll age 1 s",
    "Snapshots every 60 s",
    "Snapshots every second",
  ];
  const spans = (lane) =>
    namesInLanes(labels, lane, widthOf).map(({ lines, row }, at) => {
      const half = Math.max(...lines.map(widthOf)) / 2;
      const all = labels.length * lane;
      const middle = Math.min(Math.max((at + 0.5) * lane, half), all - half);
      return { left: middle - half, right: middle + half, top: row, bottom: row + lines.length };
    });
  for (const lane of [56, 64, 80, 100, 200, 400]) {
    const names = spans(lane);
    names.forEach((one, at) => {
      assert.ok(one.left >= 0 && one.right <= labels.length * lane, `${lane} px: ${labels[at]} is cut`);
      for (const other of names.slice(at + 1)) {
        const beside = one.right < other.left;
        const apart = beside || one.bottom <= other.top || other.bottom <= one.top;
        assert.ok(apart, `${lane} px: ${JSON.stringify([one, other])}`);
      }
    });
  }
  assert.deepEqual(
    namesInLanes(labels, 400, widthOf).map(({ lines, row }) => [lines.length, row]),
    labels.map(() => [1, 0]),
  );
});

test("a strip spreads its dots within their lane, and its line is the median", () => {
  assert.deepEqual(dotsAcross(1, { middle: 50, width: 40 }), [50]);
  const many = dotsAcross(40, { middle: 50, width: 40 });
  assert.ok(many.every((x) => x > 30 && x < 70) && new Set(many).size > 3);
  assert.deepEqual([medianOf([3, 1, 2]), medianOf([4, 1, 2, 3])], [2, 2.5]);
});

test("ratios as bars share one scale, and one without an estimate says so", () => {
  const claims = {
    claims: { a: { conditions: { x: { estimate: 2, low: 1.5, high: 2.5 }, y: { estimate: null } } } },
  };
  const [two, none] = ratioBars("with = a.x | without = a.y", claims);
  assert.deepEqual([two.label, two.text, none.text, none.share], ["with", "2.0×", "not measured", null]);
  assert.ok(
    Math.abs(two.share / two.one - 2) < 1e-9 && two.high < 1 && Math.abs(two.low / two.one - 1.5) < 1e-9,
  );
});

test("claims by release: a column for each data set, empty where it is not here", () => {
  const claim = (estimate) => ({
    sentence: "S.",
    verdict: "held",
    conditions: { x: { estimate, verdict: "held" } },
  });
  const { columns, rows } = releaseRows(
    ["a", "unknown"],
    [
      { name: "r-16", claims: { claims: { a: claim(2) } }, manifest: { setup: { ceph_version: "16.2.15" } } },
      { name: "r-20", claims: null, manifest: null },
    ],
  );
  assert.deepEqual(columns, [
    { name: "r-16", title: "Ceph 16.2.15", here: true },
    { name: "r-20", title: "r-20", here: false },
  ]);
  assert.deepEqual(
    rows.map(({ id, cells }) => [id, cells.map((cell) => cell?.condition.estimate ?? null)]),
    [["a", [2, null]]],
  );
});

test("claims by release: how far the newest moved from each older one that has a column", () => {
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
  const { newest, rows } = releaseRows(["a"], sets);
  assert.equal(newest, "Ceph 20.2.4");
  const moved = { from: "r-16", ratio: 0.8, low: 0.7, high: 0.9, moved: true, missing: null };
  assert.deepEqual(rows[0].moves, [moved, { ...moved, from: "r-18", moved: false }]);
  assert.equal(
    movedSentence(releaseRows(["a"], sets)),
    "Moved by more than noise (≠) in Ceph 20.2.4: 1 of 1 since 16.2.15, none of 1 since 18.2.7.",
  );
  const untested = { ...found, low: null, high: null, interval: null, more_than_noise: null };
  const early = { ...sets[3], releases: { against: { "r-16": against(untested) } } };
  assert.match(
    movedSentence(releaseRows(["a"], [...sets.slice(0, 3), early])),
    /no difference is tested yet/,
  );
  const counts = { ...untested, ratio: null, missing: "counts: alike" };
  const counted = { ...sets[3], releases: { against: { "r-16": against(counts) } } };
  assert.equal(movedSentence(releaseRows(["a"], [...sets.slice(0, 3), counted])), null);
  const alone = releaseRows(["a"], sets.slice(0, 1));
  assert.deepEqual([alone.newest, movedSentence(alone)], [null, null]);
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
