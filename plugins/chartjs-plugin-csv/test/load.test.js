import assert from "node:assert/strict";
import { test } from "node:test";
import { CsvError } from "../src/error.js";
import { loadText } from "../src/load.js";
import { bandOfFile, loadModel } from "../src/source.js";
import { chartNameOf, companionUrl, runsUrl } from "../src/companions.js";

const MAIN = "I/O size,4096,8192\nWith journal,5,6\n";

/** A fetch from a table of files; other addresses answer 404. */
function fetchOf(files) {
  const asked = [];
  const answer = (url, init) => {
    asked.push({ url, init });
    const file = files[url];
    if (file === undefined)
      return new Response("not found", { status: 404, headers: { "content-type": "text/plain" } });
    return typeof file === "function"
      ? file()
      : new Response(file, { headers: { "content-type": "text/csv" } });
  };
  return { fetch: (url, init) => Promise.resolve(answer(url, init)), asked };
}

async function failure(promise) {
  const error = await promise.then(
    () => assert.fail("no error"),
    (reason) => reason,
  );
  assert.ok(error instanceof CsvError, String(error));
  return error;
}

test("a CSV arrives as text, and the server is asked whether the file has changed", async () => {
  const { fetch, asked } = fetchOf({ "a.csv": MAIN });
  assert.equal(await loadText("a.csv", { fetch }), MAIN);
  assert.equal(asked[0].init.cache, "no-cache");
});

test("a status other than 2xx is an error with file and status", async () => {
  const error = await failure(loadText("none.csv", fetchOf({})));
  assert.deepEqual([error.kind, error.status, error.url], ["status", 404, "none.csv"]);
  assert.match(error.message, /none\.csv: the server answered 404/);
});

test("a page that a single-page server sends instead of a missing file is an error", async () => {
  const page = () =>
    new Response("<!doctype html><p>app", { headers: { "content-type": "text/html; charset=utf-8" } });
  assert.equal((await failure(loadText("a.csv", fetchOf({ "a.csv": page })))).kind, "html");
});

test("markup under another content type is an error too", async () => {
  const page = () =>
    new Response("  <!doctype html>", { headers: { "content-type": "application/octet-stream" } });
  assert.equal((await failure(loadText("a.csv", fetchOf({ "a.csv": page })))).kind, "html");
});

test("a file above the limit is an error, announced or not", async () => {
  const big = "x".repeat(2000);
  assert.equal(
    (await failure(loadText("a.csv", { ...fetchOf({ "a.csv": big }), maxBytes: 1000 }))).kind,
    "size",
  );
  const announced = () =>
    new Response(big, { headers: { "content-type": "text/csv", "content-length": "2000" } });
  assert.equal(
    (await failure(loadText("a.csv", { ...fetchOf({ "a.csv": announced }), maxBytes: 1000 }))).kind,
    "size",
  );
});

test("bytes that are not UTF-8 are an error", async () => {
  const latin = () =>
    new Response(new Uint8Array([0x61, 0x2c, 0xe9]), { headers: { "content-type": "text/csv" } });
  const error = await failure(loadText("a.csv", fetchOf({ "a.csv": latin })));
  assert.equal(error.kind, "encoding");
  assert.match(error.message, /not UTF-8; save it as UTF-8/);
});

test("UTF-16 is read by its byte order mark, and refused without one", async () => {
  const text = "Größe\t4096\r\nmit Journal\t1,5\r\n";
  const little = [0xff, 0xfe, ...Buffer.from(text, "utf16le")];
  const big = [0xfe, 0xff, ...Buffer.from(text, "utf16le").swap16()];
  const reading = (bytes) => {
    const file = () => new Response(new Uint8Array(bytes), { headers: { "content-type": "text/csv" } });
    return loadText("a.csv", fetchOf({ "a.csv": file }));
  };
  assert.equal(await reading(little), text);
  assert.equal(await reading(big), text);
  const unmarked = await failure(reading(little.slice(2)));
  assert.equal(unmarked.kind, "encoding");
  assert.equal((await failure(reading(little.slice(0, -1)))).kind, "encoding");
  const plain = await failure(reading(Buffer.from("x,1\na,1\n", "utf16le")));
  assert.match(plain.message, /UTF-16 without a byte order mark; save it as UTF-8/);
});

