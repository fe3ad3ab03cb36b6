/** The recorded run: its frames, when they change, and its texts. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { parse } from "csv-parse/sync";
import fc from "fast-check";

import {
  Film,
  arrivedRuns,
  changesBetween,
  lastMoment,
  ratioOf,
  spreadOf,
} from "../../../deck/recorded-run/film.js";
import { Recording } from "../../../deck/recorded-run/recording.js";
import { Playback, groupsOf, timelineOf } from "../../../deck/recorded-run/timeline.js";
import { formatDuration, lackingWords, runPosition, runTitle } from "../../../deck/recorded-run/words.js";

const REFERENCE = path.resolve(import.meta.dirname, "../../../benchmarks/tentacle");
const QUANTILES = { 2: 12.7062047, 3: 4.30265273 };

/** A file as numbers by series, then by x: `{Journal: {4096: 1}}`; an empty field is null. */
function table(text) {
  const [header, ...rows] = parse(text);
  const number = (cell) => (cell === "" ? null : Number(cell));
  return Object.fromEntries(
    rows.map(([series, ...cells]) => [
      series,
      Object.fromEntries(cells.map((cell, i) => [header[i + 1], number(cell)])),
    ]),
  );
}

const near = (actual, expected, why) =>
  assert.ok(
    Math.abs(actual - expected) <= 1e-6 * Math.abs(expected),
    `${why ?? ""} ${actual}, not ${expected}`,
  );

// Statistics --------------------------------------------------------------------------------------------------------

test("a median is the middle value, or the mean of the two middle ones, with the least and the greatest", () => {
  assert.deepEqual(spreadOf([3, 1, 2]), { y: 2, low: 1, high: 3, n: 3 });
  assert.deepEqual(spreadOf([10, 2, 4, 1]), { y: 3, low: 1, high: 10, n: 4 });
  assert.deepEqual(spreadOf([5]), { y: 5, low: 5, high: 5, n: 1 });
});

test("a ratio is the geometric mean with a t-interval, and one pair has no interval", () => {
  assert.deepEqual(ratioOf([2], QUANTILES), { y: 2, low: null, high: null, n: 1 });
  const { y, low, high, n } = ratioOf([2, 8], QUANTILES);
  near(y, 4);
  near(high, 4 * Math.exp(QUANTILES[2] * Math.log(2)));
  near(low * high, 16);
  assert.equal(n, 2);
});

// Frames ------------------------------------------------------------------------------------------------------------

const WIDE = 'I/O size,4096,8192\n"Journal, cached",2,20\nPlain,4,\n';
const RUNS = [
  ["Journal, cached", "4096", "1", "1", "1"],
  ["Journal, cached", "4096", "3", "2", "1"],
  ["Journal, cached", "8192", "20", "1", "2"],
  ["Plain", "4096", "4", "1", "1"],
];
const GROUP = { arrives: "run", seconds: [10, 20, 30], x: [4096, 8192, 4096], block: [1, 1, 2] };
const film = (given) =>
  Film({ text: WIDE, runs: RUNS, group: GROUP, ratio: false, quantiles: QUANTILES, ...given });

/** A statistic of a spread file, as a table of the chart's form. */
function statistic(files, column) {
  const found = {};
  for (const row of parse(files.spread, { columns: true }))
    (found[row.series] ??= {})[row.x] = row[column] === "" ? null : Number(row[column]);
  return found;
}

test("before the first moment there are the axes and the series, and no value", () => {
  const files = film().filesAt(-1);
  assert.equal(files[""], 'I/O size,4096,8192\n"Journal, cached",,\nPlain,,\n');
  assert.match(files.spread, /^series,x,low,high,min,max,n\n"Journal, cached",4096,,,,,\n/);
  assert.deepEqual(arrivedRuns(RUNS, GROUP, -1), []);
  assert.deepEqual(Object.keys(files), ["", "spread"]);
});

test("a frame holds the median of the runs that arrived, their least, greatest and number", () => {
  const files = film().filesAt(20);
  assert.deepEqual(table(files[""]), {
    "Journal, cached": { 4096: 1, 8192: 20 },
    Plain: { 4096: 4, 8192: null },
  });
  assert.equal(statistic(files, "n")["Journal, cached"][4096], 1);
  assert.equal(statistic(files, "low")["Journal, cached"][4096], null);
  assert.deepEqual(
    arrivedRuns(RUNS, GROUP, 20).map(([, x]) => x),
    ["4096", "8192", "4096"],
  );
});

