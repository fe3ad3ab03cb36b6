/** Charts of an author's own, `slides/<talk>/charts/NAME.csv`: where they are, what their label says, what the check wants. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import http from "node:http";
import path from "node:path";
import { beforeEach, test } from "node:test";

import { DataOnShow } from "../../../deck/data/data-on-show.js";
import { isOwnFile, ownOrigin, withOwnFiles } from "../../../deck/data/own-file.js";
import { readingOf } from "../../../deck/stage/chart-styles.js";
import { dataHandler } from "../../../scripts/deck/data-handler.js";
import { ownCharts, ownDigests } from "../../../scripts/deck/own-charts.js";
import { renderChapters } from "../../../scripts/deck/text/rendered.js";
import { claimsWith, makeTalk, slideWith } from "../support/talk.js";

const FILE = "slides/talk/charts/waits.csv";
const CSV = "series;x;y;low;high;n\nA;1;0,5;;;\nA;2;0,7;;;\nB;1;0,4;;;\n";
const DIGEST = createHash("sha256").update(CSV).digest("hex");
const chart = (more = "", src = "charts/waits.csv") =>
  `<canvas data-chart="line" data-chart-src="${src}" ${more}></canvas>`;

let talk;
beforeEach(async (t) => {
  talk = await makeTalk(t);
  await talk.save(FILE, CSV);
});

const told = async (body, note) => (await talk.problemsOf(slideWith(body, note))).join("\n");

test("a slide names a file by its place in the talk's folder, and gets its address", async () => {
  const text = `${chart('data-chart-more="charts/a.csv | benchmarks/x/answer.csv"')} charts/b.csv`;
  assert.equal(
    withOwnFiles(text, "slides/talk/a.md"),
    '<canvas data-chart="line" data-chart-src="slides/talk/charts/waits.csv" data-chart-more="slides/talk/charts/a.csv | benchmarks/x/answer.csv"></canvas> charts/b.csv',
  );
  assert.equal(
    withOwnFiles("<canvas data-chart-src=charts/a.csv data-chart-more = 'charts/b.csv'>", "slides/talk/a.md"),
    "<canvas data-chart-src=slides/talk/charts/a.csv data-chart-more = 'slides/talk/charts/b.csv'>",
  );
  const rendered = await renderChapters(new Map([["slides/talk/a.md", slideWith(chart())]]));
  assert.match(rendered.get("slides/talk/a.html"), /data-chart-src="slides\/talk\/charts\/waits\.csv"/);
});

test("no ?data= changes it, and the label has the digest that the server lists", async () => {
  const index = { files: { ours: [], mine: [] }, own: { [FILE]: DIGEST } };
  const fetchFile = (address) =>
    Promise.resolve(
      address === "benchmarks/index.json"
        ? new Response(JSON.stringify(index))
        : new Response("", { status: 404 }),
    );
  for (const search of ["", "?data=mine", "?data=later&meanwhile=ours"]) {
    const data = new DataOnShow({ search, usual: "ours", fetchFile });
    await data.load();
    assert.equal(data.resolve(FILE), FILE, search);
    const origin = ownOrigin([FILE], (src) => data.digestOf(src));
    assert.equal(origin, `own file waits.csv, SHA-256 ${DIGEST.slice(0, 8)}`);
  }
  assert.equal(
    ownOrigin([FILE], () => null),
    "own file waits.csv",
    "a server without a list",
  );
  assert.ok(!isOwnFile("benchmarks/a/b/aggregate/c.csv"));
});

test("it is read as people write CSV, a derived file in its single form", () => {
  assert.deepEqual(readingOf(FILE), {});
  assert.equal(readingOf("benchmarks/a/b/aggregate/c.csv").delimiter, ",");
});

test("each talk's files are listed with their digests, and served", async () => {
  await talk.save("slides/other/charts/b.csv", "x,1\nA,2\n");
  await talk.save("slides/talk/charts/notes.txt", "mine");
  const slides = path.join(talk.root, "slides");
  assert.deepEqual([...(await ownCharts(path.join(slides, "talk"))).keys()], ["charts/waits.csv"]);
  assert.deepEqual(Object.keys(await ownDigests(slides)), ["slides/other/charts/b.csv", FILE]);
  assert.deepEqual(await ownDigests(slides, ["talk"]), { [FILE]: DIGEST });
  const serve = dataHandler({ benchmarks: talk.benchmarks, slides });
  const server = http.createServer((request, response) =>
    serve(request, response, () => response.writeHead(404).end()),
  );
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const get = (address) => fetch(`http://127.0.0.1:${server.address().port}/${address}`);
    assert.equal((await (await get("benchmarks/index.json")).json()).own[FILE], DIGEST);
    assert.equal(await (await get(FILE)).text(), CSV);
    for (const refused of [
      "slides/talk/charts/notes.txt",
      "slides/talk/charts/../talk.yaml",
      "slides/talk/talk.yaml",
    ])
      assert.notEqual((await get(refused)).status, 200, refused);
  } finally {
    server.close();
  }
});

test("the check accepts its address, and names what is not there or cannot be read", async () => {
  assert.equal(await told(chart()), "");
  assert.equal(
    await told(chart("", "charts/wait.csv")),
    "slides/talk/a.md:2: the talk's folder has no charts/wait.csv; did you mean charts/waits.csv?",
  );
  assert.match(await told(chart("", "charts/loss.csv")), /no charts\/loss\.csv; it has charts\/waits\.csv$/);
  assert.match(await told(chart("", "charts/../talk.csv")), /is not benchmarks\/.*, nor charts\/NAME\.csv/);
  await talk.save(FILE, "series,x,y,low,high,n\nA,1,2,,,\nA,two\n");
  assert.match(await told(chart()), /a\.md:2: charts\/waits\.csv: .*row 3/);
  await talk.save(FILE, CSV);
  assert.match(await told(chart('data-chart-delimiter=","')), /charts\/waits\.csv: /, "as the deck reads it");
});

test("the check reads it as its kind does, where the file alone would not say how it is laid out", async () => {
  await talk.save(FILE, "mode,p50,p99\nA,1,5\nB,2,9\n");
  assert.match(await told(chart()), /orientation/);
  assert.equal(await told(chart().replace('"line"', '"dumbbell"')), "");
});

test("the check knows its series", async () => {
  assert.equal(await told(chart('data-chart-series="A" data-chart-emphasis="B"')), "");
  assert.match(await told(chart('data-chart-series="C"')), /the chart has no series "C"; it has A, B/);
  assert.match(await told(chart('data-chart-steps="C"')), /shows no series "C"; it shows A, B/);
});

test("a figure of it names the file, which no source has published", async () => {
  await talk.save("config/published.yaml", 'S0: ["15"]\n');
  const said = (source) => told(`${chart()}\n\nIt waits <span data-source="${source}">0.7 s</span>.`);
  assert.match(await told(`${chart()}\n\nIt waits 0.7 s.`), /the numeral "0\.7" comes from no data/);
  assert.equal(await said("charts/waits.csv"), "");
  assert.match(await said("charts/loss.csv"), /no source "charts\/loss\.csv"; .*charts\/waits\.csv, slide/);
  assert.match(await said("S0"), /"0\.7" is not among the figures/);
});

test("whoever read a picture or a sentence of it reads again once it has changed", async () => {
  await talk.saveData({ claims: claimsWith() });
  const chapter = slideWith(`${chart()}\n\nIt waits <span data-source="charts/waits.csv">0.7 s</span>.`);
  await talk.save("slides/talk/a.md", chapter);
  await (await talk.check()).accept(["all"], { kind: "source" });
  assert.deepEqual(await talk.problemsOf(chapter), []);
  await talk.save(FILE, CSV.replace("0,7", "0,8"));
  const moved = (await talk.problemsOf(chapter)).filter((line) => line.includes("charts/waits.csv was"));
  assert.equal(moved.length, 2, "the picture and the sentence");
  assert.match(moved[0], new RegExp(`was "${DIGEST.slice(0, 8)}", and is "[0-9a-f]{8}"`));
});
