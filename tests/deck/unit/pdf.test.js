import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { PDFDocument, PDFName } from "@cantoo/pdf-lib";

import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { printAddress, problemsOf } from "../../../scripts/deck/pdf.js";
import { readPdf } from "../../../scripts/deck/printed-file.js";
import { patient } from "../../support/patience.mjs";
import { FIXTURE } from "../support/fixture.js";
import { GOOD as SLIDE, makeTalk } from "../support/talk.js";

/**
 * A PDF file of so many pages, whose page uses fonts: `{Subtype, BaseFont, FontDescriptor, …}` each. `direct` puts them
 * into the page's own dictionary instead of objects of their own.
 */
async function pdfFile({ pages = 1, fonts = [], direct = false, compressed = true } = {}) {
  const file = await PDFDocument.create();
  const { context } = file;
  const made = fonts.map((font) => context.obj({ Type: "Font", ...font }));
  const used = made.map((font) => (direct ? font : context.register(font)));
  for (let page = 0; page < pages; page += 1) {
    const { node } = file.addPage();
    node.set(
      PDFName.of("Resources"),
      context.obj({ Font: Object.fromEntries(used.map((one, i) => [`F${i}`, one])) }),
    );
  }
  return file.save({ useObjectStreams: compressed, addDefaultPage: false });
}

const described = (fontName, file = {}) => ({ Type: "FontDescriptor", FontName: fontName, ...file });

test("pages are counted, and each font is named once with whether it is in the file", async () => {
  const fonts = [
    { Subtype: "TrueType", BaseFont: "Arial", FontDescriptor: described("Arial") },
    {
      Subtype: "TrueType",
      BaseFont: "AAAAAA+Inter-Bold",
      FontDescriptor: described("AAAAAA+Inter-Bold", { FontFile2: [] }),
    },
    {
      Subtype: "Type1",
      BaseFont: "BAAAAA+Inter-Bold",
      FontDescriptor: described("BAAAAA+Inter-Bold", { FontFile3: [] }),
    },
    { Subtype: "Type1", BaseFont: "Helvetica" },
  ];
  for (const layout of [{}, { direct: true }, { compressed: false }])
    assert.deepEqual(await readPdf(await pdfFile({ pages: 2, fonts, ...layout })), {
      pages: 2,
      fonts: [
        { name: "Arial", embedded: false },
        { name: "Helvetica", embedded: false },
        { name: "Inter-Bold", embedded: true },
      ],
    });
});

test("a font is not in the file if one of two with its name is not", async () => {
  const without = { Subtype: "TrueType", BaseFont: "Inter", FontDescriptor: described("Inter") };
  const within = { ...without, FontDescriptor: described("Inter", { FontFile: [] }) };
  for (const fonts of [
    [without, within],
    [within, without],
  ])
    assert.deepEqual((await readPdf(await pdfFile({ fonts }))).fonts, [{ name: "Inter", embedded: false }]);
});

test("a font whose glyphs are drawings in the file needs no font file", async () => {
  const fonts = [{ Subtype: "Type3", CharProcs: {}, FontDescriptor: described("DejaVuSans") }];
  assert.deepEqual((await readPdf(await pdfFile({ fonts }))).fonts, [{ name: "DejaVuSans", embedded: true }]);
});

test("a composite font is in the file if its parts are", async () => {
  const made = (file) => ({
    Subtype: "Type0",
    BaseFont: "AAAAAA+Inter",
    DescendantFonts: [
      {
        Type: "Font",
        Subtype: "CIDFontType2",
        BaseFont: "AAAAAA+Inter",
        FontDescriptor: described("AAAAAA+Inter", file),
      },
    ],
  });
  const embedded = async (file) => (await readPdf(await pdfFile({ fonts: [made(file)] }))).fonts;
  assert.deepEqual(await embedded({ FontFile2: [] }), [{ name: "Inter", embedded: true }]);
  assert.deepEqual(await embedded({}), [{ name: "Inter", embedded: false }]);
});

test("a file without fonts has none, and a file that is not a PDF is refused", async () => {
  assert.deepEqual(await readPdf(await pdfFile({ pages: 3 })), { pages: 3, fonts: [] });
  for (const text of ["<!doctype html>", "", "%PDF-1.7\n1 0 obj <</Type /Catalog>>"])
    await assert.rejects(readPdf(Buffer.from(text)), /no PDF file/, text);
});

const GOOD = {
  slides: 3,
  expected: 3,
  notes: 2,
  noted: 2,
  overfull: [],
  pages: 5,
  fonts: [{ name: "Inter", embedded: true }],
  notesWanted: true,
};