test("a frame of a ratio holds its estimate, and the interval as soon as there is one", () => {
  const group = { ...GROUP, seconds: [10, 20, 30, 40], x: [4096, 4096, 4096, 8192], block: [1, 2, 3, 1] };
  const runs = [
    ["Plain", "4096", "2", "1", "1"],
    ["Plain", "4096", "8", "2", "1"],
  ];
  const ratio = film({ ratio: true, group, runs });
  assert.equal(statistic(ratio.filesAt(10), "low").Plain[4096], null);
  near(table(ratio.filesAt(10)[""]).Plain[4096], 2);
  near(table(ratio.filesAt(20)[""]).Plain[4096], 4);
  assert.ok(statistic(ratio.filesAt(20), "low").Plain[4096] < 4);
  assert.equal(statistic(ratio.filesAt(20), "min").Plain[4096], null);
});

test("a run that the recording does not know never arrives", () => {
  const group = { arrives: "run", seconds: [10, 99], x: [4096, 1], block: [1, 1] };
  assert.deepEqual(statistic(film({ group }).filesAt(50), "n")["Journal, cached"], { 4096: 1, 8192: null });
});

const LONG = "series,x,y,low,high,n\nA,1,3,2,4,2\nA,2,7,,,1\nB,1,5,5,5,1\n";

test("a trial arrives as a row of the file", () => {
  const group = { arrives: "row", seconds: [10, 20], x: [1, 2] };
  const trials = film({ text: LONG, runs: null, group });
  assert.equal(trials.filesAt(10)[""], "series,x,y,low,high,n\nA,1,3,2,4,2\nA,2,,,,\nB,1,5,5,5,1\n");
  assert.equal(trials.filesAt(9)[""], "series,x,y,low,high,n\nA,1,,,,\nA,2,,,,\nB,1,,,,\n");
  assert.deepEqual(trials.rangeOf(), { low: 2, high: 7 });
});

test("a block arrives for all entities at once", () => {
  const runs = ["A,1,2,1,1", "A,1,4,2,1", "A,2,7,1,1", "B,1,5,1,1"].map((row) => row.split(","));
  const group = { arrives: "block", seconds: [10, 20], block: [1, 2] };
  assert.equal(
    film({ text: LONG, runs, group }).filesAt(10)[""],
    "series,x,y,low,high,n\nA,1,2,2,2,1\nA,2,7,7,7,1\nB,1,5,5,5,1\n",
  );
});

test("a chart over time is empty until all of it is measured", () => {
  const whole = film({ text: LONG, runs: null, group: { arrives: "whole", seconds: [20] } });
  assert.equal(whole.filesAt(19)[""], "series,x,y,low,high,n\nA,1,,,,\nA,2,,,,\nB,1,,,,\n");
  assert.throws(() => whole.filesAt(20), /own files/);
});

test("the range covers all runs, or those of some series, and is null without runs", () => {
  assert.deepEqual(
    film().rangeOf((series) => series === "Plain"),
    { low: 4, high: 4 },
  );
  assert.deepEqual(film().rangeOf(), { low: 1, high: 20 });
  assert.equal(
    film({ text: "x,1\nA,\n", runs: null, group: { arrives: "whole", seconds: [1] } }).rangeOf(),
    null,
  );
});

test("a file that is not CSV is refused with the place of the error", () => {
  assert.throws(() => film({ text: 'x,1\nA,"2\n' }), /never closed/);
});

const RUN_SETS = fc.uniqueArray(
  fc.record({ x: fc.integer({ min: 1, max: 4 }), block: fc.integer({ min: 1, max: 5 }) }),
  {
    selector: ({ x, block }) => `${x} ${block}`,
    minLength: 1,
  },
);

test("any frame of any recording is what derive would have made of the runs until then", () => {
  fc.assert(
    fc.property(
      RUN_SETS,
      fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 20, maxLength: 20 }),
      fc.array(fc.double({ min: 1e-3, max: 1e9, noNaN: true }), { minLength: 40, maxLength: 40 }),
      fc.integer({ min: -1, max: 100 }),
      (sets, times, values, at) => {
        const rows = sets.flatMap(({ x, block }, i) =>
          ["A", "B"].map((series, j) => ({ series, x, block, y: values[2 * i + j], at: times[i] })),
        );
        const group = {
          arrives: "run",
          // One more moment at the end, so that the frame before it has all runs.
          seconds: [...sets.map((_, i) => times[i]), 1000],
          x: [...sets.map(({ x }) => x), 0],
          block: [...sets.map(({ block }) => block), 0],
        };
        const runs = rows.map(({ series, x, y, block }) => [series, `${x}`, `${y}`, `${block}`, "1"]);
        const files = film({ text: "size,1,2,3,4\nA,,,,\nB,,,,\n", runs, group }).filesAt(at);
        for (const series of ["A", "B"])
          for (const x of [1, 2, 3, 4]) {
            const arrived = rows
              .filter((row) => row.series === series && row.x === x && row.at <= at)
              .map(({ y }) => y);
            const found = [
              table(files[""])[series][x],
              ...["min", "max", "n"].map((column) => statistic(files, column)[series][x]),
            ];
            if (arrived.length === 0) assert.deepEqual(found, [null, null, null, null]);
            else {
              near(found[0], spreadOf(arrived).y);
              near(found[1], Math.min(...arrived));
              near(found[2], Math.max(...arrived));
              assert.equal(found[3], arrived.length);
            }
          }
      },
    ),
  );
});

