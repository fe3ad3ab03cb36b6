import assert from "node:assert/strict";
import { rm, symlink } from "node:fs/promises";
import path from "node:path";
import { beforeEach, test } from "node:test";

import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { CHART, GOOD, MANIFEST, claimsWith, makeTalk, slideWith } from "../support/talk.js";
import { runNode } from "../../support/programs.mjs";

let talk;
const problemsOf = (chapter) => talk.problemsOf(chapter);

beforeEach(async (t) => {
  talk = await makeTalk(t);
});

test("a slide with id, timing and one note has no problem", async () => {
  assert.deepEqual(await problemsOf(GOOD), []);
});

test("times are added up per chapter, the appendix apart", async () => {
  const appendix = GOOD.replace('id="one"', 'id="two" data-visibility="uncounted"');
  await talk.save("slides/talk/a.md", `${GOOD}\n\n${appendix}`);
  const { times } = await talk.check();
  const seconds = { 20: 30, 40: 30 };
  assert.deepEqual(times, [{ file: "slides/talk/a.md", slides: 2, seconds, appendix: 30 }]);
});

test("a slide without timing is named with its line, in the second slide too", async () => {
  const [problem, ...rest] = await problemsOf(
    `${GOOD}\n\n<!-- .slide: id="two" -->\n# Two\n\n<!-- Note -->\nWords.\n`,
  );
  assert.match(problem, /^slides\/talk\/a\.md:8: no timing/);
  assert.deepEqual(rest, []);
  assert.match((await problemsOf(GOOD.replace('"30"', '"soon"')))[0], /"soon" is not a number of seconds/);
});

test("no note, two notes and an empty note are three problems", async () => {
  assert.match(
    (await problemsOf(GOOD.replace("<!-- Note -->\n", "")))[0],
    /slides\/talk\/a\.md:1: no <!-- Note -->/,
  );
  assert.match((await problemsOf(`${GOOD}\n<!-- Note -->\nMore.\n`))[0], /slides\/talk\/a\.md:7: a second/);
  assert.match((await problemsOf(GOOD.replace("Words.\n", "")))[0], /slides\/talk\/a\.md:4: an empty note/);
});

test("a note that still asks for what only the speaker can say is a reminder with its line, and no problem", async () => {
  await talk.save("slides/talk/a.md", `${GOOD}\n(yours: why it matters to you)\n`);
  const { problems, unwritten } = await talk.check();
  assert.deepEqual(problems, []);
  assert.deepEqual(unwritten, [{ file: "slides/talk/a.md", line: 7 }]);
});

test("CR LF line ends are a problem of the file", async () => {
  assert.match(
    (await problemsOf(GOOD.replaceAll("\n", "\r\n")))[0],
    /slides\/talk\/a\.md:1: line ends with CR LF/,
  );
});

test("an id that is missing, odd or taken is a problem", async () => {
  assert.match((await problemsOf(GOOD.replace('id="one" ', "")))[0], /no id/);
  assert.match((await problemsOf(GOOD.replace("one", "One Two")))[0], /words-and-dashes/);
  assert.match(
    (await problemsOf(`${GOOD}\n\n${GOOD}`))[0],
    /a\.md:8: id "one" is taken by slides\/talk\/a\.md:1/,
  );
});

test("a link to a missing slide is a problem", async () => {
  assert.match((await problemsOf(slideWith("[go](#/two)")))[0], /a\.md:2: no slide has the id "two"/);
  assert.match((await problemsOf(slideWith('<a href="x.html">x</a>')))[0], /link to "x\.html"/);
  assert.deepEqual(await problemsOf(slideWith("[go](#/one) [out](https://example.org)")), []);
});

test("the picture that messengers show is of a slide that there is", async () => {
  await talk.state({ picture: "two" });
  const [problem] = await problemsOf(GOOD);
  assert.match(
    problem,
    /^slides\/talk\/talk\.yaml:\d+: picture: no slide has the id "two"; write the id of one$/,
  );
  await talk.state({ picture: "one" });
  assert.deepEqual(await problemsOf(GOOD), []);
});

test("what the deck removes from slides, or does not load, is a problem", async () => {
  const told = async (text) => (await problemsOf(slideWith(text))).join("\n");
  assert.match(await told("<script>run()</script>"), /a\.md:2: <script> is removed/);
  assert.match(await told('<iframe src="x.html"></iframe>'), /<iframe> is removed/);
  assert.match(
    await told('<img src="x.png" onerror="run()" alt="a picture">'),
    /onerror of <img> is removed/,
  );
  assert.match(await told('<a href="javascript:run()">x</a>'), /href of <a> is removed/);
  assert.match(
    await told('<img src="https://example.org/x.png" alt="a picture">'),
    /src of <img> is on another/,
  );
  assert.match(await told("![a picture](https://example.org/x.png)"), /a picture from another machine/);
  assert.deepEqual(await problemsOf(slideWith("`<script>` in code, [out](https://example.org)")), []);
});

