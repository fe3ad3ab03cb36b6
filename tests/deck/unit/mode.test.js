import assert from "node:assert/strict";
import { test } from "node:test";
import { addressWith, modeFrom as modeOf, talkAddress } from "../../../deck/page/mode.js";
import fc from "fast-check";
import { isInCut, nearest, redirected } from "../../../deck/stage/cut.js";

const SECOND = { name: "second", title: "Why?", page: "talk-second.html" };
const TALK = { name: "first", cuts: [40, 20], readerPage: true, others: [SECOND] };
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
  const { front, readerPage } = modeFrom("?explore", { talk: { ...TALK, readerPage: false } });
  assert.deepEqual([front, readerPage], [false, false]);
  assert.equal(modeFrom("?explore", { hash: "#/title" }).readerPage, true);
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

test("a slide is in the cuts that it names, and in all when it names none", () => {
  assert.equal(isInCut(null, 20), true);
  assert.equal(isInCut("", 20), true);
  assert.equal(isInCut("40", 20), false);
  assert.equal(isInCut("40", 40), true);
  assert.equal(isInCut(" 20  40 ", 20), true);
  assert.equal(isInCut("200", 20), false);
});

test("a removed slide is replaced by the last one before it, else by the first after it", () => {
  assert.equal(nearest([true, false, false, true], 2), 0);
  assert.equal(nearest([false, false, true], 0), 2);
  assert.equal(nearest([false], 0), null);
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }), fc.nat(), (stays, seed) => {
      const at = seed % stays.length;
      const found = nearest(stays, at);
      if (found === null) return !stays.includes(true);
      if (!stays[found]) return false;
      return found <= at
        ? !stays.slice(found + 1, at + 1).includes(true)
        : !stays.slice(0, found).includes(true);
    }),
  );
});

test("an address leads elsewhere only if its slide was removed", () => {
  const moved = new Map([["mirror rate", { id: "disaster", title: "Rate" }]]);
  assert.deepEqual(redirected("#/mirror%20rate/2", moved), {
    from: "mirror rate",
    id: "disaster",
    title: "Rate",
    hash: "#/disaster",
  });
  for (const hash of ["", "#/", "#/title", "#/3/1", "#mirror%20rate", "#/%E0%A4%A"])
    assert.equal(redirected(hash, moved), null, hash);
});

test("`?talk=` leads to the page of another talk, and an unknown one is a problem that names those that exist", () => {
  const at = (address) => talkAddress(address, TALK);
  assert.equal(
    at("https://a.example/t/?talk=second&data=mine#/end"),
    "https://a.example/t/talk-second.html?data=mine#/end",
  );
  assert.equal(at("https://a.example/t/index.html?talk=first"), null);
  assert.equal(at("https://a.example/t/"), null);
  assert.equal(at("https://a.example/t/?talk=third"), null);
  assert.deepEqual(modeFrom("?talk=first").problems, []);
  assert.deepEqual(modeFrom("?talk=third").problems, [
    "There is no talk “third” here. Available: first, second.",
  ]);
});
