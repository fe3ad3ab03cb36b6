import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { makeTalk } from "../support/talk.js";

let talk;
beforeEach(async (t) => {
  talk = await makeTalk(t);
});

/** A slide with these attributes, body and note. */
const slide = (attributes, body = "# A title", note = "Words.") =>
  `<!-- .slide: ${attributes} -->\n${body}\n\n<!-- Note -->\n${note}\n`;
const chapter = (...slides) => slides.join("\n\n");
const FIRST = 'data-chapter="One" data-chapter-minutes="40" data-chapter-minutes-20="20"';
/** A talk with one chapter that keeps its time in both cuts. */
const WHOLE = [
  slide(`id="one" ${FIRST} data-timing="1200" data-timing-20="1000"`),
  slide('id="two" data-timing="200"'),
  slide('id="three" data-cut="40" data-timing="1000"'),
];
const told = async (...slides) => (await talk.problemsOf(chapter(...slides))).join("\n");

test("a talk whose chapters take their minutes in both cuts has no problem, and its seconds are added up by cut", async () => {
  assert.equal(await told(...WHOLE), "");
  const { times } = await talk.check();
  assert.deepEqual(times, [
    { file: "slides/talk/a.md", slides: 3, seconds: { 20: 1200, 40: 2400 }, appendix: 0 },
  ]);
});

test("a chapter that misses its minutes is named with the cut and the difference", async () => {
  const [first, second, third] = WHOLE;
  assert.equal(
    await told(first, second, third.replace('"1000"', '"1010"')),
    'slides/talk/a.md:1: chapter "One" takes 2410 s in the 40-minute cut, and is given 2400 s: 10 s too many',
  );
  assert.match(
    await told(first, second.replace('"200"', '"200" data-timing-20="150"'), third),
    /chapter "One" takes 1150 s in the 20-minute cut, and is given 1200 s: 50 s too few/,
  );
});

test("the chapters' minutes add up to the cut, and each chapter says how many it takes", async () => {
  const minutes = WHOLE.map((text) =>
    text.replace('minutes="40"', 'minutes="41"').replace('"1200"', '"1260"'),
  );
  assert.match(
    await told(...minutes),
    /a\.md:1: the chapters are given 41 minutes in the 40-minute cut: 60 s too many/,
  );
  const more = slide('id="four" data-chapter="Two" data-timing="60"');
  assert.match(await told(...WHOLE, more), /chapter "Two": data-chapter-minutes is missing/);
  assert.match(
    await told(...WHOLE, more.replace('"Two"', '"Two" data-chapter-minutes="few"')),
    /chapter "Two": data-chapter-minutes is "few"/,
  );
});

test("a talk has the cuts that its file names, and adds up to what each is timed for", async () => {
  await talk.state({ cuts: [{ minutes: 10, timed_for_minutes: 9.5 }] });
  const chapterOf = (minutes) => `id="one" data-chapter="One" data-chapter-minutes="${minutes}"`;
  const talkOf = (minutes) => slide(`${chapterOf(minutes)} data-timing="${minutes * 60}"`);
  assert.equal(await told(talkOf(9.5)), "");
  assert.match(
    await told(talkOf(10)),
    /a\.md:1: the chapters are given 10 minutes in the 10-minute cut: 30 s too many/,
  );
  assert.match(await told(...WHOLE), /data-chapter-minutes-20: no cut of "20" minutes; there is 10/);
  const { times, cuts } = await talk.check();
  assert.deepEqual([Object.keys(times[0].seconds), cuts], [["10"], [10]]);
});

test("a talk whose chapters have no minutes is no longer than its cuts", async () => {
  await talk.state({ cuts: [{ minutes: 2 }, { minutes: 1 }] });
  const two = slide('id="two" data-timing="60" data-timing-1="20"');
  assert.equal(await told(slide('id="one" data-timing="60" data-timing-1="40"'), two), "");
  assert.equal(
    await told(slide('id="one" data-timing="60" data-timing-1="45"'), two),
    "slides/talk/a.md:8: the slides take 65 s in the 1-minute cut, which has 60 s: 5 s too many",
  );
});

test("a slide before the first chapter is in no sum", async () => {
  const before = slide('id="zero" data-timing="5"');
  assert.equal(
    await told(before, ...WHOLE),
    "slides/talk/a.md:1: belongs to no chapter; begin one with data-chapter",
  );
});

test("a chapter that a cut has need not begin there with its own first slide", async () => {
  const [first, second, third] = WHOLE;
  const cut = first.replace('data-timing="1200" data-timing-20="1000"', 'data-cut="40" data-timing="1200"');
  assert.equal(await told(cut, second.replace('"200"', '"200" data-timing-20="1200"'), third), "");
});

test("the appendix is in no sum, and in every cut", async () => {
  const appendix = slide('id="more" data-chapter="More" data-visibility="uncounted" data-timing="500"');
  assert.equal(await told(...WHOLE, appendix), "");
  assert.match(
    await told(...WHOLE, appendix.replace("data-visibility", 'data-cut="40" data-visibility')),
    /data-cut on a slide of the appendix, which is in every cut/,
  );
});

