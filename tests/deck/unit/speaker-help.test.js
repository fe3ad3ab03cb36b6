/** What the speaker is told: the step of a note, the time that each slide took, and what the data left out of the talk. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { JSDOM } from "jsdom";

import { applyCut, leftOut } from "../../../deck/stage/cut.js";
import { Times, clock, stepsOfNotes } from "../../../deck/stage/speaker-help.js";

test("a paragraph goes with the step that its clicks lead to", () => {
  const ranges = stepsOfNotes([
    "Key words",
    "Before. (pause)",
    "(click, pause) The first step.",
    "Still the first. (click)",
    "The second. (hands, click) The third.",
    "(click)",
    "Click. The fifth: where you click next.",
  ]);
  assert.deepEqual(
    ranges.map(({ first, last }) => [first, last]),
    [
      [0, 0],
      [0, 0],
      [1, 1],
      [1, 1],
      [2, 3],
      [4, 4],
      [5, 5],
    ],
  );
});

test("each slide's time is added up, and the last rehearsal's is kept beside it", () => {
  const kept = new Map();
  const storage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
  let now = 0;
  const begin = () => Times({ key: "talk", storage, now: () => now });
  const first = begin();
  first.turn("title");
  now = 60_000;
  first.turn("price");
  now = 65_000;
  assert.deepEqual(first.of("price"), { spent: 5, last: null });
  first.turn("title");
  now = 75_000;
  assert.deepEqual(first.of("title"), { spent: 70, last: null });
  first.turn(null);
  const second = begin();
  assert.deepEqual(second.of("title"), { spent: null, last: 70 });
  second.turn("title");
  now = 76_000;
  assert.deepEqual(second.of("title"), { spent: 1, last: 70 });
  assert.equal(clock(65.4), "1:05");
  const broken = { getItem: () => "{", setItem: () => assert.fail("not to be written") };
  assert.deepEqual(Times({ key: "talk", storage: broken }).of("title"), { spent: null, last: null });
});

const TALK = `
  <section id="title" data-timing="20"><h1>Title</h1></section>
  <section id="lag" data-timing="90" data-timing-20="60"><h2>The lag</h2><canvas data-chart="line"></canvas></section>
  <section id="long" data-cut="40" data-timing="30"><h2>Longer</h2></section>
  <section id="end" data-timing="10"><h2>End</h2></section>`;

test("a slide without its data leaves with its time, and the speaker is told once", () => {
  const { document } = new JSDOM(`<div>${TALK}</div>`).window;
  const root = document.querySelector("div");
  const moved = applyCut(root, 20, (slide) => slide.querySelector("canvas") !== null);
  assert.deepEqual(
    [...root.querySelectorAll("section")].map(({ id }) => id),
    ["title", "end"],
  );
  assert.deepEqual(moved.get("lag"), { id: "title", title: "The lag", cut: 20, seconds: 60 });
  assert.deepEqual(moved.get("long"), { id: "title", title: "Longer", cut: 40, seconds: null });
  assert.equal(
    leftOut(moved, "mine"),
    "One slide is left out (1 min), because “mine” has nothing for it: “The lag”.",
  );
  assert.equal(leftOut(new Map([["long", moved.get("long")]]), "mine"), null);
});
