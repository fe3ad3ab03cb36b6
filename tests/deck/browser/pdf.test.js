import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";

import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { readPdf } from "../../../scripts/deck/printed-file.js";
import { openTalk } from "../../../scripts/deck/text/talk.js";
import { temporaryFolder } from "../../support/folders.mjs";
import { assertEnds, runNode } from "../../support/programs.mjs";
import { FIXTURE } from "../support/fixture.js";

const folder = temporaryFolder({ after });
// The front page is Markdown, too, but not a slide.
const slides = (await openTalk(PROJECT)).slides.filter(({ front }) => !front);

/** Prints with the data that ship, unless told otherwise. */
const print = (args, environment = { REPLAY_BENCHMARKS: "" }) =>
  runNode("scripts/pdf.mjs", args, environment);

const isIn = ({ text }, cut) => !new RegExp(`<!--\\s*\\.slide:[^>]*\\bdata-cut="(?!${cut}")`).test(text);
const isAppendix = ({ text }) => /<!--\s*\.slide:[^>]*\bdata-visibility="uncounted"/.test(text);
const hasNote = ({ note }) => note !== null;

test("the long talk and its appendix are printed whole: a page for each slide, in its own fonts", async () => {
  const file = path.join(folder, "talk.pdf");
  const { stdout } = await print(["--appendix", "--out", file]);
  const { pages, fonts } = await readPdf(await readFile(file));
  const whole = slides.filter((slide) => isIn(slide, 30));
  assert.equal(pages, whole.length);
  assert.ok(
    fonts.some((name) => /^Inter/.test(name)),
    fonts.join(", "),
  );
  assert.match(stdout, new RegExp(`: ${whole.length} slides, [\\d.]+ MB, with the fonts .*Inter`));
});

test("charts that cannot be drawn are named, and nothing is written unless requested", async () => {
  const file = path.join(folder, "refused.pdf");
  // A slide of the cut without any data leaves it; the appendix stays whole.
  const args = ["--data", "fixture-small", "--cut", "20", "--appendix", "--out", file];
  const inFixture = { REPLAY_BENCHMARKS: FIXTURE };
  await assertEnds(
    print(args, inFixture),
    1,
    /^[\w-]+: .*benchmarks\/fixture-small\//m,
    /was not written\..*--incomplete/,
  );
  assert.ok(!existsSync(file));
  await print([...args, "--incomplete"], inFixture);
  assert.ok(existsSync(file), "requested, it is written all the same");
});

test("the short talk has fewer slides, no appendix, and the notes of each on a separate page", async () => {
  const file = path.join(folder, "notes.pdf");
  const counted = slides.filter((slide) => !isAppendix(slide));
  const kept = counted.filter((slide) => isIn(slide, 20));
  assert.ok(kept.length < counted.length, "some slides are in the long talk only");
  const { stdout } = await print(["--cut", "20", "--notes", "--theme", "dark", "--out", file]);
  const noted = kept.filter(hasNote).length;
  assert.ok(noted > 10);
  assert.equal((await readPdf(await readFile(file))).pages, kept.length + noted);
  assert.match(stdout, new RegExp(`: ${kept.length} slides and ${noted} pages of notes, `));
});
