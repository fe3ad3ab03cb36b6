/** The speaker view: the step of a note, the time that each slide took, what the data left out of the talk, and its keys. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { JSDOM } from "jsdom";

import { applyCut, withoutData } from "../../../deck/stage/cut.js";
import { CODE } from "../../../deck/stage/keys.js";
import { Times, clock, leftOut, stepsOfNotes } from "../../../deck/stage/speaker-help.js";
import { mendSpeakerWindow } from "../../../deck/stage/speaker-window.js";

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
  const { localStorage } = new JSDOM("", { url: "http://localhost/" }).window;
  Object.defineProperty(globalThis, "localStorage", { value: localStorage });
  let now = 0;
  const begin = () => Times({ key: "talk", now: () => now });
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
  localStorage.setItem("talk", "{");
  assert.deepEqual(begin().of("title"), { spent: null, last: null });
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
  assert.deepEqual(withoutData(moved), ["lag"]);
});

test("a key in the speaker view acts once: on the talk as on stage, on what has the focus, or in the browser", () => {
  const { window } = new JSDOM(
    `<div id="current-slide"><iframe></iframe></div><div id="speaker-controls"></div>
    <select></select><button></button><details><summary></summary></details>`,
  );
  const page = window.document;
  const furnish = () => mendSpeakerWindow(page, { title: "A talk", accent: "#005f99", leftOut: "[]" });
  furnish();
  furnish();
  assert.equal(page.title, "Speaker view – A talk");
  let left = 0;
  page.addEventListener("keydown", () => (left += 1));
  let told = [];
  page.querySelector("iframe").contentWindow.postMessage = (message) => told.push(JSON.parse(message));
  /** The codes of the keys that the talk gets, and whether the browser acts on the key. */
  const press = (keyCode, { on = "body", ...more } = {}) => {
    told = [];
    const event = new window.KeyboardEvent("keydown", { keyCode, ...more, bubbles: true, cancelable: true });
    const isOfBrowser = page.querySelector(on).dispatchEvent(event);
    for (const { method } of told) assert.equal(method, "triggerKey");
    return [told.flatMap(({ args }) => args), isOfBrowser];
  };
  const shiftKey = true;
  const T = 84;
  assert.deepEqual(press(T), [[T], true]);
  assert.deepEqual(press(CODE.pageDown), [[CODE.pageDown], false], "the notes do not scroll");
  assert.deepEqual(press(CODE.end), [[CODE.end], true], "the notes scroll");
  for (const held of ["ctrlKey", "metaKey", "altKey"])
    assert.deepEqual(press(CODE.p, { [held]: true }), [[], true], held);
  assert.deepEqual(press(CODE.r, { ctrlKey: true }), [[], false], "the window would be empty");
  assert.deepEqual(press(CODE.f5, { ctrlKey: true }), [[], false], "the window would be empty");
  assert.deepEqual(press(CODE.slash, { key: "?", shiftKey }), [[CODE.question], false]);
  assert.deepEqual(press(219, { key: "?", shiftKey }), [[CODE.question], true], "as on a German keyboard");
  assert.deepEqual(press(CODE.space, { shiftKey }), [[CODE.pageUp], false]);
  assert.deepEqual(press(T, { shiftKey }), [[], true]);
  for (const on of ["button", "summary"]) {
    for (const code of [CODE.space, CODE.enter]) assert.deepEqual(press(code, { on }), [[], true], on);
    assert.deepEqual(press(CODE.right, { on }), [[CODE.right], false], on);
  }
  for (const code of [CODE.down, T]) assert.deepEqual(press(code, { on: "select" }), [[], true]);
  assert.deepEqual(press(CODE.pageDown, { on: "select" }), [[CODE.pageDown], false], "as a clicker sends");
  assert.equal(left, 0, "reveal would pass it on, too");
});