test("the last frame of every shipped chart equals its file", async () => {
  const recording = JSON.parse(await readFile(path.join(REFERENCE, "recording.json"), "utf8"));
  let compared = 0;
  for (const [key, group] of groupsOf(recording)) {
    if (group.arrives !== "run") continue;
    const [experiment, chart] = key.split("/");
    const folder = path.join(REFERENCE, experiment, "aggregate");
    const read = (name) => readFile(path.join(folder, name), "utf8");
    const [text, all] = await Promise.all([read(`${chart}.csv`), read("runs.csv")]);
    const runs = parse(all)
      .filter(([name]) => name === chart)
      .map(([, ...fields]) => fields);
    const ratio = chart.startsWith("ratio-");
    const longer = {
      ...group,
      seconds: [...group.seconds, Infinity],
      x: [...group.x, 0],
      block: [...group.block, 0],
    };
    const shown = Film({ text, runs, group: longer, ratio, quantiles: recording.t_quantiles }).filesAt(
      lastMoment(group),
    );
    const frame = parse(shown[""]);
    parse(text).forEach((cells, row) =>
      cells.forEach((cell, column) => {
        const found = frame[row][column];
        if (cell === "" || !Number.isFinite(Number(cell)))
          assert.equal(found, cell, `${key} ${row}:${column}`);
        else near(Number(found), Number(cell), `${key} ${row}:${column}`);
        compared += 1;
      }),
    );
    if (ratio && !text.startsWith("series,x,y")) {
      const low = statistic(shown, "low");
      const expected = statistic({ spread: await read(`${chart}.spread.csv`) }, "low");
      for (const [series, cells] of Object.entries(expected))
        for (const [x, value] of Object.entries(cells))
          if (value === null) assert.equal(low[series][x], null);
          else near(low[series][x], value, `${key}.low ${series} ${x}`);
    }
  }
  assert.ok(compared > 1000, `${compared} fields`);
});

// Time --------------------------------------------------------------------------------------------------------------

const RECORDING = {
  experiments: {
    second: {
      started_at: "2026-01-02T00:00:00.000Z",
      ended_at: "2026-01-02T01:00:00.000Z",
      seconds: 100,
      groups: [{ arrives: "row", charts: ["trials"], seconds: [40, 100], x: [1, 2] }],
    },
    first: {
      started_at: "2026-01-01T00:00:00.000Z",
      ended_at: "2026-01-01T01:00:00.000Z",
      seconds: 200,
      groups: [
        {
          arrives: "run",
          charts: ["iops", "ratio-iops"],
          seconds: [50, 150, 200],
          x: [1, 2, 1],
          block: [1, 1, 2],
        },
        { arrives: "whole", charts: ["over-time"], seconds: [120] },
      ],
    },
  },
};

test("experiments play one after the other, in the order in which they were begun", () => {
  const both = timelineOf(RECORDING, ["second", "first", "unknown"]);
  assert.deepEqual(both.moments, [50, 120, 150, 200, 240, 300]);
  assert.deepEqual(
    [...both.charts].map(([key, { start }]) => [key, start]),
    [
      ["first/iops", 0],
      ["first/ratio-iops", 0],
      ["first/over-time", 0],
      ["second/trials", 200],
    ],
  );
  assert.equal(both.seconds, 300);
  assert.deepEqual([both.from.slice(0, 10), both.to.slice(0, 10)], ["2026-01-01", "2026-01-02"]);
  assert.deepEqual(both.blockEnds, [150, 200, 240, 300]);
  assert.equal(timelineOf(RECORDING, ["unknown"]), null);
});

test("every recorded chart has its group", () => {
  assert.deepEqual(
    [...groupsOf(RECORDING).keys()],
    ["second/trials", "first/iops", "first/ratio-iops", "first/over-time"],
  );
});

