import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";
import { JSDOM } from "jsdom";

import { Bets } from "../../../deck/stage/bets.js";
import { keyList } from "../../../deck/stage/key-list.js";
import { CODE, decide } from "../../../deck/stage/keys.js";
import { PointerSpot } from "../../../deck/stage/pointer-spot.js";

const REST = { explore: false, paused: false, overlay: false, overview: false, focus: "none" };
const stage = (key, state) => decide(key, { ...REST, ...state });
const reader = (key, state) => decide(key, { ...REST, explore: true, ...state });
/** Answers that open something over the slides. */
const OPENING = ["overview", "help", "contents", "search"];

test("on stage no key without Shift opens a menu", () => {
  for (let keyCode = 0; keyCode < 256; keyCode += 1) {
    const answer = stage({ keyCode });
    const opened = OPENING.includes(answer) ? answer : null;
    // The list of keys is only for reading, and any movement closes it.
    assert.ok(opened === null || opened === "help", `key ${keyCode}: ${opened}`);
  }
  assert.equal(stage({ keyCode: CODE.o, shiftKey: true }), "overview");
  for (const keyCode of [CODE.o, CODE.g, CODE.escape, CODE.home, CODE.end])
    assert.equal(stage({ keyCode }), "swallow", `key ${keyCode}`);
  for (const keyCode of [CODE.left, CODE.right, CODE.up, CODE.down])
    assert.equal(stage({ keyCode, shiftKey: true }), "swallow");
});

test("every button of a clicker moves on, moves back, blackens the screen, or fills it", () => {
  for (const keyCode of [
    CODE.pageDown,
    CODE.right,
    CODE.down,
    CODE.space,
    CODE.pageUp,
    CODE.left,
    CODE.up,
    190,
    66,
  ])
    assert.equal(stage({ keyCode }), "pass", `key ${keyCode}`);
  assert.equal(stage({ keyCode: CODE.enter }), "next");
  assert.equal(stage({ keyCode: CODE.f5 }), "fullscreen");
  assert.equal(stage({ keyCode: CODE.f5, shiftKey: true }), "fullscreen");
});

test("any navigation key ends the black screen, and no other key changes anything behind it", () => {
  for (const explore of [false, true]) {
    for (const keyCode of [
      CODE.pageDown,
      CODE.pageUp,
      CODE.right,
      CODE.space,
      CODE.enter,
      CODE.escape,
      58,
      59,
      191,
    ])
      assert.equal(stage({ keyCode }, { explore, paused: true }), "wake", `key ${keyCode}`);
    for (const keyCode of [66, 86, 190]) assert.equal(stage({ keyCode }, { explore, paused: true }), "pass");
    for (const keyCode of [84, 83, CODE.o])
      assert.equal(stage({ keyCode }, { explore, paused: true }), "swallow");
  }
});

test("moving on closes an overlay and changes the slide with the same press", () => {
  assert.equal(stage({ keyCode: CODE.pageDown }, { overlay: true }), "close, pass");
  assert.equal(stage({ keyCode: CODE.escape }, { overlay: true }), "close");
  assert.equal(stage({ keyCode: CODE.slash, shiftKey: true }, { overlay: true }), "close");
  assert.equal(stage({ keyCode: 84 }, { overlay: true }), "swallow");
  assert.equal(stage({ keyCode: CODE.escape }, { overview: true }), "overview");
  assert.equal(stage({ keyCode: CODE.o }, { overview: true }), "overview");
  assert.equal(stage({ keyCode: CODE.enter }, { overview: true }), "pass");
});

test("keys go to the focused element", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 255 }),
      fc.boolean(),
      fc.boolean(),
      (keyCode, shiftKey, explore) => {
        for (const focus of ["text", "dialog"])
          if (stage({ keyCode, shiftKey }, { explore, focus }) !== "leave") return false;
        return true;
      },
    ),
  );
  for (const keyCode of [CODE.space, CODE.enter])
    assert.equal(reader({ keyCode }, { focus: "control" }), "leave");
  assert.equal(reader({ keyCode: CODE.right }, { focus: "control" }), "pass");
  assert.equal(reader({ keyCode: CODE.tab }), "leave");
});

test("the browser keeps its own combinations; Ctrl-K is a reader's search", () => {
  assert.equal(stage({ keyCode: 82, ctrlKey: true }), "leave");
  for (const keyCode of [CODE.r, CODE.f5])
    assert.equal(stage({ keyCode, ctrlKey: true }, { receiver: true }), "swallow", "a window would be empty");
  assert.equal(stage({ keyCode: CODE.k, ctrlKey: true }), "leave");
  assert.equal(reader({ keyCode: CODE.k, ctrlKey: true }), "search");
  assert.equal(reader({ keyCode: CODE.k, metaKey: true }), "search");
  assert.equal(reader({ keyCode: CODE.slash }), "search");
  assert.equal(stage({ keyCode: CODE.slash }), "pass");
  for (const explore of [false, true])
    assert.equal(
      stage({ keyCode: 219, key: "?", shiftKey: true }, { explore }),
      "help",
      "as on a German keyboard",
    );
});

