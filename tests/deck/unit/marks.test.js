/** A figure in a title is one that the slide's picture shows, and a note at a point has that point's figure. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { MANIFEST, claimsWith, makeTalk, slideWith } from "../support/talk.js";

const FOLDER = "benchmarks/reference/rbd-journaling/aggregate";
const RATIOS = `${FOLDER}/ratio-iops-read-seq.csv`;
const IOPS = `${FOLDER}/iops-read-seq.csv`;
let talk;
beforeEach(async (t) => {
  talk = await makeTalk(t);
  const x = { factor: "io_size_bytes", unit: "bytes" };
  const charts = {
    "ratio-iops-read-seq": { n: 6, x, y: { unit: "ratio" }, series: ["A", "B"] },
    "iops-read-seq": { n: 6, x, y: { unit: "operations_per_second" }, series: ["A", "B"] },
  };
  const experiment = { ...MANIFEST.experiments["rbd-journaling"], charts };
  const ratio = (estimate) => ({
    conditions: { ratio: { estimate, low: estimate - 0.1, high: estimate + 0.1, n: 6 } },
  });
  await talk.saveData({
    manifest: { ...MANIFEST, experiments: { "rbd-journaling": experiment } },
    claims: claimsWith({
      "at-4k": ratio(2.011),
      "at-4m": ratio(2.884),
      both: ratio(2.408),
      inverse: ratio(1 / 2.884),
      other: ratio(3.7),
    }),
  });
  await talk.save(
    "config/claims.yaml",
    [
      "claims:",
      "  - id: at-4k",
      "    conditions:",
      "      - { name: ratio, over: { variant: A, io_size_bytes: 4096 }, under: { variant: B } }",
      "  - id: both",
      "    conditions:",
      "      - { name: ratio, over: { variant: A, io_size_bytes: [4096, 4194304] }, under: { variant: B } }",
    ].join("\n"),
  );
  await talk.save(RATIOS, "I/O size,4096,4194304\nA,2.0144,2.8839\n");
  await talk.save(IOPS, "I/O size,4096,4194304\nA,1000,300\nB,2005,850\n");
});

const value = (id) => `<data value="${id}">?</data>`;
const canvas = (src, more = "") => `<canvas data-chart="line" data-chart-src="${src}" ${more}></canvas>`;
/** What the rules of this module say. */
async function told(body, note) {
  const problems = await talk.problemsOf(slideWith(body, note));
  return problems.filter((line) => /the (?:title|note)'s|data-chart-notes/.test(line)).join("\n");
}

test("a title says a figure that a mark of the slide shows, within rounding", async () => {
  assert.equal(await told(`## ${value("at-4k.ratio")}\n\n${canvas(RATIOS)}`), "");
  assert.equal(
    await told(`## ${value("at-4k.ratio.inverse-percent")}\n\n${canvas(RATIOS)}`),
    "",
    "1 ÷ a mark",
  );
  assert.match(
    await told(`## ${value("other.ratio")}\n\n${canvas(RATIOS)}`),
    /a\.md:2: no mark of the slide shows the title's other\.ratio, 3\.7; say a figure that a chart shows/,
  );
  assert.match(
    await told(`## ${value("at-4m.ratio")}\n\n${canvas(RATIOS, 'data-chart-at="4096"')}`),
    /no mark .* at-4m\.ratio, 2\.9/,
    "the chart leaves that size out",
  );
});

test("two marks of one place or one series may have the quotient that a title says", async () => {
  assert.equal(await told(`## ${value("at-4k.ratio")}\n\n${canvas(IOPS)}`), "");
  assert.equal(await told(`## ${value("at-4m.ratio")}\n\n${canvas(IOPS)}`), "");
  assert.equal(await told(`## ${value("inverse.ratio")}\n\n${canvas(IOPS)}`), "");
  assert.match(
    await told(`## ${value("other.ratio")}\n\n${canvas(IOPS, 'data-chart-at="4096"')}`),
    /no mark/,
  );
});

test("a title's figure is no mean over what the picture shows apart, even where a mark has it by chance", async () => {
  const pooled = /the title's both\.ratio is a mean over io_size_bytes, and the charts show each apart/;
  assert.match(await told(`## ${value("both.ratio")}\n\n${canvas(RATIOS)}`), pooled);
  await talk.save(RATIOS, "I/O size,4096,4194304\nA,2.41,2.8839\n");
  assert.match(await told(`## ${value("both.ratio")}\n\n${canvas(RATIOS)}`), pooled);
});

test("a note says what its slide shows or has in writing, or names the slide that shows it", async () => {
  const said = (note, text = "") => told(`## What is it?\n\n${text}\n\n${canvas(RATIOS)}`, note);
  assert.equal(await said(`It is ${value("at-4k.ratio")}.`), "");
  const other = value("other.ratio");
  assert.match(
    await said(`It is ${other}.`),
    /no mark of the slide shows the note's other\.ratio, 3\.7; name the slide that does, as in \[words\]\(#\/trials\)/,
  );
  assert.equal(await said(`It is ${other}.`, other), "", "it is in writing below the chart");
  const claims = slideWith('## Others\n\n<div data-claims="other"></div>').replace("one", "two");
  const beside = async (note) => {
    const problems = await talk.problemsOf(
      `${slideWith(`## What is it?\n\n${canvas(RATIOS)}`, note)}\n\n${claims}`,
    );
    return problems.filter((line) => /the note's/.test(line));
  };
  assert.deepEqual(await beside(`You [have seen it](#/two): ${other}.`), []);
  assert.deepEqual(await beside(`<a href="#/two">You have seen it</a>: ${other}.`), []);
  assert.equal(
    (await beside(`You [have seen it](#/two).\n\nIt is ${other}.`)).length,
    1,
    "another paragraph",
  );
  assert.equal(
    (await beside(`You [have seen it](#/one): ${other}.`)).length,
    1,
    "a slide that does not show it",
  );
});

test("of lines of runs the highest point of each can be read, of trials the median, too", async () => {
  const summary = { median_seconds: 2.5 };
  const x = { factor: "block", unit: "count" };
  const charts = {
    "iops-read-seq": { n: 1, x, y: { unit: "seconds" }, series: ["A"], summary: { a: summary } },
  };
  const experiments = { "rbd-journaling": { ...MANIFEST.experiments["rbd-journaling"], charts } };
  await talk.saveData({ manifest: { ...MANIFEST, experiments } });
  const median = value("manifest.experiments.rbd-journaling.charts.iops-read-seq.summary.a.median_seconds");
  const trials = (n) => `series,x,y,low,high,n\nA,1,1,,,${n}\nA,2,2,,,${n}\nA,3,3,,,${n}\nA,4,9,,,${n}\n`;
  await talk.save(IOPS, trials(1));
  assert.equal(await told(`## ${median}\n\n${canvas(IOPS)}`), "");
  await talk.save(IOPS, trials(6));
  assert.match(
    await told(`## ${median}\n\n${canvas(IOPS)}`),
    /no mark of the slide shows/,
    "these are no trials",
  );
  const runs = "chart,series,x,y,block,attempt\n";
  const lines = () => told(`## ${median}\n\n${canvas(IOPS, 'data-chart-lines="worst run"')}`);
  await talk.save(`${FOLDER}/runs.csv`, `${runs}iops-read-seq,A,1,2.5,1,1\niops-read-seq,A,2,2.1,1,1\n`);
  assert.equal(await lines(), "");
  await talk.save(`${FOLDER}/runs.csv`, `${runs}iops-read-seq,A,1,2.5,1,1\niops-read-seq,A,2,7.1,1,1\n`);
  assert.match(await lines(), /no mark of the slide shows/);
});

test("what stands in a text of another verdict, or was set, is not looked for in the picture", async () => {
  const chart = canvas(RATIOS);
  assert.equal(
    await told(
      `## <span data-when="at-4k refuted">${value("other.ratio")}</span><span data-when="at-4k held inconclusive not-testable-here not-measured">${value("at-4k.ratio")}</span>\n\n${chart}`,
    ),
    "",
  );
  assert.equal(await told(`## ${value("other.ratio")}\n\nNo picture.`), "", "a slide without a picture");
  assert.equal(await told(`## ${value("manifest.setup.osds")} OSDs\n\n${chart}`), "", "what was set");
});

test("a table of claims shows its estimates", async () => {
  assert.equal(await told(`## ${value("other.ratio")}\n\n<div data-claims="other"></div>`), "");
  assert.match(await told(`## ${value("other.ratio")}\n\n<div data-claims="at-4k"></div>`), /no mark/);
});

test("a note at a point says the figure of that point, and its size", async () => {
  const note = (text) => told(`## What is it?\n\n${canvas(RATIOS, `data-chart-notes="${text}"`)}`);
  assert.equal(await note("A @ 4096 = {at-4k.ratio} at 4K | A @ 4194304 = {here} at 4M"), "");
  assert.match(
    await note("A @ 4194304 = {other.ratio} at 4M"),
    /a\.md:4: data-chart-notes: other\.ratio is 3\.7, and not what “A” shows at 4194304; write \{here\}/,
  );
  assert.match(await note("A @ 4096 = {at-4k.ratio} at 4M"), /“.* at 4M” stands at the point of 4096 bytes/);
});
