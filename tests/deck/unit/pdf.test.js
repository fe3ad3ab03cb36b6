import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { PDFDocument, PDFName } from "@cantoo/pdf-lib";

import { printAddress, problemsOf } from "../../../scripts/deck/pdf.js";
import { readPdf } from "../../../scripts/deck/printed-file.js";
import { temporaryFolder } from "../../support/folders.mjs";
import { assertEnds, runNode } from "../../support/programs.mjs";
import { FIXTURE } from "../support/fixture.js";
import { GOOD as SLIDE, makeTalk } from "../support/talk.js";

/** A PDF file of so many pages, each of which uses fonts: `{Subtype, BaseFont, FontDescriptor, …}` each. */
async function pdfFile({ pages, fonts = [] }) {
  const file = await PDFDocument.create();
  const { context } = file;
  const used = fonts.map((font) => context.register(context.obj({ Type: "Font", ...font })));
  for (let page = 0; page < pages; page += 1) {
    const { node } = file.addPage();
    node.set(
      PDFName.of("Resources"),
      context.obj({ Font: Object.fromEntries(used.map((one, i) => [`F${i}`, one])) }),
    );
  }
  return file.save({ addDefaultPage: false });
}

test("pages are counted, and each font is named once", async () => {
  const fonts = [
    { Subtype: "Type0", BaseFont: "AAAAAA+Inter-Bold-Identity-H" },
    { Subtype: "CIDFontType2", BaseFont: "AAAAAA+Inter-Bold" },
    { Subtype: "TrueType", BaseFont: "BAAAAA+Inter-Bold" },
    { Subtype: "Type1", BaseFont: "Helvetica" },
    { Subtype: "Type3", CharProcs: {}, FontDescriptor: { Type: "FontDescriptor", FontName: "DejaVuSans" } },
  ];
  assert.deepEqual(await readPdf(await pdfFile({ pages: 2, fonts })), {
    pages: 2,
    fonts: ["DejaVuSans", "Helvetica", "Inter-Bold"],
  });
  assert.deepEqual(await readPdf(await pdfFile({ pages: 3 })), { pages: 3, fonts: [] });
});

const GOOD = {
  slides: 3,
  expected: 3,
  notes: 2,
  noted: 2,
  overfull: [],
  pages: 5,
  notesWanted: true,
};

test("a print is good when it has a page for each slide and each note", () => {
  assert.deepEqual(problemsOf(GOOD), []);
  assert.deepEqual(problemsOf({ ...GOOD, notesWanted: false, notes: 0, pages: 3 }), []);
});

test("problems of a print are reported", () => {
  const said = (facts) => problemsOf({ ...GOOD, ...facts });
  assert.match(said({ expected: 4 })[0], /pages for 3 of 4 slides/);
  assert.match(said({ noted: 3 })[0], /notes of 2 of 3 slides/);
  assert.match(said({ pages: 6 })[0], /6 pages for 3 slides and 2 pages of notes/);
  assert.match(said({ overfull: ["one"] })[0], /notes of one do not fit/);
});

test("the print view is added to the parameters of the address", () => {
  const of = (wanted) =>
    new URL(
      printAddress("http://127.0.0.1:1/?data=mine", {
        cut: null,
        appendix: true,
        notes: false,
        theme: "light",
        ...wanted,
      }),
    );
  assert.equal(of({}).search, "?data=mine&view=print&theme=light");
  assert.equal(of({ cut: "20" }).searchParams.get("cut"), "20");
  assert.ok(of({ appendix: false }).searchParams.has("no-appendix"));
  assert.equal(of({ notes: true }).searchParams.get("showNotes"), "separate-page");
});

test("the command refuses wrong options, and says which exist", async (t) => {
  const refused = (pattern, args, environment) =>
    assertEnds(runNode("scripts/pdf.mjs", args, environment), 2, pattern);
  await refused(/--cut wants a whole number from 1, not 'short'/, ["--cut", "short"]);
  await refused(/no 40-minute cut of the talk\. Its cuts, in minutes: 30, 20/, ["--cut", "40"]);
  await refused(/--theme blue: expected one of light, dark/, ["--theme", "blue"]);
  await refused(/ends in \.pdf/, ["--out", "talk.html"]);
  await refused(/^There is no folder nowhere; make it/, ["--out", "nowhere/talk.pdf"]);
  await refused(/^There is no folder README\.md; make it/, ["--out", "README.md/talk.pdf"]);
  const named = path.join(temporaryFolder(t), "talk.pdf");
  await mkdir(named);
  await refused(/^\S+talk\.pdf is a folder; name a file with --out\.$/m, ["--out", named]);
  await refused(/no data set “nowhere”\. Available: /, ["--data", "nowhere"]);
  await refused(/no data set “fixtur”\. Available: fixture, /, ["--data", "fixtur"], {
    REPLAY_BENCHMARKS: FIXTURE,
  });
});

/** Prints a talk that is refused before any browser starts. */
const printed = (talk) =>
  runNode("scripts/pdf.mjs", ["--out", `${talk.root}/talk.pdf`], {
    REPLAY_TALK: talk.root,
    REPLAY_BENCHMARKS: talk.benchmarks,
    CHROMIUM: process.execPath,
  });

test("a talk that lacks a chapter is not printed, and a sentence names the chapter", async (t) => {
  const talk = await makeTalk(t);
  await talk.save("slides/talk/a.md", SLIDE);
  await talk.state({ chapters: ["a.md", "gone.md"] });
  const problem = /^The talk was not printed: slides\/talk\/talk\.yaml:\d+: there is no chapter .*gone\.md$/m;
  await assertEnds(printed(talk), 1, problem);
});

test("a talk is not printed if any data set of its slides is altered, also one that single slides show", async (t) => {
  const talk = await makeTalk(t);
  const slide = SLIDE.replace("data-timing", 'data-compare="reference newer" data-timing');
  await talk.save("slides/talk/a.md", slide);
  await talk.state({ other_data_sets: ["old"] });
  const resources = [{ path: "manifest.json", hash: "sha256:0" }];
  for (const name of ["old", "newer"]) {
    await talk.saveData({}, name);
    await talk.save(`benchmarks/${name}/datapackage.json`, JSON.stringify({ resources }));
  }
  const altered = ["old", "newer"].map(
    (name) => new RegExp(`^ *${name}/manifest\\.json is not what derive wrote$`, "m"),
  );
  await assertEnds(printed(talk), 1, ...altered);
});