test("where keys of a character are off, they do nothing, and all others what they did", () => {
  const off = { characters: false };
  for (const [keyCode, key] of [
    [66, "b"],
    [190, "."],
    [191, "?"],
    [84, "t"],
  ])
    for (const paused of [false, true]) {
      assert.equal(reader({ keyCode, key }, { ...off, paused }), "leave");
      assert.notEqual(reader({ keyCode, key }, { paused }), "leave");
    }
  assert.equal(reader({ keyCode: CODE.space, key: " " }, off), "pass");
  assert.equal(reader({ keyCode: CODE.right, key: "ArrowRight" }, off), "pass");
  assert.equal(reader({ keyCode: CODE.f1, key: "F1" }, off), "help", "where they are turned on again");
  assert.equal(stage({ keyCode: 66 }, off), "pass", "from the speaker's window, which passes on codes alone");
});

test("Escape opens nothing, not even for a reader", () => {
  assert.equal(reader({ keyCode: CODE.escape }), "swallow");
});

test("a reader's Home and End lead to the first and the last slide, also in the overview", () => {
  for (const overview of [false, true]) {
    assert.equal(reader({ keyCode: CODE.home }, { overview }), "first");
    assert.equal(reader({ keyCode: CODE.end }, { overview }), "last");
  }
});

test("the list of keys names every working key once", () => {
  const codes = {
    Home: 36,
    End: 35,
    "Page Up": 33,
    "Page Down": 34,
    "→": 39,
    "←": 37,
    "↑": 38,
    "↓": 40,
    Space: 32,
    ".": 190,
    F1: 112,
    F5: 116,
  };
  const tools = [
    { key: "T", description: "Charts as a table" },
    { key: "C", description: "Contents" },
  ];
  for (const explore of [false, true]) {
    const list = keyList({ explore }, explore ? tools : tools.slice(0, 1));
    const keys = list.flatMap((one) => one.keys);
    assert.equal(new Set(keys).size, keys.length, keys.join(" "));
    assert.ok(keys.includes("T"));
    assert.equal(keys.includes("C"), explore);
    for (const key of keys.filter((name) => !/[+?/]/.test(name))) {
      const keyCode = codes[key] ?? key.charCodeAt(0);
      assert.notEqual(decide({ keyCode }, { ...REST, explore }), "swallow", `${key}, explore: ${explore}`);
    }
    for (const { does } of list) assert.match(does, /\w/);
  }
});

test("the spot of the mouse is on in all windows or in none, whenever they were opened", () => {
  const windows = [];
  const open = () => {
    const page = new JSDOM().window.document;
    const echo = {
      tell: (message) => windows.filter((one) => one.page !== page).forEach(({ heard }) => heard(message)),
      listen: (heard) => windows.push({ page, heard }),
    };
    const [{ run }] = PointerSpot({ slides: () => page.body, echo }, page).keys;
    return run;
  };
  const shown = () => windows.map(({ page }) => page.querySelector(".pointer-spot") !== null);
  const pressOnStage = open();
  pressOnStage();
  const pressInView = open();
  assert.deepEqual(shown(), [true, true]);
  pressOnStage();
  assert.deepEqual(shown(), [false, false]);
  pressInView();
  assert.deepEqual(shown(), [true, true]);
});

test("bets go to the other windows, and one that opens later asks for them", () => {
  const told = [];
  let hear;
  // A message is a copy.
  const echo = {
    tell: (message) => told.push(structuredClone(message)),
    listen: (heard) => (hear = heard),
  };
  const root = new EventTarget();
  const slide = { querySelectorAll: () => [] };
  const deck = { getRevealElement: () => root, getCurrentSlide: () => slide };
  const { keys } = Bets({ deck, charts: { charts: new Map() }, echo });
  for (const { code, run } of keys) {
    assert.equal(stage({ keyCode: code }), "pass");
    // On a slide without bets.
    run();
  }
  const [first, second] = ["a journal", "nothing"].map((name) => new Map([[name, { x: Infinity, y: 0.01 }]]));
  hear({ kept: first });
  hear({ kept: second });
  hear({ code: 84 });
  hear({ kept: null });
  hear({ bets: second });
  root.dispatchEvent(new Event("chart-csv:bets"));
  assert.deepEqual(told, [{ kept: null }, { kept: first }, { bets: second }]);
});
