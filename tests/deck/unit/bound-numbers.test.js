import assert from "node:assert/strict";
import { test } from "node:test";
import { JSDOM } from "jsdom";
import { follow } from "../../../deck/data/follow.js";
import { BoundNumbers } from "../../../deck/text/bound-numbers.js";
import fc from "fast-check";
import {
  chooseTexts,
  chosenText,
  isChosen,
  parseWhen,
  verdictOf,
  VERDICTS,
} from "../../../deck/text/verdict-text.js";

const manifest = {
  label: "one small machine",
  measured_from: "2026-01-01T00:00:00Z",
  measured_to: "2026-01-03T00:00:00Z",
  setup: { osds: 3, memory_bytes: 1073741824 },
  experiments: { "rbd-journaling": { blocks: 10 } },
};

const ofClaims = (claims) => new BoundNumbers({ manifest: null, claims: { claims } });
const ofManifest = (osds) => new BoundNumbers({ manifest: { osds }, claims: null });

test("the first word of a value names the source in which it is looked up", () => {
  const numbers = new BoundNumbers({ manifest, claims: null });
  assert.equal(numbers.resolve("manifest.setup.osds"), "3");
  assert.equal(numbers.resolve("manifest.setup.memory_bytes"), "1 GiB");
  assert.equal(numbers.resolve("manifest.experiments.rbd-journaling.blocks"), "10");
  assert.equal(numbers.resolve("manifest.measured"), "1–3 January 2026");
});

test("every other first word is a claim", () => {
  const numbers = ofClaims({ price: { verdict: "held" } });
  assert.equal(numbers.resolve("price.verdict"), "held");
  assert.equal(numbers.resolve("other.verdict"), null);
});

test("what no source knows is null, never a guess", () => {
  const numbers = new BoundNumbers({ manifest, claims: null });
  for (const value of [
    "manifest.setup.unknown",
    "manifest.setup",
    "manifest",
    "claim.ratio",
    "",
    "manifest..osds",
  ])
    assert.equal(numbers.resolve(value), null, value);
  const without = new BoundNumbers({ manifest: null, claims: null });
  assert.equal(without.resolve("manifest.setup.osds"), null);
});

test("a path follows own properties only", () => {
  assert.equal(follow({ a: [1, { b: 2 }] }, ["a", "1", "b"]), 2);
  assert.equal(follow({}, ["constructor", "name"]), undefined);
  assert.equal(follow({ a: "text" }, ["a", "length"]), undefined);
  assert.equal(follow(null, ["a"]), undefined);
});

/** A `<data>` element in a slide, within a heading or a paragraph. */
function dataElement(value, text, within = "p") {
  const { document } = new JSDOM(
    `<section><${within}><data value="${value}">${text}</data></${within}></section>`,
  ).window;
  return { root: document.querySelector("section"), element: document.querySelector("data") };
}

test("a value that disappears becomes the slide's own text again, or a text that says it is missing", () => {
  const { root, element } = dataElement("manifest.osds", "3");
  ofManifest("4").bind(root, { shipped: true });
  assert.equal(element.textContent, "4");
  ofManifest(null).bind(root, { shipped: true });
  assert.equal(element.textContent, "3");
  assert.deepEqual([...element.classList].sort(), ["figure-text", "unbound"]);
  ofManifest(null).bind(root, { shipped: false });
  assert.equal(element.textContent, "not recorded");
  ofManifest("5").bind(root, { shipped: false });
  assert.equal(element.textContent, "5");
  assert.deepEqual([...element.classList].sort(), ["bound", "figure-text"]);
});

test("a title leaves the place of a figure open that another data set lacks", () => {
  const numbers = ofManifest(null);
  const { root, element } = dataElement("manifest.osds", "3", "h2");
  numbers.bind(root, { shipped: false });
  assert.equal(element.textContent, "…");
  numbers.bind(root, { shipped: true });
  assert.equal(element.textContent, "3");
});