test("an unreachable server is an error with the file's name", async () => {
  const fetch = () => Promise.reject(new TypeError("fetch failed"));
  const error = await failure(loadText("a.csv", { fetch }));
  assert.equal(error.kind, "network");
  assert.match(error.message, /^a\.csv: cannot be fetched/);
});

test("an abort is an abort, not an error of the file", async () => {
  const abort = new AbortController();
  abort.abort();
  const fetch = (_, { signal }) => Promise.reject(signal.reason);
  await assert.rejects(loadText("a.csv", { fetch, signal: abort.signal }), { name: "AbortError" });
});

test("a ratio's band is its interval, any other file's its minimum and maximum", () => {
  assert.equal(bandOfFile("a/ratio-throughput.csv?x"), "interval");
  assert.equal(bandOfFile("ratio-a/throughput.csv"), "min-max");
});

const SPREAD = "series,x,low,high,min,max,n\nWith journal,4096,4.5,5.5,4,7,10\nWith journal,8192,,,5,8,9\n";

test("bands auto: a spread file is joined, and nothing else is requested", async () => {
  const { fetch, asked } = fetchOf({ "X.csv": MAIN, "X.spread.csv": SPREAD });
  const { model } = await loadModel("X.csv", { bands: "auto", fetch });
  assert.deepEqual(model.series[0].points, [
    { x: 4096, y: 5, low: 4, high: 7, n: 10 },
    { x: 8192, y: 6, low: 5, high: 8, n: 9 },
  ]);
  assert.deepEqual(
    asked.map(({ url }) => url),
    ["X.csv", "X.spread.csv"],
  );
});

test("a spread file gives the interval, the extremes, or both; an empty field is no such statistic", async () => {
  const files = fetchOf({ "X.csv": MAIN, "X.spread.csv": SPREAD });
  const pointsOf = async (bands) => (await loadModel("X.csv", { ...files, bands })).model.series[0].points;
  assert.deepEqual(await pointsOf("interval"), [
    { x: 4096, y: 5, low: 4.5, high: 5.5, n: 10 },
    { x: 8192, y: 6, low: null, high: null, n: 9 },
  ]);
  assert.deepEqual((await pointsOf("both"))[0], {
    x: 4096,
    y: 5,
    low: 4.5,
    high: 5.5,
    min: 4,
    max: 7,
    n: 10,
  });
});

test("a ratio's spread file is read for its interval, and words along x are found as well", async () => {
  const { model } = await loadModel("ratio-X.csv", {
    ...fetchOf({
      "ratio-X.csv": "way,first,2\nA,1,2\n",
      "ratio-X.spread.csv": "series,x,low,high,min,max,n\nA,first,0.9,1.1,,,6\nA,2,1.5,2.5,,,6\n",
    }),
    bands: "auto",
    reading: { orientation: "rows" },
  });
  assert.deepEqual(
    model.series[0].points.map(({ low, high, n }) => [low, high, n]),
    [
      [0.9, 1.1, 6],
      [1.5, 2.5, 6],
    ],
  );
});

test("a spread file of another form, or with a place twice, is an error that names it", async () => {
  const reading = (text) =>
    failure(loadModel("X.csv", { ...fetchOf({ "X.csv": MAIN, "X.spread.csv": text }), bands: "auto" }));
  assert.match(
    (await reading("series,x,low\nA,1,2\n")).message,
    /X\.spread\.csv: row 1, column 1: the header of a spread file is/,
  );
  const twice = `${SPREAD}With journal,4096,1,2,3,4,5\n`;
  assert.match(
    (await reading(twice)).message,
    /X\.spread\.csv: row 4, column 2: series "With journal" twice at "4096"/,
  );
});

