import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { IdleQueue } from "../src/reveal/idle.js";

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
