import assert from "node:assert/strict";
import { test } from "node:test";

import { follow } from "../../../deck/data/follow.js";
import { BoundNumbers } from "../../../deck/text/bound-numbers.js";
import { manifestSource } from "../../../deck/text/sources.js";

const manifest = {
  label: "one small machine",
  measured_from: "2026-01-01T00:00:00Z",
  measured_to: "2026-01-03T00:00:00Z",
  setup: { osds: 3, memory_bytes: 1073741824 },
  experiments: { "rbd-journaling": { blocks: 10 } },
};

test("the first word of a value names the source in which it is looked up", () => {
  const numbers = new BoundNumbers().addSource(
    "manifest",
    manifestSource(() => manifest),
  );
  assert.equal(numbers.resolve("manifest.setup.osds"), "3");
  assert.equal(numbers.resolve("manifest.setup.memory_bytes"), "1 GiB");
  assert.equal(numbers.resolve("manifest.experiments.rbd-journaling.blocks"), "10");
  assert.equal(numbers.resolve("manifest.measured"), "1–3 January 2026");
});

test("a further source answers to every other first word", () => {
  const numbers = new BoundNumbers().setDefaultSource(([id, field]) => (id === "price" ? `${field}!` : null));
  assert.equal(numbers.resolve("price.ratio"), "ratio!");
  assert.equal(numbers.resolve("other.ratio"), null);
});

test("what no source knows is null, never a guess", () => {
  const numbers = new BoundNumbers().addSource(
    "manifest",
    manifestSource(() => manifest),
  );
  for (const value of [
    "manifest.setup.unknown",
    "manifest.setup",
    "manifest",
    "claim.ratio",
    "",
    "manifest..osds",
  ])
    assert.equal(numbers.resolve(value), null, value);
  const without = new BoundNumbers().addSource(
    "manifest",
    manifestSource(() => null),
  );
  assert.equal(without.resolve("manifest.setup.osds"), null);
});

test("a path follows own properties only", () => {
  assert.equal(follow({ a: [1, { b: 2 }] }, ["a", "1", "b"]), 2);
  assert.equal(follow({}, ["constructor", "name"]), undefined);
  assert.equal(follow({ a: "text" }, ["a", "length"]), undefined);
  assert.equal(follow(null, ["a"]), undefined);
});

/** The parts of a `<data>` element that binding needs. */
function dataElement(value, text) {
  const attributes = new Map([["value", value]]);
  const classes = new Set();
  return {
    textContent: text,
    classes,
    hasAttribute: (name) => attributes.has(name),
    getAttribute: (name) => attributes.get(name) ?? null,
    setAttribute: (name, given) => attributes.set(name, given),
    classList: { toggle: (name, on) => (on ? classes.add(name) : classes.delete(name)) },
  };
}

test("a value that disappears becomes the slide's own text again, or a text that says it is missing", () => {
  let text = "4";
  const numbers = new BoundNumbers().addSource("manifest", () => text, "not recorded");
  const element = dataElement("manifest.osds", "3");
  const root = { querySelectorAll: () => [element] };
  assert.deepEqual(numbers.bind(root), { bound: ["manifest.osds"], unbound: [] });
  assert.equal(element.textContent, "4");
  text = null;
  assert.deepEqual(numbers.bind(root, { shipped: true }), { bound: [], unbound: ["manifest.osds"] });
  assert.equal(element.textContent, "3");
  assert.deepEqual([...element.classes], ["figure-text", "unbound"]);
  numbers.bind(root, { shipped: false });
  assert.equal(element.textContent, "not recorded");
  text = "5";
  numbers.bind(root, { shipped: false });
  assert.equal(element.textContent, "5");
  assert.deepEqual([...element.classes].sort(), ["bound", "figure-text"]);
});

test("a line of a slide does not break between a number and its unit", () => {
  const numbers = new BoundNumbers().setDefaultSource(() => "a 4 KiB write");
  const element = dataElement("price.sentence", "a 4 KiB write");
  numbers.bind({ querySelectorAll: () => [element] });
  assert.equal(element.textContent, "a 4\u00a0KiB write");
  assert.equal(element.getAttribute("data-fallback"), "a 4 KiB write");
});