test("an unknown cut, and a timing for a cut without the slide, are problems", async () => {
  const [first, second, third] = WHOLE;
  assert.match(
    await told(first, second, third.replace('data-cut="40"', 'data-cut="30"')),
    /data-cut: no cut of "30" minutes; there are 40, 20/,
  );
  assert.match(
    await told(first, second, third.replace('"1000"', '"1000" data-timing-30="9"')),
    /data-timing-30: no cut of "30" minutes; there are 40, 20/,
  );
  assert.match(
    await told(first, second, third.replace('"1000"', '"1000" data-timing-20="9"')),
    /data-timing-20, but the slide is not in the 20-minute cut/,
  );
  assert.match(
    await told(first, second.replace('"200"', '"200" data-timing-20="soon"'), third),
    /data-timing-20="soon" is not a number of seconds/,
  );
});

test("a slide of a cut does not lead to one that the cut does not have", async () => {
  const [first, second, third] = WHOLE;
  const leads = (text, id) => text.replace("# A title", `# A title\n\n[there](#/${id})`);
  assert.equal(await told(first, second, leads(third, "three")), "");
  assert.equal(await told(first, leads(second, "one"), third), "");
  assert.equal(
    await told(first, leads(second, "three"), third),
    'slides/talk/a.md:11: leads to "three", which is not in the 20-minute cut; this slide is',
  );
  const appendix = slide('id="more" data-visibility="uncounted" data-timing="5"');
  assert.match(
    await told(...WHOLE, leads(appendix, "three")),
    /leads to "three", which is not in the 20-minute cut/,
  );
});

test("a note that takes longer than its slide is a problem of the cut in which it does", async () => {
  const [first, second, third] = WHOLE;
  const words = (count) => Array.from({ length: count }, () => "word").join(" ");
  const said = (text, count) => text.replace("Words.", words(count));
  assert.equal(await told(first, said(second, 640), third), "");
  const slow = /a\.md:11: the note has 641 words for 200 s in the (\d+)-minute cut; it takes 201 s at least/g;
  assert.deepEqual(
    [...(await told(first, said(second, 641), third)).matchAll(slow)].map(([, cut]) => cut),
    ["40", "20"],
  );
  const appendix = slide('id="more" data-visibility="uncounted" data-timing="5"', "# A title", words(50));
  assert.equal(await told(...WHOLE, appendix), "");
});

test("a chart's series, steps and published figures are checked", async () => {
  const chart = (attributes) =>
    slide(
      'id="one" data-timing="9"',
      `## <data value="manifest.setup.osds">3</data> OSDs\n<canvas data-chart="line" data-chart-src="benchmarks/reference/rbd-journaling/aggregate/iops-read-seq.csv" ${attributes}></canvas>`,
    );
  const manifest = {
    setup: { osds: 3 },
    experiments: { "rbd-journaling": { charts: { "iops-read-seq": { n: 6, series: ["A", "B"] } } } },
  };
  await talk.saveData({ manifest });
  assert.equal(await told(chart('data-chart-series="A | B" data-chart-steps="A | B"')), "");
  assert.equal(await told(chart('data-chart-steps="A + B"')), "");
  assert.match(
    await told(chart('data-chart-series="A | C"')),
    /a\.md:3: data-chart-series: the chart has no series "C"; it has A, B/,
  );
  assert.match(
    await told(chart('data-chart-series="A" data-chart-steps="A | B"')),
    /a\.md:3: data-chart-steps: the chart shows no series "B"; it shows A/,
  );
  assert.match(await told(chart('data-chart-steps=" | "')), /data-chart-steps without a series/);
  assert.equal(await told(chart('data-chart-marks="published=12.5" data-source="S0"')), "");
  assert.match(await told(chart('data-chart-marks="published=12.5"')), /data-chart-marks without its source/);
  assert.match(await told(chart('data-chart-marks="published" data-source="S0"')), /is not “NAME = NUMBER”/);
  assert.match(
    await told(chart('data-chart-marks="" data-source="S0"')),
    /data-chart-marks without a figure/,
  );
  assert.equal(await told(chart('data-chart-notes="A @ 4096 = {here} a second"')), "");
  assert.match(await told(chart('data-chart-notes="C @ 4096 = fast"')), /no series "C"; it has A, B/);
  assert.match(
    await told(chart('data-chart-notes="A @ 4096 = 12.5 a second"')),
    /the numeral "12\.5" comes from no data/,
  );
  assert.match(
    await told(chart('data-chart-notes="A @ 4096 = {manifest.nowhere}"')),
    /value "manifest\.nowhere"/,
  );
  assert.match(await told(chart('data-chart-notes="A: fast"')), /is not “SERIES @ X = TEXT”/);
  assert.equal(await told(chart('data-chart-emphasis="B"')), "");
  assert.match(
    await told(chart('data-chart-emphasis="C"')),
    /data-chart-emphasis: the chart has no series "C"/,
  );
  assert.match(await told(chart('data-chart-lines="worst run"')), /this chart's runs are no lines/);
});

test("the page that a reader meets first has sections, and neither timings nor notes nor cuts", async () => {
  await talk.state({ reader_page: "reader.md" });
  await talk.save("slides/talk/reader.md", '<!-- .slide: id="reader" -->\n# Read [this](#/three) of 7\n');
  assert.equal(
    await told(...WHOLE),
    'slides/talk/reader.md:2: the numeral "7" comes from no data; bind it with <data value="…">, or name its source with data-source="…"',
  );
  const { times } = await talk.check();
  assert.deepEqual(
    times.map(({ file }) => file),
    ["slides/talk/a.md"],
  );
});
