/** What only authors can say: figures that sources published; and what charts and styles add. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { numeralsIn } from "../../../scripts/deck/check/numerals.js";
import { CHART, claimsWith, makeTalk, slideWith } from "../support/talk.js";

let talk;
const told = async (body, note) => (await talk.problemsOf(slideWith(body, note))).join("\n");

beforeEach(async (t) => {
  talk = await makeTalk(t);
  await talk.saveData({ claims: claimsWith({ small: {} }) });
});

const SPOKEN = '<data value="small.ratio">2.1×</data>';
const chart = (attributes, options = "") =>
  `## ${SPOKEN}\n\n<canvas data-chart="line" data-chart-src="${CHART}" ${attributes}>${options && `<!-- ${options} -->`}</canvas>`;

test("a slide quotes of a source only the figures that are declared, in texts and marks", async () => {
  const quoted = (figure) => `${SPOKEN} <span data-source="S0">about ${figure} slower</span>`;
  assert.equal(await told(quoted("15.6×")), "", "without the file nothing is declared");
  await talk.save("config/published.yaml", 'S0: ["15.6×"]\n');
  assert.equal(await told(quoted("15.6×")), "");
  assert.match(await told(quoted("25.6×")), /a\.md:2: "25\.6×" is not among the figures .* of S0/);
  assert.match(await told(quoted("15.6×").replace("S0", "S1")), /"15\.6×" is not among the figures .* of S1/);
  await talk.save("config/published.yaml", 'S0: ["published @ 4096 = 15.6"]\n');
  const marked = (value) => chart(`data-chart-marks="published @ 4096 = ${value}" data-source="S0"`);
  assert.equal(await told(marked("15.6")), "");
  assert.match(await told(marked("25.6")), /"published @ 4096 = 25\.6" is not among the figures/);
});

test("a chart's options and labels hold no numeral", async () => {
  const options = (json) => told(chart("", JSON.stringify(json)));
  assert.match(
    await options({ options: { plugins: { title: { text: "10× slower" } } } }),
    /say "10× slower"/,
  );
  assert.match(await told(chart("", "{")), /options are no JSON/);
  assert.match(await told(chart('data-chart-label="Four times"')), /the numeral "Four"/);
  assert.match(await told(`${SPOKEN} <i role="meter" aria-valuetext="9 of them"></i>`), /the numeral "9"/);
});

test("a style sheet adds no numeral to a slide", async () => {
  await talk.save(
    "css/a.css",
    '.a::before { content: "twice" }\n.b::after {\n content: "\\2192" }\n.c { content: none }\n',
  );
  await talk.save("slides/talk/a.md", slideWith(SPOKEN));
  const { problems } = await talk.check();
  assert.deepEqual(
    problems.map(({ file, line, message }) => [file, line, /adds "twice"/.test(message)]),
    [["css/a.css", 1, true]],
  );
});

test("multiples, shares and counts in words are numerals; sizes, thresholds and ordinals are none", () => {
  const found = (text) => numeralsIn(text, new Set([4096, 65536, 4194304])).map(({ numeral }) => numeral);
  for (const text of [
    "sixfold",
    "sevenfold",
    "eight-fold",
    "twentyfold",
    "quadruple",
    "quintupled",
    "a third of them",
    "one third less",
    "a twelfth",
    "two times as slow",
    "orders of magnitude",
    "an order of magnitude",
    "one percent",
    "two per cent",
    "4M operations",
    "64K IOPS",
  ])
    // prettier-ignore
    assert.notDeepEqual(found(text), [], text);
  for (const text of [
    "a third talk",
    "the threshold",
    "4M writes",
    "64K objects",
    "unfolds",
    "one of two",
    "two images",
  ])
    assert.deepEqual(found(text), [], text);
});

test("a percentage or a multiple is a figure in code too, and nothing else is", async () => {
  assert.match(await told(`${SPOKEN} \`40 %\``), /the numeral "40 %"/);
  assert.match(await told(`${SPOKEN} \`3.5×\``), /the numeral "3\.5×"/);
  assert.equal(await told(`${SPOKEN} \`rbd bench --io-size 4K --io-threads 16\``), "");
});