test("bands auto: companions of older data that exist are joined", async () => {
  const { fetch } = fetchOf({
    "X.csv": MAIN,
    "X.min.csv": "I/O size,4096,8192\nWith journal,4,5\n",
    "X.max.csv": "I/O size,4096,8192\nWith journal,7,8\n",
    "X.n.csv": "I/O size,4096,8192\nWith journal,10,9\n",
  });
  const { model } = await loadModel("X.csv", { bands: "auto", fetch });
  assert.deepEqual(model.series[0].points, [
    { x: 4096, y: 5, low: 4, high: 7, n: 10 },
    { x: 8192, y: 6, low: 5, high: 8, n: 9 },
  ]);
});

test("bands auto: a missing companion is not an error", async () => {
  const { model } = await loadModel("X.csv", { ...fetchOf({ "X.csv": MAIN }), bands: "auto" });
  assert.deepEqual(model.series[0].points[0], { x: 4096, y: 5, low: null, high: null, n: null });
});

test("bands auto: a malformed companion is an error that names it", async () => {
  const files = { "X.csv": MAIN, "X.min.csv": "I/O size,4096,8192\nWith journal,four,5\n" };
  const error = await failure(loadModel("X.csv", { ...fetchOf(files), bands: "auto" }));
  assert.equal(error.url, "X.min.csv");
  assert.match(error.message, /X\.min\.csv: row 2, column 2: "four" is not a number/);
});

test("bands min-max: a missing bound is an error, a missing count is not", async () => {
  assert.equal(
    (await failure(loadModel("X.csv", { ...fetchOf({ "X.csv": MAIN }), bands: "min-max" }))).url,
    "X.spread.csv",
  );
  const files = { "X.csv": MAIN, "X.low.csv": MAIN, "X.high.csv": MAIN };
  const { model } = await loadModel("X.csv", { ...fetchOf(files), bands: "interval" });
  assert.equal(model.series[0].points[0].low, 5);
});

test("bands false: only the file itself is requested", async () => {
  const { fetch, asked } = fetchOf({ "X.csv": MAIN });
  await loadModel("X.csv", { fetch, bands: false });
  assert.deepEqual(
    asked.map(({ url }) => url),
    ["X.csv"],
  );
});

test("the long form needs no companion and requests none", async () => {
  const { fetch, asked } = fetchOf({ "X.csv": "series,x,y,low,high,n\na,1,2,1,3,4\n" });
  const { model } = await loadModel("X.csv", { bands: "auto", fetch });
  assert.equal(asked.length, 1);
  assert.equal(model.series[0].points[0].high, 3);
});

test("an unknown kind of band is an error that lists the known ones", async () => {
  const error = await failure(loadModel("X.csv", { ...fetchOf({ "X.csv": MAIN }), bands: "box" }));
  assert.match(error.message, /"box"; expected "auto", "min-max", "interval"/);
});

test("companions are beside the file, before a query", () => {
  assert.equal(companionUrl("d/X.csv", "min"), "d/X.min.csv");
  assert.equal(companionUrl("d/X.csv?v=2#a", "n"), "d/X.n.csv?v=2#a");
  assert.equal(companionUrl("d/a.csv.d/ratio-X.csv", "low"), "d/a.csv.d/ratio-X.low.csv");
});

test("the runs of a chart are in a file of its folder, which names the chart after its file", () => {
  assert.equal(runsUrl("d/X.csv"), "d/runs.csv");
  assert.equal(runsUrl("X.csv?v=2#a/b"), "runs.csv?v=2#a/b");
  assert.equal(runsUrl("http://localhost/a.b/X.csv?of=a/b.csv"), "http://localhost/a.b/runs.csv?of=a/b.csv");
  assert.equal(chartNameOf("http://localhost/a.b/ratio-X.csv?of=a/b.csv"), "ratio-X");
  assert.equal(chartNameOf("p99%209.csv"), "p99 9");
  assert.equal(chartNameOf("100%.csv"), "100%");
});
