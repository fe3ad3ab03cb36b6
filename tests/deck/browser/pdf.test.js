import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { readPdf } from "../../../scripts/deck/printed-file.js";
import { openTalk } from "../../../scripts/deck/text/talk.js";
import { FIXTURE } from "../support/fixture.js";
import { patient } from "../../support/patience.mjs";

let folder;
let slides;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "replay-pdf-"));
  const talk = await openTalk(PROJECT);
  // The front page is Markdown, too, but not a slide.
  slides = talk.slides.filter(({ file }) => file !== "slides/rpo/reader.md");
});
after(() => rm(folder, { recursive: true, force: true }));

/** Prints with the data that ship, unless told otherwise. */
function print(args, environment = {}) {
  return promisify(execFile)(process.execPath, ["scripts/pdf.mjs", ...args], {
    cwd: PROJECT,
    env: { ...process.env, REPLAY_BENCHMARKS: "", ...environment },
    timeout: patient(240_000),
  });
}

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
  await assert.rejects(print(args, { REPLAY_BENCHMARKS: FIXTURE }), (error) => {
    assert.equal(error.code, 1);
    assert.match(error.stderr, /^[\w-]+: .*benchmarks\/fixture-small\//m);
    assert.match(error.stderr, /was not written\..*--incomplete/);
    return true;
  });
  assert.ok(!existsSync(file));
  await print([...args, "--incomplete"], { REPLAY_BENCHMARKS: FIXTURE });
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
