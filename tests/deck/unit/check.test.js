import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { checkTalk } from "../../../scripts/deck/check/index.js";

const SECTION = `<section data-markdown="slides/a.md" data-separator="^\\n\\n\\n"
  data-separator-vertical="^\\n\\n" data-separator-notes="^<!-- Note -->"></section>`;
const GOOD = '<!-- .slide: id="one" data-timing="30" -->\n# One\n\n<!-- Note -->\nWords.\n';
const CHART = "benchmarks/reference/rbd-journaling/aggregate/iops-read-seq.csv";
let root;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "replay-check-"));
  await save("index.html", `<body>${SECTION}</body>`);
  await save("config/experiments/rbd-journaling.yaml", "name: rbd-journaling\n");
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function save(name, text) {
  const file = path.join(root, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** The problems of a talk with this chapter, as `line: message`. */
async function problemsOf(chapter) {
  await save("slides/a.md", chapter);
  const { problems } = await checkTalk({ root, benchmarks: path.join(root, "benchmarks") });
  return problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
}

test("a slide with id, timing and one note has no problem", async () => {
  assert.deepEqual(await problemsOf(GOOD), []);
});

test("times are added up per chapter, the appendix apart", async () => {
  const appendix = GOOD.replace('id="one"', 'id="two" data-visibility="uncounted"');
  await save("slides/a.md", `${GOOD}\n\n${appendix}`);
  const { times } = await checkTalk({ root, benchmarks: path.join(root, "benchmarks") });
  assert.deepEqual(times, [{ file: "slides/a.md", slides: 2, story: 30, appendix: 30 }]);
});

test("a slide without timing is named with its line, in the second slide too", async () => {
  const [problem, ...rest] = await problemsOf(
    `${GOOD}\n\n<!-- .slide: id="two" -->\n# Two\n\n<!-- Note -->\nWords.\n`,
  );
  assert.match(problem, /^slides\/a\.md:8: no timing/);
  assert.deepEqual(rest, []);
  assert.match((await problemsOf(GOOD.replace('"30"', '"soon"')))[0], /"soon" is not a number of seconds/);
});

test("no note, two notes and an empty note are three problems", async () => {
  assert.match(
    (await problemsOf(GOOD.replace("<!-- Note -->\n", "")))[0],
    /slides\/a\.md:1: no <!-- Note -->/,
  );
  assert.match((await problemsOf(`${GOOD}\n<!-- Note -->\nMore.\n`))[0], /slides\/a\.md:7: a second/);
  assert.match((await problemsOf(GOOD.replace("Words.\n", "")))[0], /slides\/a\.md:4: an empty note/);
});

test("CR LF line ends are a problem of the file", async () => {
  assert.match((await problemsOf(GOOD.replaceAll("\n", "\r\n")))[0], /slides\/a\.md:1: line ends with CR LF/);
});

test("an id that is missing, odd or taken is a problem", async () => {
  assert.match((await problemsOf(GOOD.replace('id="one" ', "")))[0], /no id/);
  assert.match((await problemsOf(GOOD.replace("one", "One Two")))[0], /words-and-dashes/);
  assert.match((await problemsOf(`${GOOD}\n\n${GOOD}`))[0], /a\.md:8: id "one" is taken by slides\/a\.md:1/);
});

test("a link to a slide that is not there is a problem", async () => {
  assert.match(
    (await problemsOf(GOOD.replace("# One", "[go](#/two)")))[0],
    /a\.md:2: no slide has the id "two"/,
  );
  assert.match((await problemsOf(GOOD.replace("# One", '<a href="x.html">x</a>')))[0], /link to "x\.html"/);
  assert.deepEqual(await problemsOf(GOOD.replace("# One", "[go](#/one) [out](https://example.org)")), []);
});

test("a chart's experiment must exist, and its file too where the data set does", async () => {
  const chart = (src) => GOOD.replace("# One", `<canvas data-chart="line" data-chart-src="${src}"></canvas>`);
  assert.deepEqual(await problemsOf(chart(CHART)), []);
  assert.match(
    (await problemsOf(chart(CHART.replace("rbd-j", "rdb-j"))))[0],
    /a\.md:2: no experiment "rdb-journaling"/,
  );
  assert.match((await problemsOf(chart("benchmarks/x.csv")))[0], /is not benchmarks/);
  assert.match((await problemsOf(chart(CHART.replace("iops-read-seq", "IOPS read"))))[0], /chart name/);
  await save("benchmarks/reference/manifest.json", "{}");
  assert.match((await problemsOf(chart(CHART)))[0], /has no rbd-journaling\/aggregate\/iops-read-seq\.csv/);
  await save(CHART, "I/O size,4096\nA,1\n");
  assert.deepEqual(await problemsOf(chart(CHART)), []);
});

test("a bound value needs a source, a text of its own, and data that know it", async () => {
  const bound = (value, text = "3") => GOOD.replace("# One", `<data value="${value}">${text}</data>`);
  assert.deepEqual(await problemsOf(bound("manifest.setup.osds")), []);
  assert.match((await problemsOf(bound("manifset.setup.osds")))[0], /no source "manifset"/);
  assert.match((await problemsOf(bound("manifest.setup.osds", "")))[0], /no text to fall back on/);
  await save("benchmarks/reference/manifest.json", '{"setup": {"osds": 3}}');
  assert.deepEqual(await problemsOf(bound("manifest.setup.osds")), []);
  assert.match((await problemsOf(bound("manifest.setup.hosts")))[0], /is not in the data/);
});

test("a chapter that is named and not there is a problem of index.html", async () => {
  const { problems } = await checkTalk({ root, benchmarks: path.join(root, "benchmarks") });
  assert.deepEqual(problems, [{ file: "index.html", line: 1, message: "there is no chapter slides/a.md" }]);
});
