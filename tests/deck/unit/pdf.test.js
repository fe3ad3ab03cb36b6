import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { printAddress, problemsOf } from "../../../scripts/deck/pdf.js";
import { readPdf } from "../../../scripts/deck/pdf-file.js";
import { patient } from "../../../scripts/npm/patience.mjs";

const PDF = `%PDF-1.4
%\u00d3\u00eb
1 0 obj <</Type /Font /Subtype /CIDFontType2 /FontDescriptor 2 0 R>> endobj
2 0 obj <</Type /FontDescriptor
/FontName /AAAAAA+Inter-Bold
/FontBBox [-10 -20 30 40]
/FontFile2 9 0 R>> endobj
3 0 obj <</Type/Page/Parent 5 0 R>> endobj
4 0 obj <</Type /Page
/Parent 5 0 R>> endobj
5 0 obj <</Type /Pages /Count 2>> endobj
6 0 obj <</Type /FontDescriptor /FontName /Arial>> endobj
7 0 obj <</Type /PageLabel>> endobj
8 0 obj <</Type /FontDescriptor /FontName /BAAAAA+Inter-Bold /FontFile3 10 0 R>> endobj
`;
const bytes = (text) => Buffer.from(text, "latin1");

test("pages are counted, and each font is named once with whether it is in the file", () => {
  assert.deepEqual(readPdf(bytes(PDF)), {
    pages: 2,
    fonts: [
      { name: "Arial", embedded: false },
      { name: "Inter-Bold", embedded: true },
    ],
  });
});

test("what is no PDF file, or hides its pages, is refused", () => {
  assert.throws(() => readPdf(bytes("<!doctype html>")), /no PDF file/);
  assert.throws(() => readPdf(bytes("%PDF-1.7\n1 0 obj <</Type /ObjStm>>")), /pages/);
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

test("what is wrong with a print is said", () => {
  const said = (facts) => problemsOf({ ...GOOD, ...facts });
  assert.match(said({ expected: 4 })[0], /pages for 3 of 4 slides/);
  assert.match(said({ noted: 3 })[0], /notes of 2 of 3 slides/);
  assert.match(said({ pages: 6 })[0], /6 pages for 3 slides and 2 pages of notes/);
  assert.match(said({ overfull: ["one"] })[0], /notes of one do not fit/);
  assert.match(said({ fonts: [{ name: "Arial", embedded: false }] })[0], /font Arial is not in the file/);
});

test("the print view is asked for in the address, beside what is there", () => {
  const of = (wanted) =>
    new URL(
      printAddress("http://127.0.0.1:1/?data=mine", { cut: null, notes: false, theme: "light", ...wanted }),
    );
  assert.equal(of({}).search, "?data=mine&view=print&theme=light");
  assert.equal(of({ cut: "20" }).searchParams.get("cut"), "20");
  assert.equal(of({ notes: true }).searchParams.get("showNotes"), "separate-page");
});

test("the command refuses what it cannot do, and says what it can", () => {
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
  refused(/--cut wants 20 or 40, not “30”/, ["--cut", "30"]);
  refused(/--theme wants light or dark/, ["--theme", "blue"]);
  refused(/ends in \.pdf/, ["--out", "talk.html"]);
  refused(/no data set “nowhere”\. Available: /, ["--data", "nowhere"]);
});
