import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { setTimeout as turn } from "node:timers/promises";
import { ChartFiles } from "../src/files.js";
import { notesOf } from "../src/notes.js";
import { furthest, linesOf, readRuns, sharedRuns } from "../src/runs.js";
import { readModel } from "../src/table.js";

const HEADER = "chart,series,x,y,block,attempt\n";

test("runs come by chart and series, with their block and attempt, a missing value as null", () => {
  const runs = readRuns(`${HEADER}X,A,4096,1.5,1,1\nX,B,4096,,1,1\nY,A,1,7,1,1\nX,A,8192,2,2,3\n`);
  assert.deepEqual([...runs.keys()], ["X", "Y"]);
  assert.deepEqual(
    [...runs.get("X")],
    [
      [
        "A",
        [
          { x: 4096, y: 1.5, block: "1", attempt: "1" },
          { x: 8192, y: 2, block: "2", attempt: "3" },
        ],
      ],
      ["B", [{ x: 4096, y: null, block: "1", attempt: "1" }]],
    ],
  );
  assert.equal(readRuns(HEADER).size, 0);
});

test("the x of a chart are numbers even if those of another chart are words", () => {
  const runs = readRuns(`${HEADER}X,__proto__,osd.1,1,1,1\nY,A,4096,2,1,1\n`);
  assert.equal(runs.get("X").get("__proto__")[0].x, "osd.1");
  assert.equal(runs.get("Y").get("A")[0].x, 4096);
});

test("another header and a word for a number are errors that name their place", () => {
  assert.throws(() => readRuns("series,x,y,block,attempt\nA,1,2,1,1\n"), {
    name: "CsvError",
    row: 1,
    kind: "header",
  });
  assert.throws(() => readRuns(`${HEADER}X,A,1,2,1,1\nY,A,1,2,1,1\nX,A,1,many,1,1\n`), {
    name: "CsvError",
    row: 4,
    column: 4,
    message: /"many" is not a number/,
  });
});

/** A server of one file of runs that counts requests. */
function server() {
  const asked = [];
  let content = `${HEADER}X,A,1,1,1,1\n`;
  const fetch = (url) => {
    asked.push(url);
    return Promise.resolve(content === null ? new Response("", { status: 404 }) : new Response(content));
  };
  return { asked, fetch, serve: (next) => (content = next) };
}

/** Files are shared between all who ask, so each test has one of its own. */
let number = 0;
afterEach(() => (number += 1));
const address = () => `d${number}/runs.csv`;

test("charts that ask for the same file share one request, also when they are refreshed together", async () => {
  const { asked, fetch, serve } = server();
  const [one, other] = await Promise.all([1, 2].map(() => sharedRuns(address(), { fetch })));
  assert.equal(one, other);
  await turn();
  assert.equal(await sharedRuns(address(), { fetch }), one, "kept for whoever asks later");
  assert.equal(asked.length, 1);
  serve(`${HEADER}X,A,1,2,1,1\n`);
  const [again] = await Promise.all([1, 2, 3].map(() => sharedRuns(address(), { fetch, fresh: true })));
  assert.equal(again.get("X").get("A")[0].y, 2);
  assert.equal(asked.length, 2);
  await turn();
  await sharedRuns(address(), { fetch, fresh: true });
  assert.equal(asked.length, 3, "a later refresh asks again");
});

test("files read by another fetch are not shared, and failed ones are requested again", async () => {
  const [first, second] = [server(), server()];
  await sharedRuns(address(), { fetch: first.fetch });
  second.serve(null);
  await assert.rejects(sharedRuns(address(), { fetch: second.fetch }), { kind: "status", status: 404 });
  second.serve(`${HEADER}X,A,1,9,1,1\n`);
  const runs = await sharedRuns(address(), { fetch: second.fetch });
  assert.equal(runs.get("X").get("A")[0].y, 9);
  second.serve("chart\n");
  await turn();
  await assert.rejects(sharedRuns(address(), { fetch: second.fetch, fresh: true }), {
    url: address(),
    row: 1,
  });
});

