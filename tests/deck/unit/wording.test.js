import assert from "node:assert/strict";
import { cp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { slidesOf } from "../../../scripts/deck/check/chapters.js";
import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { readDataSet, wordsOf } from "../../../scripts/deck/text/data-set-words.js";
import { cuesOf, rehearsalOf, rehearsalText } from "../../../scripts/deck/text/rehearsal.js";
import { readSlide } from "../../../scripts/deck/text/segments.js";
import { tellingOf } from "../../../scripts/deck/text/slide-words.js";
import { openTalk } from "../../../scripts/deck/text/talk.js";
import { changed, wordingDifferences } from "../../../scripts/deck/text/wording.js";
import { temporaryFolder } from "../../support/folders.mjs";
import { assertEnds, runNode } from "../../support/programs.mjs";
import { MANIFEST, claimsWith } from "../support/talk.js";

const OTHERS = "refuted inconclusive not-testable-here not-measured";
const CHAPTER = `<!-- .slide: id="one" data-timing="30" -->
## <span data-when="small held">It falls</span><span data-when="small ${OTHERS}">It does not</span>

First. It is <data value="small.ratio">2.1×</data> here. Last, on <data value="manifest.label">Sandbox</data>.

<!-- Note -->
Always the same.

<p data-when="small held">We say <data value="small.ratio">2.1×</data>.</p>
<p data-when="small ${OTHERS}">We say nothing.</p>


<!-- .slide: id="two" data-timing="30" -->
# Two

<!-- Note -->
Words.
`;
const slides = slidesOf(CHAPTER, { file: "slides/talk/a.md" }).map(readSlide);
const told = (words) => () => ({ words });
const shipped = told(wordsOf({ manifest: MANIFEST, claims: claimsWith({ small: {} }) }, { shipped: true }));
const words = (manifest, claims) => told(wordsOf({ manifest, claims }));

test("with the same data the talk reads the same", () => {
  assert.deepEqual(wordingDifferences(slides, shipped, shipped), []);
});

test("a figure changes only its own sentences, in body and note, each with its line", () => {
  const conditions = { ratio: { estimate: 5, low: 4, high: 6, n: 6 } };
  const mine = words(MANIFEST, claimsWith({ small: { conditions } }));
  assert.deepEqual(wordingDifferences(slides, shipped, mine), [
    {
      ...{ file: "slides/talk/a.md", line: 4, slide: "one", part: "body" },
      ...{ old: "It is 2.1× here.", new: "It is 5.0× here." },
    },
    {
      ...{ file: "slides/talk/a.md", line: 9, slide: "one", part: "note" },
      ...{ old: "We say 2.1×.", new: "We say 5.0×." },
    },
  ]);
});

test("a verdict changes the title and the texts that it chooses, side by side", () => {
  const mine = words(MANIFEST, claimsWith({ small: { verdict: "refuted" } }));
  assert.deepEqual(
    wordingDifferences(slides, shipped, mine).map(({ line, part, old, new: now }) => [line, part, old, now]),
    [
      [2, "title", "It falls", "It does not"],
      [10, "note", "We say 2.1×.", "We say nothing."],
    ],
  );
});

test("a value that another data set lacks is absent, and never the shipped figure", () => {
  const texts = wordingDifferences(slides, shipped, words(null, null)).map(({ new: now }) => now);
  assert.deepEqual(texts, [
    "It does not",
    "It is not measured here.",
    "Last, on not recorded.",
    "We say nothing.",
  ]);
});

test("sentences that stay are not listed, even between two that change", () => {
  const lines = (...texts) => texts.map((text) => ({ text, line: 1 }));
  const pairs = changed(lines("a", "b", "c", "d"), lines("a", "B", "c", "D", "e"));
  assert.deepEqual(
    pairs.map(({ from, to }) => [from?.text ?? null, to?.text ?? null]),
    [
      ["b", "B"],
      ["d", "D"],
      [null, "e"],
    ],
  );
});

const shippedWords = async (talk) => {
  const { stated, slides } = await openTalk(PROJECT, talk);
  const benchmarks = path.join(PROJECT, "benchmarks");
  const data = await readDataSet(benchmarks, stated.dataSet);
  return { slides, telling: await tellingOf({ benchmarks, stated, data }) };
};

test("a rehearsal has each slide of a cut in its time, its cues apart from what is said", () => {
  const slides = slidesOf(
    [
      `<!-- .slide: id="a" data-timing="60" -->\n## A\n\n<!-- Note -->\n**One** · **Two**<!-- .element: class="x" --> · **Three**\n\nFour words are said.\n\nAnd **more** here.`,
      `<!-- .slide: id="b" data-cut="40" data-timing="20" -->\n## B\n\n<!-- Note -->\nNo cues.`,
      `<!-- .slide: id="c" data-timing="9" data-timing-20="2" -->\n## <span class="finding">So.</span><span class="question">Why?</span>\n\n<!-- Note -->\n${"word ".repeat(10)}`,
      `<!-- .slide: id="d" data-visibility="uncounted" -->\n## D\n\n<!-- Note -->\nAppendix.`,
    ].join("\n\n\n"),
    { file: "a.md" },
  ).map(readSlide);
  const how = { cut: 20, wordsPerMinute: 60, data: "mine" };
  const rows = rehearsalOf(slides, words(null, null), how);
  assert.deepEqual(
    rows.map(({ id, title, from, seconds, cues, said, words, needed }) => [
      ...[id, title, from, seconds, cues.length, said[0], words, needed],
    ]),
    [
      ["a", "A", 0, 60, 3, "Four words are said.", 7, 7],
      ["c", "Why? So.", 60, 2, 0, "word ".repeat(10).trim(), 10, 10],
    ],
  );
  const text = rehearsalText(rows, how);
  assert.match(
    text,
    /^# Rehearsal of the 20-minute cut\n\nData: mine\. .* 60 words a minute.* 0:17 of the 1:02/,
  );
  assert.match(text, /More words than time: c \(10 s of words in 2 s\)\./);
  assert.match(text, /## 1:00–1:02 · 2\. Why\? So\.\n\n10 words, 10 s of 2 s\n\nword word/);
});

test("the notes of this talk begin with three cues, then prose, and read no interval aloud", async () => {
  const { slides } = await shippedWords();
  const spoken = slides.filter(({ note, front }) => note && !front);
  assert.ok(spoken.length > 40, `${spoken.length} slides with notes`);
  for (const slide of spoken) {
    const text = slide.text.slice(slide.note.start);
    assert.equal(cuesOf(text).length, 3, `${slide.file} #${slide.id} begins with three cues`);
    assert.match(text.trim(), /\n\n\S/, `${slide.file} #${slide.id} has prose after its cues`);
    assert.doesNotMatch(text, /value="[^"]*\.(?:interval|low|high)"/, `${slide.file} #${slide.id}`);
  }
  assert.deepEqual(cuesOf("**Bold** words begin this.\n\nProse."), []);
});

test("this talk can be said unhurried in each of its cuts", async () => {
  const { slides, telling } = await shippedWords();
  for (const cut of [20, 30]) {
    const rows = rehearsalOf(slides, telling, { cut });
    assert.ok(rows.length > 10);
    for (const { id, needed, seconds } of rows)
      assert.ok(needed <= seconds, `${cut}: ${id} takes ${needed} s`);
    const [said, given] = ["needed", "seconds"].map((key) => rows.reduce((all, row) => all + row[key], 0));
    assert.ok(said >= 0.9 * given, `${cut}: ${given - said} s of silence are too many in ${given} s`);
  }
});

test("no note of an appendix takes longer than its slide", async () => {
  for (const talk of ["rpo", "cluster"]) {
    const { slides, telling } = await shippedWords(talk);
    const appendix = slides.filter(({ uncounted }) => uncounted);
    assert.ok(appendix.length > 15);
    const told = appendix.map((slide) => ({ ...slide, uncounted: false }));
    for (const { id, needed, seconds } of rehearsalOf(told, telling, { cut: 20 }))
      assert.ok(needed <= seconds, `${talk}: ${id} takes ${needed} s`);
  }
});

test("the command names the existing data sets, and prints a diff or JSON of the talk", async (t) => {
  const benchmarks = temporaryFolder(t);
  const shippedFolder = path.join(PROJECT, "benchmarks/tentacle");
  for (const file of ["manifest.json", "claims.json", "answer.csv"]) {
    for (const name of ["tentacle", "mine"])
      await cp(path.join(shippedFolder, file), path.join(benchmarks, name, file), { recursive: true });
  }
  const run = (...args) => runNode("scripts/wording.mjs", args, { REPLAY_BENCHMARKS: benchmarks });
  await assertEnds(run("--data", "other"), 2, /no data set “other”. Available: mine, tentacle/);
  await assertEnds(run(), 2, /--data/);
  const noCut = /slides\/rpo\/talk\.yaml has no cut of 25 minutes; it has 30, 20/;
  await assertEnds(run("--rehearse", "25"), 2, noCut);
  assert.match(
    (await run("--rehearse", "20")).stdout,
    /^# Rehearsal of the 20-minute cut\n\nData: tentacle\./,
  );
  assert.match((await run("--data", "tentacle")).stdout, /“tentacle” and “tentacle” read alike\./);
  assert.match(
    (await run("--data", "mine")).stdout,
    /“mine” and “tentacle” read alike\./,
    "a copy says the same",
  );
  // Slides that are of another data set are of the talk's own data no longer when it is told with others.
  for (const file of ["manifest.json", "claims.json"])
    await cp(path.join(PROJECT, "benchmarks/stretch", file), path.join(benchmarks, "stretch", file));
  const named = (await shippedWords()).slides.filter(({ dataSet }) => dataSet !== null);
  const copy = JSON.parse((await run("--data", "mine", "--json")).stdout);
  assert.ok(copy.sentences > 0);
  for (const { slide } of copy.differences)
    assert.ok(
      named.some(({ id }) => id === slide),
      slide,
    );

  await writeFile(
    path.join(benchmarks, "mine/manifest.json"),
    JSON.stringify({ limitation: "A cluster of mine" }),
  );
  const { stdout } = await run("--data", "mine");
  assert.match(stdout, /^slides\/rpo\/91-journal\.md:\d+ #setup note\n- .*\n\+ .*A cluster of mine/m);
  assert.match(stdout, /“mine” changes \d+ sentences on \d+ of \d+ slides, against “tentacle”\.\n$/);
  const report = JSON.parse((await run("--data", "tentacle", "--against", "mine", "--json")).stdout);
  assert.equal(report.sentences, report.differences.length);
  assert.ok(report.differences.some(({ old }) => old?.includes("A cluster of mine")));

  await rm(path.join(benchmarks, "mine/claims.json"));
  assert.match(
    (await run("--data", "mine")).stderr,
    /“mine” has no claims\.json; write it with: \.\/replay derive/,
  );
});