test("a print is good when it has a page for each slide and each note, and its fonts", () => {
  assert.deepEqual(problemsOf(GOOD), []);
  assert.deepEqual(problemsOf({ ...GOOD, notesWanted: false, notes: 0, pages: 3 }), []);
});

test("problems of a print are reported", () => {
  const said = (facts) => problemsOf({ ...GOOD, ...facts });
  assert.match(said({ expected: 4 })[0], /pages for 3 of 4 slides/);
  assert.match(said({ noted: 3 })[0], /notes of 2 of 3 slides/);
  assert.match(said({ pages: 6 })[0], /6 pages for 3 slides and 2 pages of notes/);
  assert.match(said({ overfull: ["one"] })[0], /notes of one do not fit/);
  assert.match(said({ fonts: [{ name: "Arial", embedded: false }] })[0], /font Arial is not in the file/);
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

test("the command refuses wrong options, and says which exist", () => {
  const refused = (pattern, args, environment = {}) => {
    const done = spawnSync(process.execPath, ["scripts/pdf.mjs", ...args], {
      cwd: PROJECT,
      encoding: "utf8",
      env: { ...process.env, ...environment },
      timeout: patient(30_000),
    });
    assert.equal(done.status, 2, done.stdout);
    assert.match(done.stderr, pattern);
  };
  refused(/--cut wants a whole number from 1, not 'short'/, ["--cut", "short"]);
  refused(/no 40-minute cut of the talk\. Its cuts, in minutes: 30, 20/, ["--cut", "40"]);
  refused(/--theme blue: expected one of light, dark/, ["--theme", "blue"]);
  refused(/ends in \.pdf/, ["--out", "talk.html"]);
  refused(/^There is no folder nowhere; make it/, ["--out", "nowhere/talk.pdf"]);
  refused(/^There is no folder README\.md; make it/, ["--out", "README.md/talk.pdf"]);
  const folder = mkdtempSync(path.join(tmpdir(), "replay-pdf-"));
  const named = path.join(folder, "talk.pdf");
  mkdirSync(named);
  refused(/^\S+talk\.pdf is a folder; name a file with --out\.$/m, ["--out", named]);
  rmSync(folder, { recursive: true });
  refused(/no data set “nowhere”\. Available: /, ["--data", "nowhere"]);
  refused(/no data set “fixtur”\. Available: fixture, /, ["--data", "fixtur"], {
    REPLAY_BENCHMARKS: FIXTURE,
  });
});

/** Prints a talk that is refused before any browser starts. */
function printed(talk) {
  return spawnSync(process.execPath, ["scripts/pdf.mjs", "--out", `${talk.root}/talk.pdf`], {
    cwd: PROJECT,
    encoding: "utf8",
    env: {
      ...process.env,
      REPLAY_TALK: talk.root,
      REPLAY_BENCHMARKS: talk.benchmarks,
      CHROMIUM: process.execPath,
    },
    timeout: patient(30_000),
  });
}

test("a talk that lacks a chapter is not printed, and a sentence names the chapter", async () => {
  const talk = await makeTalk();
  try {
    await talk.save("slides/talk/a.md", SLIDE);
    await talk.state({ chapters: ["a.md", "gone.md"] });
    const done = printed(talk);
    assert.equal(done.status, 1, done.stderr);
    const problem =
      /^The talk was not printed: slides\/talk\/talk\.yaml:\d+: there is no chapter .*gone\.md$/m;
    assert.match(done.stderr, problem);
  } finally {
    await talk.remove();
  }
});

test("a talk is not printed if any data set of its slides is altered, also one that single slides show", async () => {
  const talk = await makeTalk();
  try {
    const slide = SLIDE.replace("data-timing", 'data-compare="reference newer" data-timing');
    await talk.save("slides/talk/a.md", slide);
    await talk.state({ other_data_sets: ["old"] });
    const resources = [{ path: "manifest.json", hash: "sha256:0" }];
    for (const name of ["old", "newer"]) {
      await talk.saveData({}, name);
      await talk.save(`benchmarks/${name}/datapackage.json`, JSON.stringify({ resources }));
    }
    const done = printed(talk);
    assert.equal(done.status, 1, done.stderr);
    for (const name of ["old", "newer"])
      assert.match(done.stderr, new RegExp(`^ *${name}/manifest\\.json is not what derive wrote$`, "m"));
  } finally {
    await talk.remove();
  }
});