test("where a run is a line, its values belong together, and a missing one leaves no point", () => {
  const text = `${HEADER}X,A,0,1,1,1\nX,A,1,5,1,1\nX,A,0,2,2,1\nX,A,1,,2,1\nX,A,2,9,2,1\nX,A,0,,3,1\n`;
  const lines = linesOf(readRuns(text).get("X").get("A"));
  assert.deepEqual(
    lines.map(({ block, attempt, points }) => [block, attempt, points.map(({ x, y }) => [x, y])]),
    [
      ["1", "1", [[0, 1], [1, 5]]],
      ["2", "1", [[0, 2], [2, 9]]],
    ],
  ); // prettier-ignore
  const found = furthest(lines, "high");
  assert.deepEqual([found.line.block, found.point], ["2", { x: 2, y: 9 }]);
  // Only what the axis shows counts.
  assert.deepEqual(furthest(lines, "high", { to: 1 }).point, { x: 1, y: 5 });
  assert.deepEqual(furthest(lines, "low").point, { x: 0, y: 1 });
  assert.equal(furthest(lines, "high", { from: 3 }), null);
  assert.equal(furthest([], "high"), null);
});

const files = (table) => ({
  fetch: (url) =>
    Promise.resolve(url in table ? new Response(table[url]) : new Response("", { status: 404 })),
});

test("single runs of two quantities are paired by load, block and attempt", async () => {
  const folder = `d${number}`;
  const { default: response } = await import("../src/kinds/response.js");
  const settings = { runs: true, more: [`${folder}/iops.csv`] };
  const runs = [
    ...["latency,A,1,0.001,1,1", "latency,A,1,0.003,2,1", "latency,A,2,0.004,1,1", "latency,A,2,0.005,2,2"],
    ...["iops,A,1,900,1,1", "iops,A,1,300,2,1", "iops,A,2,1000,1,1", "iops,A,2,800,2,1"],
  ];
  const table = { [`${folder}/runs.csv`]: `${HEADER}${runs.join("\n")}\n` };
  const chart = new ChartFiles(
    () => ({ ...settings, ...files(table) }),
    () => response,
  );
  assert.equal(await chart.readFurther(`${folder}/latency.csv`, { fresh: true }), true);
  assert.deepEqual(
    chart.runs.data.get("A").map(({ x, y, at }) => [x, y, at]),
    [[900, 0.001, 1], [300, 0.003, 1], [1000, 0.004, 2]],
    "the last of each has no partner",
  ); // prettier-ignore
});

test("if no run is in both files, the reader is told", async () => {
  const folder = `d${number}`;
  const { default: response } = await import("../src/kinds/response.js");
  const table = { [`${folder}/runs.csv`]: `${HEADER}latency,A,1,0.001,1,1\niops,A,1,900,2,1\n` };
  const chart = new ChartFiles(
    () => ({ runs: true, more: [`${folder}/iops.csv`], ...files(table) }),
    () => response,
  );
  await chart.readFurther(`${folder}/latency.csv`, { fresh: true });
  assert.match(chart.runs.error.message, /runs\.csv: no run is both in latency and in iops/);
});

test("where a line is drawn, further files are the other end of its band", async () => {
  const table = {
    "p50.csv": "depth,1,2\nA,1,2\nB,3,4\n",
    "p99.csv": "depth,1,2\nA,5,\nB,2,9\n",
  };
  const settings = { bands: false, more: ["p99.csv"], names: ["p50", "p99"], ...files(table) };
  const model = await new ChartFiles(() => settings).readOwn("p50.csv", { again: true });
  assert.equal(model.bounds, "to p99");
  assert.deepEqual(
    model.series.map(({ points }) => points.map(({ y, low, high }) => [y, low, high])),
    [[[1, 1, 5], [2, null, null]], [[3, 2, 3], [4, 4, 9]]],
  ); // prettier-ignore
  const lacking = await new ChartFiles(() => ({ ...settings, more: ["p98.csv"] })).readOwn("p50.csv", {
    again: true,
  });
  assert.deepEqual(
    [lacking.lacking, lacking.bounds, lacking.series[0].points[0].high],
    [["p98.csv"], undefined, null],
  );
});

test("a further file that is not here is named as people read it, whatever is in its name", () => {
  const model = { ...readModel("depth,1,2\nA,1,2\n"), lacking: ["p%2098.csv", "98%.csv"] };
  const none = { data: null, error: null };
  const drawn = { settings: {}, model, scale: "linear", second: none, runs: none, isBeside: false };
  assert.deepEqual(notesOf(drawn), ["Not here: p 98.csv, 98%.csv."]);
});