test("a line of a slide does not break between a number and its unit", () => {
  const numbers = ofClaims({ price: { sentence: "a 4 KiB write" } });
  const { root, element } = dataElement("price.sentence", "a 4 KiB write");
  numbers.bind(root, { shipped: true });
  assert.equal(element.textContent, "a 4\u00a0KiB write");
  assert.equal(element.getAttribute("data-fallback"), "a 4 KiB write");
});

const saying = (verdict) => ({ claims: { price: { verdict } } });

test("a text names its claim and the verdicts for which it is shown", () => {
  assert.deepEqual(parseWhen("price held"), { claim: "price", verdicts: ["held"] });
  assert.deepEqual(parseWhen("  price  held\n refuted "), { claim: "price", verdicts: ["held", "refuted"] });
});

test("a claim without a verdict is not a condition, and its text is never shown", () => {
  for (const text of ["", "price", null, undefined]) assert.equal(parseWhen(text), null);
  assert.equal(isChosen(null, saying("held")), false);
});

for (const [verdict, slug] of [
  ["held", "held"],
  ["not testable here", "not-testable-here"],
  ["not measured", "not-measured"],
]) {
  test(`the verdict “${verdict}” is written ${slug}`, () => {
    assert.equal(verdictOf("price", saying(verdict)), slug);
    assert.ok(isChosen(parseWhen(`price ${slug}`), saying(verdict)));
  });
}

test("a claim that the data do not have is not measured", () => {
  for (const document of [null, {}, { claims: {} }, { claims: { other: { verdict: "held" } } }])
    assert.equal(verdictOf("price", document), "not-measured");
  assert.equal(verdictOf("constructor", saying("held")), "not-measured");
});

test("property: in a group that covers every verdict exactly one text is chosen, whatever the data say", () => {
  const verdict = fc.constantFrom("held", "refuted", "inconclusive", "not testable here", "not measured");
  const parts = fc.array(fc.nat(2), { minLength: 5, maxLength: 5 });
  fc.assert(
    fc.property(verdict, parts, (found, part) => {
      const group = [0, 1, 2]
        .map((number) => VERDICTS.filter((_, position) => part[position] === number))
        .filter((verdicts) => verdicts.length > 0);
      const chosen = group.filter((verdicts) => isChosen({ claim: "price", verdicts }, saying(found)));
      assert.equal(chosen.length, 1);
    }),
  );
});

/** The parts of an element that choosing needs, and a count of its changes. */
function element(when, changes) {
  const attributes = new Map([["data-when", when]]);
  return {
    changes,
    hasAttribute: (name) => attributes.has(name),
    getAttribute: (name) => attributes.get(name) ?? null,
    toggleAttribute(name, force) {
      changes.push(`${when} ${force ? "hidden" : "shown"}`);
      if (force) attributes.set(name, "");
      else attributes.delete(name);
    },
  };
}

test("choosing hides the texts of other verdicts, and does not touch those that stay", () => {
  const changes = [];
  const texts = ["price held", "price refuted", "price inconclusive"].map((when) => element(when, changes));
  const root = { querySelectorAll: (selector) => (selector === "[data-when]" ? texts : []) };
  chooseTexts(root, saying("held"));
  assert.deepEqual(changes.splice(0), ["price refuted hidden", "price inconclusive hidden"]);
  chooseTexts(root, saying("held"));
  assert.deepEqual(changes.splice(0), []);
  chooseTexts(root, saying("refuted"));
  assert.deepEqual(changes, ["price held hidden", "price refuted shown"]);
});

test("the text of a title is its chosen part, in one line", () => {
  const text = (data) => ({ nodeType: 3, data });
  const node = (children, hidden = false) => ({
    nodeType: 1,
    childNodes: children,
    hasAttribute: () => hidden,
  });
  const title = node([
    node([text("It\n falls "), node([text("a lot")])]),
    { nodeType: 8, data: "a comment" },
    node([text("It does not")], true),
  ]);
  assert.equal(chosenText(title), "It falls a lot");
});
