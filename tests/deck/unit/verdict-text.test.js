import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import {
  VERDICTS,
  chooseTexts,
  chosenText,
  isChosen,
  parseWhen,
  verdictOf,
} from "../../../deck/text/verdict-text.js";

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
