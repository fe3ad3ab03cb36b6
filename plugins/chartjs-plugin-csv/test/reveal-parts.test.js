import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Choice } from "../src/reveal/choice.js";
import { nearSlides, surplus } from "../src/reveal/near.js";
import { setTimeout as wait } from "node:timers/promises";
import { Groups } from "../src/reveal/groups.js";
import { Room } from "../src/room.js";
import { describe } from "../src/reveal/description.js";
import { IdleQueue } from "../src/reveal/idle.js";

const slides = Array.from({ length: 10 }, (_, i) => i);

test("the slide before, the current one and the next two are near", () => {
  assert.deepEqual([...nearSlides(slides, 4, 2)], [3, 4, 5, 6]);
  assert.deepEqual([...nearSlides(slides, 0, 2)], [0, 1, 2]);
  assert.deepEqual([...nearSlides(slides, 9, 2)], [8, 9]);
});

test("without a current slide the first slides are near", () => {
  assert.deepEqual([...nearSlides(slides, null, 1)], [0, 1]);
});

test("the farthest unwanted charts go first, wanted ones never", () => {
  const live = [
    { item: "a", wanted: false, distance: 9 },
    { item: "b", wanted: true, distance: 20 },
    { item: "c", wanted: false, distance: 4 },
    { item: "d", wanted: false, distance: 7 },
  ];
  assert.deepEqual(surplus(live, 2), ["a", "d"]);
  assert.deepEqual(surplus(live, 0), ["a", "d", "c"]);
  assert.deepEqual(surplus(live, 4), []);
});

test("property: no more than the limit stay, unless more are wanted", () => {
  const entry = fc.record({ item: fc.integer(), wanted: fc.boolean(), distance: fc.nat() });
  fc.assert(
    fc.property(fc.array(entry), fc.nat(12), (live, limit) => {
      const left = live.length - surplus(live, limit).length;
      const wanted = live.filter((one) => one.wanted).length;
      assert.ok(left <= Math.max(limit, wanted));
    }),
  );
});

test("a copy of a canvas takes over what was chosen, and leaves the rest to the slide", () => {
  const canvas = { dataset: {} };
  const [first, copy, other] = [new Choice(canvas), new Choice(canvas), new Choice(canvas)];
  copy.change(first.state);
  assert.deepEqual(copy.given, {}, "the slide may draw its runs");
  first.change({ runs: true, shown: ["a"] });
  other.change(first.state);
  assert.deepEqual(other.given, { shown: ["a"], runs: true });
});

test("work is done one by one, later, and each item once", async () => {
  const done = [];
  const queue = new IdleQueue((item) => done.push(item));
  for (const item of ["a", "b", "a", "c"]) queue.add(item);
  queue.delete("b");
  assert.deepEqual(done, []);
  // It comes however busy the machine is.
  while (done.length < 2) await wait(5);
  await wait(5);
  assert.deepEqual(done, ["a", "c"]);
});

test("waiting work can be done at once, or dropped", async () => {
  const done = [];
  const queue = new IdleQueue((item) => done.push(item));
  queue.add("a");
  queue.flush();
  assert.deepEqual(done, ["a"]);
  queue.add("b");
  queue.clear();
  await wait(30);
  assert.deepEqual(done, ["a"]);
});

test("work that takes a while ends before the next begins", async () => {
  const ends = [];
  const queue = new IdleQueue(() => new Promise((resolve) => ends.push(resolve)));
  queue.add("a");
  queue.add("b");
  while (ends.length < 1) await wait(5);
  await wait(30);
  assert.equal(ends.length, 1);
  ends[0]();
  while (ends.length < 2) await wait(5);
});

test("nothing begins before what was said to come first has ended", async () => {
  const done = [];
  let end;
  const queue = new IdleQueue((item) => done.push(item));
  queue.after(new Promise((resolve) => (end = resolve)));
  queue.add("a");
  await wait(30);
  assert.deepEqual(done, []);
  end();
  while (done.length < 1) await wait(5);
});

test("work that never ends keeps the next waiting only for a while, and flush waits for nothing", async () => {
  const begun = [];
  const queue = new IdleQueue((item) => {
    begun.push(item);
    return new Promise(() => {});
  });
  queue.add("a");
  queue.add("b");
  while (begun.length < 2) await wait(50);
  queue.add("c");
  queue.flush();
  assert.deepEqual(begun, ["a", "b", "c"]);
});

test("charts are aligned together once none of them is coming, and then laid out", () => {
  const frames = [];
  globalThis.requestAnimationFrame = (run) => frames.push(run);
  globalThis.cancelAnimationFrame = () => {};
  const group = {};
  const slots = ["a", "b", "broken"].map((name) => ({
    ...{ name, coming: false, drawn: name !== "broken" },
    canvas: { closest: () => group },
  }));
  const done = [];
  const groups = new Groups(
    ".group",
    () => slots,
    (ready) => done.push(ready.map(({ name }) => name)),
    ({ name }) => done.push(name),
  );
  try {
    slots[1].coming = true;
    groups.touch(slots[0]);
    assert.equal(groups.isWaiting, true);
    frames.shift()();
    assert.deepEqual(done, []);
    assert.equal(groups.isWaiting, false);
    slots[1].coming = false;
    groups.touch(slots[1]);
    frames.shift()();
    assert.deepEqual(done, [["a", "b"], "a", "b"]);
  } finally {
    delete globalThis.requestAnimationFrame;
    delete globalThis.cancelAnimationFrame;
  }
});

test("a chart is laid out again once for all that it was told of its room, and only if that changes it", () => {
  const updates = [];
  const room = new Room({ update: (mode) => updates.push(mode) });
  room.fit("left", 40);
  room.fit("right", 60);
  room.setInsets({ left: 40, right: 10 });
  assert.equal(room.isDue, false, "it has that much room already");
  room.setInsets({ left: 50, right: 10 });
  room.hold({ low: 0, high: 5 });
  assert.deepEqual(updates, []);
  room.settle();
  room.settle();
  assert.deepEqual(updates, ["none"]);
  assert.equal(room.fit("left", 40), 50);
});

test("work may add work", async () => {
  const done = [];
  const queue = new IdleQueue((item) => {
    done.push(item);
    if (item < 3) queue.add(item + 1);
  });
  queue.add(1);
  while (done.length < 3) await wait(5);
  await wait(5);
  assert.deepEqual(done, [1, 2, 3]);
});

test("a chart of very many points is described once the page is idle, and only if it still shows them", async () => {
  const modelOf = (count) => ({ series: [{ name: "a", points: Array(count).fill({ x: 1, y: 1 }) }] });
  const slotOf = (model) => {
    const slot = { model, said: null, caption: null };
    slot.canvas = { setAttribute: (name, value) => (slot.said = `${name}: ${value}`) };
    return slot;
  };
  const context = { labelFor: null, summaryFor: (slot) => `${slot.model.series[0].points.length} points` };
  const [few, many, changed] = [10, 20_000, 20_000].map((count) => slotOf(modelOf(count)));
  const described = [few, many, changed].map((slot) => describe(slot, context));
  assert.deepEqual([few.said, many.said], ["aria-label: 10 points", null]);
  changed.model = null;
  await Promise.all(described);
  assert.deepEqual([many.said, changed.said], ["aria-label: 20000 points", null]);
});
