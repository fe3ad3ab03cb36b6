/** Bound values, and texts that verdicts choose: what they read, and what stands on the slide where the data lack them. */
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";
import { JSDOM } from "jsdom";

import { follow } from "../../../deck/data/follow.js";
import { BoundNumbers } from "../../../deck/text/bound-numbers.js";
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
  experiments: {
    "rbd-journaling": {
      blocks: 10,
      parameters: {
        io_threads: 16,
        image_size_bytes: 1073741824,
        target_seconds: 10,
        wait: { idle_seconds: 2 },
      },
      control: { intervals: 44, excluding_one: 2, share: 0.045, geometric_mean: 0.9943 },
    },
  },
};
const claims = {
  method: { confidence: 0.95, equivalence_blocks: 10, blocks_for_verdict: 2 },
  claims: { price: { verdict: "held", conditions: { ratio: { estimate: 2.07515 } } } },
};
const numbers = BoundNumbers({ manifest, claims });
const ignorant = BoundNumbers({ manifest: null, claims: null });
const ofClaims = (some) => BoundNumbers({ manifest: null, claims: { claims: some } });
const ofManifest = (osds) => BoundNumbers({ manifest: { osds }, claims: null });

for (const [value, text] of [
  ["manifest.setup.osds", "3"],
  ["manifest.setup.memory_bytes", "1 GiB"],
  ["manifest.measured", "1–3 January 2026"],
  ["manifest.experiments.rbd-journaling.blocks", "10"],
  ["manifest.experiments.rbd-journaling.control.share", "4.5 %"],
  ["manifest.experiments.rbd-journaling.control.geometric_mean", "0.99×"],
  ["design.rbd-journaling.io_threads", "16"],
  ["design.rbd-journaling.image_size_bytes", "1 GiB"],
  ["design.rbd-journaling.target_seconds", "10 s"],
  ["design.rbd-journaling.wait.idle_seconds", "2 s"],
  ["method.confidence", "95 %"],
  ["method.equivalence_blocks", "10"],
  ["method.blocks_for_verdict", "2"],
  ["price.ratio", "2.1×"],
  ["price.verdict", "held"],
]) {
  test(`${value} reads ${text}`, () => assert.equal(numbers.resolve(value), text));
}

test("a value that the data lack is null, whatever the source", () => {
  for (const value of [
    "",
    "manifest",
    "manifest..osds",
    "manifest.setup",
    "manifest.setup.disks",
    "design",
    "design.rbd-journaling",
    "design.rbd-journaling.speed",
    "design.failover.io_threads",
    "method",
    "method.luck",
    "price.ratio.low",
    "fame.ratio",
  ])
    assert.equal(numbers.resolve(value), null, value);
  for (const value of [
    "manifest.setup.osds",
    "design.rbd-journaling.io_threads",
    "method.confidence",
    "price.ratio",
  ])
    assert.equal(ignorant.resolve(value), null, value);
});

test("a shipped figure stays on the slide only while the shipped data are shown", () => {
  const said = (value, shipped) => ignorant.textFor(value, "4711", { shipped }).text;
  assert.equal(said("price.ratio", true), "4711");
  assert.equal(said("price.ratio", false), "not measured");
  for (const value of ["manifest.setup.osds", "design.rbd-journaling.io_threads", "method.confidence"])
    assert.equal(said(value, false), "not recorded", value);
  assert.deepEqual(numbers.textFor("price.ratio", "4711", { shipped: false }), {
    text: "2.1×",
    known: true,
  });
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

test("choosing hides the texts of other verdicts, and does not touch those that stay", () => {
  const texts = ["held", "refuted", "inconclusive"].map((one) => `<p data-when="price ${one}">${one}</p>`);
  const { window } = new JSDOM(texts.join(""));
  const { body } = window.document;
  const observer = new window.MutationObserver(() => {});
  observer.observe(body, { attributes: true, subtree: true });
  const changedBy = (verdict) => {
    chooseTexts(body, saying(verdict));
    return observer
      .takeRecords()
      .map(({ target }) => `${target.textContent} ${target.hidden ? "hidden" : "shown"}`);
  };
  assert.deepEqual(changedBy("held"), ["refuted hidden", "inconclusive hidden"]);
  assert.deepEqual(changedBy("held"), []);
  assert.deepEqual(changedBy("refuted"), ["held hidden", "refuted shown"]);
});

test("the text of a title is its chosen part, in one line", () => {
  const title = "<h2><b>It\n falls <i>a lot</i></b><!-- a comment --><b hidden>It does not</b></h2>";
  assert.equal(chosenText(new JSDOM(title).window.document.querySelector("h2")), "It falls a lot");
});