test("a playback reaches each moment in time, pauses on request, and ends", () => {
  const playback = new Playback(timelineOf(RECORDING, ["first"]), { seconds: 20 });
  assert.deepEqual([playback.at, playback.blocks, playback.done], [-1, 0, false]);
  assert.equal(playback.advance(4), false);
  assert.equal(playback.advance(1), true);
  assert.deepEqual([playback.at, playback.share], [50, 0.25]);
  playback.paused = true;
  assert.equal(playback.advance(100), false);
  playback.paused = false;
  playback.advance(11);
  assert.deepEqual([playback.at, playback.blocks], [150, 1]);
  playback.advance(10);
  assert.deepEqual([playback.at, playback.done, playback.share], [200, true, 1]);
  assert.equal(playback.advance(1), false);
});

test("with reduced motion only the ends of blocks are shown", () => {
  const playback = new Playback(timelineOf(RECORDING, ["first"]), { seconds: 20, steps: true });
  playback.advance(13);
  assert.equal(playback.at, -1);
  playback.advance(2);
  assert.equal(playback.at, 150);
});

test("a playback never goes back and never runs ahead of its time", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 5, noNaN: true })), fc.boolean(), (ticks, steps) => {
      const timeline = timelineOf(RECORDING, ["first", "second"]);
      const playback = new Playback(timeline, { seconds: 30, steps });
      let [passed, last] = [0, playback.at];
      for (const tick of ticks) {
        passed += tick;
        playback.advance(tick);
        assert.ok(playback.at >= last && playback.at <= passed * 10 + 1e-6);
        assert.ok(playback.at === -1 || timeline.moments.includes(playback.at));
        last = playback.at;
      }
      if (Math.abs(passed - 30) > 1e-6) assert.equal(playback.done, passed > 30);
    }),
  );
});

test("a chart is read again only if something arrived", () => {
  assert.ok(changesBetween(GROUP, -1, 10));
  assert.ok(!changesBetween(GROUP, 10, 19));
  assert.ok(!changesBetween(GROUP, 30, 99));
});

// Words and addresses -----------------------------------------------------------------------------------------------

test("a duration reads naturally", () => {
  assert.deepEqual([42, 119.6, 300, 3600, 6312, 7230].map(formatDuration), [
    "42 s",
    "120 s",
    "5 min",
    "1 h",
    "1 h 45 min",
    "2 h 1 min",
  ]);
});

test("the line says what is played, how fast, and how far it is", () => {
  const timeline = {
    from: "2026-11-20T19:51:00Z",
    to: "2026-11-21T01:00:00Z",
    seconds: 6000,
    blockEnds: Array.from({ length: 10 }, (_, i) => i),
  };
  assert.equal(runTitle(timeline, { seconds: 60 }), "Recorded run: 20–21 November 2026, 1 h 40 min in 60 s");
  assert.equal(runPosition(timeline, { blocks: 3, share: 0.319, paused: false }), "3 of 10 blocks, 31 %");
  assert.equal(runPosition({ blockEnds: [9] }, { blocks: 1, share: 1, paused: true }), "100 %, paused");
  assert.equal(lackingWords([]), null);
  assert.match(lackingWords(["a/b"]), /^a\/b is shown complete/);
  assert.match(lackingWords(["a/b", "a/c"]), /^2 charts are shown complete/);
});

test("an address of a chart's file names chart and companion; another address names nothing", () => {
  const recording = Recording("local", { experiments: {} });
  assert.deepEqual(recording.fileAt("benchmarks/local/rbd-bench/aggregate/latency-p99-9.spread.csv?v=/1"), {
    folder: "benchmarks/local/rbd-bench/aggregate",
    experiment: "rbd-bench",
    chart: "latency-p99-9",
    suffix: "spread",
    key: "rbd-bench/latency-p99-9",
    isOfRuns: false,
  });
  const runs = recording.fileAt("benchmarks/local/x/aggregate/runs.csv");
  assert.deepEqual([runs.isOfRuns, runs.experiment], [true, "x"]);
  assert.equal(recording.fileAt("benchmarks/local/x/aggregate/runs.spread.csv").isOfRuns, false);
  assert.equal(recording.fileAt("benchmarks/local/x/aggregate/a.csv").suffix, "");
  for (const other of [
    "benchmarks/local/manifest.json",
    "benchmarks/local/claims.json",
    "benchmarks/local/x/tidy.csv",
    "benchmarks/other/x/aggregate/a.csv",
    "slides/a.csv",
    null,
  ])
    assert.equal(recording.fileAt(other), null);
});
