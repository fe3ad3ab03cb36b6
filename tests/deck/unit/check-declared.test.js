/** What only authors can say: figures that sources published, words of a verdict; and what charts and styles add. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { numeralsIn } from "../../../scripts/deck/check/numerals.js";
import { PROJECT, benchmarksRoot } from "../../../scripts/deck/data-sets.js";
import { checkTalk } from "../../../scripts/deck/check/index.js";
import { CHART, claimsWith, makeTalk, slideWith } from "../support/talk.js";

let talk;
const told = async (body, note) => (await talk.problemsOf(slideWith(body, note))).join("\n");

beforeEach(async () => {
  talk = await makeTalk();
  await talk.saveData({ claims: claimsWith({ small: {} }) });
});
afterEach(() => talk.remove());

const SPOKEN = '<data value="small.ratio">2.1×</data>';
const chart = (attributes, options = "") =>
  `## ${SPOKEN}\n\n<canvas data-chart="line" data-chart-src="${CHART}" ${attributes}>${options && `<!-- ${options} -->`}</canvas>`;

test("a slide quotes of a source only the figures that are declared, in texts and marks, and each of them", async () => {
  const quoted = (figure) => `${SPOKEN} <span data-source="S0">about ${figure} slower</span>`;
  assert.equal(await told(quoted("15.6×")), "", "without the file nothing is declared");
  await talk.save("config/published.yaml", 'S0: ["15.6×"]\n');
  assert.equal(await told(quoted("15.6×")), "");
  assert.match(await told(quoted("25.6×")), /a\.md:2: "25\.6×" is not among the figures .* of S0/);
  assert.match(await told(quoted("25.6×")), /published\.yaml:1: no slide quotes "15\.6×" of S0/);
  assert.match(await told(quoted("15.6×").replace("S0", "S1")), /"15\.6×" is not among the figures .* of S1/);
  await talk.save("config/published.yaml", 'S0: ["published @ 4096 = 15.6"]\n');
  const marked = (value) => chart(`data-chart-marks="published @ 4096 = ${value}" data-source="S0"`);
  assert.equal(await told(marked("15.6")), "");
  assert.match(await told(marked("25.6")), /"published @ 4096 = 25\.6" is not among the figures/);
});

test("texts for held and refuted that changed places are told by the author's words", async () => {
  await talk.save("config/verdict-words.yaml", "refuted: [not, only]\n");
  const texts = (held, refuted) =>
    `${SPOKEN}\n\n<span data-when="small held">${held}</span><span data-when="small refuted">${refuted}</span>` +
    '<span data-when="small inconclusive not-testable-here not-measured">?</span>';
  assert.equal(await told(texts("It slows.", "It does not.")), "");
  const swapped = await told(texts("It does not.", "It slows."));
  assert.match(swapped, /claim "small" for "held" has “not”, a word of "refuted"/);
  assert.match(swapped, /claim "small" for "refuted" has none of its words \(not, only\)/);
  assert.equal(await told(texts(`Nothing: ${SPOKEN}`, "only a little")), "");
  await talk.save(
    "config/verdict-words.yaml",
    "refuted: [not]\nclaims:\n  small: { held: [not notice], refuted: [run at] }\n",
  );
  assert.equal(await told(texts("Reads do not notice.", "Reads run at less.")), "");
  assert.match(await told(texts("Reads run at less.", "Reads do not notice.")), /for "held" has “run at”/);
  await talk.save("config/verdict-words.yaml", "refuted: not\n");
  await assert.rejects(talk.check(), /config\/verdict-words\.yaml: write a list/);
});

test("the texts of the talk that ships are told apart, each pair that is swapped", async () => {
  const { problems } = await checkTalk({ root: PROJECT, benchmarks: benchmarksRoot({}) });
  assert.deepEqual(
    problems.filter(({ message }) => /a word of|none of its words|published\.yaml/.test(message)),
    [],
  );
  await talk.save("slides/a.md", await readFile(path.join(PROJECT, "slides/10-price.md"), "utf8"));
  const file = path.join(talk.root, "slides/a.md");
  await talk.save(
    "config/verdict-words.yaml",
    await readFile(path.join(PROJECT, "config/verdict-words.yaml"), "utf8"),
  );
  const wordings = async () =>
    (await talk.check()).problems.filter(({ message }) => /a word of|none of its words/.test(message)).length;
  assert.equal(await wordings(), 0);
  const text = await readFile(file, "utf8");
  const swap = { held: "refuted", refuted: "held" };
  await writeFile(
    file,
    text.replace(/(data-when="[\w-]+ )(held|refuted)"/g, (_, before, one) => `${before}${swap[one]}"`),
  );
  assert.ok((await wordings()) > 5);
});

test("a chart's options and labels hold no numeral, and its axis of values hides nothing", async () => {
  assert.equal(await told(chart("", '{"options": {"scales": {"y": {"min": 0}, "x": {"max": 6}}}}')), "");
  const options = (json) => told(chart("", JSON.stringify(json)));
  assert.match(
    await options({ options: { plugins: { title: { text: "10× slower" } } } }),
    /say "10× slower"/,
  );
  assert.match(await options({ options: { scales: { y: { reverse: true } } } }), /turned round/);
  assert.match(await options({ options: { scales: { y: { min: 3 } } } }), /a min of its own/);
  const ranged = chart('data-chart-range="a share"', '{"options": {"scales": {"y": {"max": 1}}}}');
  assert.equal(await told(ranged), "");
  assert.match(await told(chart("", "{")), /options are no JSON/);
  assert.match(await told(chart('data-chart-label="Four times"')), /the numeral "Four"/);
  assert.match(await told(`${SPOKEN} <i role="meter" aria-valuetext="9 of them"></i>`), /the numeral "9"/);
});

test("a style sheet adds no numeral to a slide", async () => {
  await talk.save(
    "css/a.css",
    '.a::before { content: "twice" }\n.b::after {\n content: "\\2192" }\n.c { content: none }\n',
  );
  await talk.save("slides/a.md", slideWith(SPOKEN));
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