test("a chart's experiment must exist, its data set unless it is yet to be measured, and its file in there", async () => {
  const chart = (src) =>
    slideWith(
      `## <data value="manifest.setup.osds">3</data> OSDs\n<canvas data-chart="line" data-chart-src="${src}"></canvas>`,
    );
  const told = async (src) => (await problemsOf(chart(src))).join("\n");
  assert.equal(await told(CHART), "");
  assert.match(await told(CHART.replace("rbd-j", "rdb-j")), /a\.md:3: no experiment "rdb-journaling"/);
  assert.match(await told("benchmarks/x.csv"), /is not benchmarks/);
  assert.match(await told(CHART.replace("iops-read-seq", "IOPS read")), /chart name/);
  const other = CHART.replace("reference", "refrence");
  assert.match(await told(other), /a\.md:3: there is no data set "refrence"; this slide is of reference$/);
  await talk.state({ data_set: "refrence" });
  assert.doesNotMatch(await told(other), /there is no data set/);
  await talk.state();
  const further = `${CHART} | ${CHART.replace("iops", "latency")}`;
  assert.match(
    await told(`${CHART}" data-chart-more="${further}`),
    /a\.md:3: data set "reference" has no rbd-journaling\/aggregate\/latency-read-seq\.csv/,
  );
  await rm(path.join(talk.root, CHART));
  assert.match(await told(CHART), /has no rbd-journaling\/aggregate\/iops-read-seq\.csv/);
});

test("a chart of a skipped experiment may wait in a hidden text, and nowhere else", async () => {
  const canvas =
    '<canvas data-chart="line" data-chart-src="benchmarks/reference/kernel-client/aggregate/iops-randwrite.csv"></canvas>';
  const title = '## <data value="manifest.setup.osds">3</data> OSDs\n\n';
  const waiting = slideWith(
    `${title}<div data-when="keeps-up held refuted inconclusive not-testable-here">${canvas}</div>\n<p data-when="keeps-up not-measured">Skipped.</p>`,
  );
  const told = async (slide, { charts = {}, verdict = "not measured" } = {}) => {
    const experiments = { ...MANIFEST.experiments, "kernel-client": { charts } };
    await talk.saveData({
      manifest: { ...MANIFEST, experiments },
      claims: claimsWith({ "keeps-up": { verdict } }),
    });
    return (await problemsOf(slide)).join("\n");
  };
  await talk.save("config/experiments/kernel-client.yaml", "name: kernel-client\n");
  assert.equal(await told(waiting), "");
  const missing =
    /a\.md:4: data set "reference" has no kernel-client\/aggregate\/iops-randwrite\.csv\n.*:4: the manifest of "reference" does not list/;
  // In sight, with the verdict that shows it, or beside other charts of its experiment it has to be there.
  const keepsUp =
    '<p data-when="keeps-up held refuted inconclusive not-testable-here not-measured">Words.</p>';
  assert.match(await told(slideWith(`${title}${canvas}\n\n${keepsUp}`)), missing);
  assert.match(await told(waiting, { verdict: "held" }), missing);
  assert.match(await told(waiting, { charts: { "iops-write": { n: 6 } } }), missing);
});

test("a chapter that is named but missing is a problem of the line that names it", async () => {
  await talk.state({ chapters: ["b.md", "a.md"] });
  await talk.save("slides/talk/b.md", GOOD);
  const { problems } = await talk.check();
  assert.deepEqual(problems, [
    { file: "slides/talk/talk.yaml", line: 9, message: "there is no chapter slides/talk/a.md" },
  ]);
});

test("a chapter that is a link out of the talks is a problem, as it would be published", async () => {
  await talk.state({ chapters: ["b.md", "a.md"] });
  await talk.save("slides/talk/b.md", GOOD);
  await symlink(path.join(PROJECT, "README.md"), path.join(talk.root, "slides/talk/a.md"));
  const { problems } = await talk.check();
  const message = "slides/talk/a.md is a link that leads out of slides/: put the file itself there";
  assert.deepEqual(problems, [{ file: "slides/talk/talk.yaml", line: 9, message }]);
});

test("a data file that is not a JSON object is an error that names it", async () => {
  await talk.save("benchmarks/reference/claims.json", "[]");
  await assert.rejects(problemsOf(GOOD), /claims\.json contains no JSON object/);
});

const run = (...args) => runNode("scripts/check.mjs", args, { REPLAY_TALK: talk.root });

test("the command that mends figures is about the talk that was checked", async () => {
  await talk.save("slides/talk/a.md", slideWith('<data value="manifest.setup.osds">7</data>'));
  const told = (...args) => run("--no-layout", ...args).catch(({ stderr }) => stderr);
  assert.match(await told("--talk", "talk"), /To update them: npm run check -- --talk talk --fix$/m);
  assert.match(await told(), /To update them: npm run check -- --fix$/m);
});
