import assert from "node:assert/strict";
import { test } from "node:test";

import { addressWith, modeFrom as modeOf } from "../../../deck/page/mode.js";

const TALK = { cuts: [40, 20], readerPage: true };
const modeFrom = (search, page = {}) => modeOf(search, { talk: TALK, ...page });

test("a deck is a stage unless it is explored or published, and `?stage` makes a published one a stage again", () => {
  for (const [search, published, explore] of [
    ["", false, false],
    ["?data=mine", false, false],
    ["?explore", false, true],
    ["", true, true],
    ["?stage", true, false],
    ["?explore&stage", false, false],
    ["?explore&receiver", false, false],
    ["?view=print", true, false],
    ["?print-pdf&explore", false, false],
  ])
    assert.equal(modeFrom(search, { published }).explore, explore, `${search} ${published}`);
});

test("the first page comes before the slides when a reader's address names none", () => {
  assert.equal(modeFrom("?explore").front, true);
  assert.equal(modeFrom("?explore", { hash: "#/title" }).front, false);
  assert.equal(modeFrom("?explore", { hash: "#decision" }).front, true);
  assert.equal(modeFrom("").front, false);
  assert.equal(modeFrom("?view=print", { published: true }).front, false);
  assert.equal(modeFrom("?explore", { talk: { ...TALK, readerPage: false } }).front, false);
});

test("there are the talk's cuts; any other is named as a problem, and the first is shown", () => {
  assert.equal(modeFrom("").cut, 40);
  assert.equal(modeFrom("", { talk: { ...TALK, cuts: [5] } }).cut, 5);
  assert.equal(modeFrom("?cut=20").cut, 20);
  assert.equal(modeFrom("?cut=40").cut, 40);
  for (const wrong of ["30", "020", "-20", "20 ", "<img>"]) {
    const { cut, problems } = modeFrom(`?cut=${encodeURIComponent(wrong)}`);
    assert.equal(cut, 40, wrong);
    assert.equal(problems.length, 1);
    assert.match(problems[0], /20 or 40/);
    assert.doesNotMatch(problems[0], /</);
  }
});

test("a recorded run takes a minute, or as long as requested; there is none in print or in the speaker view", () => {
  assert.equal(modeFrom("?run").run, 60);
  assert.equal(modeFrom("?run=").run, 60);
  assert.equal(modeFrom("?run=90").run, 90);
  assert.equal(modeFrom("").run, null);
  assert.equal(modeFrom("?run&receiver").run, null);
  assert.equal(modeFrom("?run&view=print").run, null);
  for (const wrong of ["0", "4.9", "99999", "soon", "NaN", "Infinity"]) {
    const { run, problems } = modeFrom(`?run=${wrong}`);
    assert.equal(run, 60, wrong);
    assert.equal(problems.length, 1, wrong);
  }
});

test("only known words are accepted as a theme", () => {
  assert.equal(modeFrom("?theme=dark").theme, "dark");
  assert.equal(modeFrom("?theme=light").theme, "light");
  assert.equal(modeFrom("?theme=red").theme, null);
  assert.equal(modeFrom("?compare=reference").compare, "reference");
  assert.equal(modeFrom("?compare=").compare, null);
});

test("changing parameters of an address keeps everything else", () => {
  const address = "https://example.org/talk/?data=mine&explore#/title";
  assert.equal(
    addressWith(address, { cut: "20" }),
    "https://example.org/talk/?data=mine&explore&cut=20#/title",
  );
  assert.equal(addressWith(address, { data: null }), "https://example.org/talk/?explore#/title");
  assert.equal(
    addressWith("https://example.org/?a=1", { a: null, explore: "" }),
    "https://example.org/?explore",
  );
});
