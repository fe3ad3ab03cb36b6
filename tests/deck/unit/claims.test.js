import assert from "node:assert/strict";
import { test } from "node:test";

import { JSDOM } from "jsdom";

import { anyExploratory, claimSource, decidingCondition, regionText } from "../../../deck/data/claims.js";
import { claimRows, soFar } from "../../../deck/data/claim-rows.js";
import { slideOfChart, writeClaims } from "../../../deck/text/claims-table.js";
import { wantedClaims } from "../../../deck/data/claim-charts.js";
import { claimsModel } from "../../../deck/data/claims-model.js";
import { optionsOfDocument } from "../../../deck/stage/document-charts.js";

const ratio = { says: "a ÷ b", estimate: 15.64, low: 12, high: 20, n: 6, region: { low: 7.5, high: 13.3 } };
const half = {
  says: "b ÷ a",
  estimate: 0.48213,
  low: 0.45,
  high: 0.52,
  n: 6,
  region: { low: 0.4, high: 0.6 },
};
const left = { kind: "count", says: "left", estimate: 0, low: 0, high: 0, n: 6, region: { low: 0, high: 0 } };
const claims = {
  sources: { S0: { title: "a talk" } },
  claims: {
    small: {
      sentence: "Small ones.",
      source: "S0",
      chart: "e/c",
      verdict: "inconclusive",
      reason: "why",
      conditions: { ratio, half },
    },
    single: {
      sentence: "Once.",
      source: "S1",
      verdict: "inconclusive",
      reason: "one block gives no interval",
      conditions: { ratio: { ...ratio, low: null, high: null, n: 1 } },
    },
    counted: {
      sentence: "None are left.",
      source: "S1",
      verdict: "held",
      reason: "every condition is held",
      conditions: {
        left,
        some: { ...left, estimate: 2, high: 2, cells: ["a"], blocks: { 1: 2, 2: 0, 3: 1 } },
        many: { ...left, estimate: 12000, low: 12000, high: 12000, cells: ["a", "b"], blocks: { 1: 12000 } },
        unknown: { ...left, estimate: null, low: null, high: null, n: 0 },
      },
    },
    later: {
      sentence: "Later.",
      source: "S1",
      verdict: "not measured",
      reason: "not here",
      conditions: { ratio: { ...ratio, estimate: null, low: null, high: null, n: 0 } },
    },
  },
};
const look = (text) => claimSource(claims)(text.split("."));

for (const [value, text] of [
  ["small.verdict", "inconclusive"],
  ["small.reason", "why"],
  ["small.sentence", "Small ones."],
  ["small.source", "S0"],
  ["small.ratio", "16×"],
  ["small.ratio.estimate", "16×"],
  ["small.ratio.low", "12×"],
  ["small.ratio.high", "20×"],
  ["small.ratio.interval", "12× to 20×"],
  ["small.ratio.n", "6"],
  ["small.ratio.inverse", "0.064×"],
  ["small.ratio.inverse-percent", "6.4 %"],
  ["small.ratio.region", "7.50× to 13.3×"],
  ["small.half.percent", "48 %"],
  ["small.half.inverse", "2.1×"],
  ["single.ratio", "16×"],
  ["single.ratio.interval", "no interval"],
  ["later.ratio.n", "0"],
  ["later.ratio.region", "7.50× to 13.3×"],
  ["counted.left", "0"],
  ["counted.left.estimate", "0"],
  ["counted.left.interval", "0"],
  ["counted.left.n", "6"],
  ["counted.left.region", "exactly 0"],
  ["counted.some", "2"],
  ["counted.some.low", "0"],
  ["counted.some.interval", "0 to 2"],
  ["counted.some.total", "3"],
  ["counted.many", "12\u202f000"],
]) {
  test(`${value} is spoken as ${text}`, () => assert.equal(look(value), text));
}

test("a value that no claim has is null, never a guess", () => {
  for (const text of [
    "nobody.ratio",
    "small",
    "small.speed",
    "small.ratio.loudness",
    "small.ratio.edge",
    "small.ratio.low.more",
    "small.verdict.low",
    "small.conditions",
    "single.ratio.low",
    "later.ratio",
    "later.ratio.interval",
    "later.ratio.inverse",
    "later.ratio.percent",
    "counted.left.inverse",
    "counted.left.total",
    "counted.many.total",
    "small.ratio.total",
    "counted.some.percent",
    "counted.some.inverse-percent",
    "counted.unknown",
    "counted.unknown.interval",
    "constructor.name",
    "small.constructor",
    "small.ratio.constructor",
  ])
    assert.equal(look(text), null, text);
  assert.equal(claimSource(null)(["small", "ratio"]), null);
  assert.equal(claimSource({})(["small", "ratio"]), null);
});

test("a claim is shown by the condition that decided its verdict, else by its first", () => {
  const conditions = { first: { verdict: "held" }, second: { verdict: "refuted" } };
  assert.equal(decidingCondition({ verdict: "refuted", conditions }), conditions.second);
  assert.equal(decidingCondition({ verdict: "not testable here", conditions }), conditions.first);
  assert.equal(decidingCondition({ verdict: "not measured", conditions: {} }), null);
});

test("rows come in the requested order, and all without a request", () => {
  const ids = (rows) => rows.map(({ id }) => id);
  assert.deepEqual(ids(claimRows(claims, ["later", "small", "nobody"])), ["later", "small"]);
  assert.deepEqual(ids(claimRows(claims)), ["small", "single", "counted", "later"]);
  assert.deepEqual(claimRows(null), []);
});

test("a row names its source's title and its chart where the claims do", () => {
  const [small, later] = claimRows(claims, ["small", "later"]);
  assert.deepEqual([small.sourceTitle, small.chart, small.condition], ["a talk", "e/c", ratio]);
  assert.deepEqual([later.sourceTitle, later.chart], [null, null]);
});

test("a row says why a claim is exploratory, and nothing if it is registered or if older data do not say", () => {
  const { small, single, later } = claims.claims;
  const of = (claim) => claimRows({ claims: { claim } })[0].exploratory;
  assert.equal(of({ ...small, exploratory: true, exploratory_reason: "it was changed" }), "it was changed");
  assert.equal(of({ ...single, exploratory: false, exploratory_reason: null }), null);
  assert.equal(of(later), null);
});

test("a slide is marked if one of its claims is exploratory", () => {
  const document = { claims: { one: { exploratory: true }, other: { exploratory: false } } };
  assert.equal(anyExploratory(document, ["other", "one"]), true);
  assert.equal(anyExploratory(document, ["other", "manifest", "toString"]), false);
  assert.equal(anyExploratory(null, ["one"]), false);
});

test("checks of the set-up come after the claims, unless the author orders them", () => {
  const { small, single } = claims.claims;
  const document = {
    claims: { check: { ...small, kind: "setup_check" }, claim: { ...single, kind: "claim" } },
  };
  const ids = (rows) => rows.map(({ id }) => id);
  assert.deepEqual(ids(claimRows(document)), ["claim", "check"]);
  assert.deepEqual(ids(claimRows(document, ["check", "claim"])), ["check", "claim"]);
});

test("a claim leads to the first slide that draws its chart and mentions it, else to the first that draws it", () => {
  const canvas = (chart, id, claim = null) => ({
    dataset: { chartSrc: `benchmarks/reference/${chart}.csv` },
    closest: () => ({
      id,
      querySelector: (selector) => (claim !== null && selector.includes(`"${claim} "`) ? {} : null),
    }),
  });
  const root = {
    querySelectorAll: () => [
      canvas("other/aggregate/c", "one", "spoken"),
      canvas("e/aggregate/c", "two"),
      canvas("e/aggregate/c", "three", "spoken"),
      canvas("e/aggregate/ratio-c", "four", "as-ratio"),
    ],
  };
  assert.equal(slideOfChart(root, "e/c", "unspoken"), "two");
  assert.equal(slideOfChart(root, "e/c", "spoken"), "three");
  assert.equal(slideOfChart(root, "e/c", "as-ratio"), "four", "key R shows it");
  assert.equal(slideOfChart(root, "e/ratio-c", "unspoken"), "four");
  assert.equal(slideOfChart(root, "e/d", "spoken"), null);
  assert.equal(slideOfChart(root, null, "spoken"), null);
});

test("a table without rows says whether all claims are lacking, or these", () => {
  const { body } = new JSDOM('<div data-claims="nobody"></div>').window.document;
  for (const [document, words] of [
    [null, "This data set has no claims.json. Derive it again."],
    [claims, "This data set says nothing about these claims."],
  ]) {
    writeClaims(body, document);
    assert.equal(body.textContent, words);
  }
});

test("a chart asks for conditions of claims by name, or for claims, of which it shows the one that decided", () => {
  const wanted = wantedClaims({ chartClaims: "with cache = small.ratio | half of it = small.half | single" });
  assert.deepEqual(wanted, [
    { label: "with cache", id: "small", condition: "ratio" },
    { label: "half of it", id: "small", condition: "half" },
    { label: null, id: "single", condition: null },
  ]);
  assert.deepEqual(wantedClaims({ releaseClaims: "small single" })[1], {
    label: null,
    id: "single",
    condition: null,
  });
  assert.deepEqual(wantedClaims({}), []);
  const { series, xs } = claimsModel(claims, [...wanted, { label: "left", id: "nowhere", condition: null }]);
  assert.deepEqual(xs, ["Estimate"]);
  const found = series.map(({ name, points: [{ y, low, high, n }] }) => [name, y, low, high, n]);
  assert.deepEqual(found, [
    ["with cache", 15.64, 12, 20, 6],
    ["half of it", 0.48213, 0.45, 0.52, 6],
    ["Once.", 15.64, null, null, 1],
    ["left", null, null, null, null],
  ]);
  assert.deepEqual(series[0].points[0].region, { low: 7.5, high: 13.3 });
});

test("a chart may turn a ratio round, such as a time into a speed, with its interval and region", () => {
  const wanted = wantedClaims({ chartClaims: "speed = 1 / small.half | as it is = small.ratio" });
  assert.deepEqual(wanted[0], { label: "speed", id: "small", condition: "half", isInverse: true });
  const [speed, ratioItself] = claimsModel(claims, wanted).series.map(({ points: [point] }) => point);
  const { y, low, high, n } = speed;
  assert.deepEqual([y, low, high, n], [1 / 0.48213, 1 / 0.52, 1 / 0.45, 6]);
  assert.deepEqual(ratioItself.region, { low: 7.5, high: 13.3 });
  const open = { claims: { a: { conditions: { ratio: { ...ratio, region: { low: null, high: 0.8 } } } } } };
  const [turned] = claimsModel(open, wantedClaims({ chartClaims: "1/a.ratio" })).series;
  assert.deepEqual(turned.points[0].region, { low: 1.25, high: null });
});

test("a claim of several campaigns is drawn as these, their mean, and what another one may be expected to find", () => {
  const campaign = { estimate: 1.8, low: 1.6, high: 2, n: 6, verdict: "refuted", host: "a host" };
  const condition = {
    ...ratio,
    campaigns: [
      { ...campaign, name: "tentacle" },
      { ...campaign, name: "mine", host: "one", verdict: "held" },
      { ...campaign, name: "mine", host: "other" },
    ],
    mean: { estimate: 1.9, low: 1.7, high: 2.1 },
    prediction: { low: 1.2, high: 3 },
  };
  const document = {
    claims: {
      small: { sentence: "Small ones.", verdict: "held", conditions: { ratio: condition } },
      large: { sentence: "Large ones.", verdict: "held", conditions: { ratio } },
    },
  };
  const rows = ({ series }) =>
    series.map(({ name, points: [{ y, min, max, note = "" }] }) => [name, y, min, max, note]);
  const one = wantedClaims({ releaseClaims: "small" });
  assert.deepEqual(rows(claimsModel(document, one)), [
    ["tentacle", 1.8, undefined, undefined, "✗"],
    ["mine, one", 1.8, undefined, undefined, "✓"],
    ["mine, other", 1.8, undefined, undefined, "✗"],
    ["Mean", 1.9, 1.2, 3, ""],
  ]);
  const redacted = condition.campaigns.map((one) => ({ ...one, host: undefined }));
  const bundled = { verdict: "held", conditions: { ratio: { ...condition, campaigns: redacted } } };
  assert.deepEqual(
    rows(claimsModel({ claims: { small: bundled } }, one)).map(([name]) => name),
    ["tentacle", "mine, host 1", "mine, host 2", "Mean"],
  );
  // The data set is one of them, or somebody's own.
  const names = (of) => rows(claimsModel({ ...of, data_set: "local" }, one)).map(([name, y]) => [name, y]);
  assert.deepEqual(names(document).slice(-2), [
    ["local: unexpected", 15.64],
    ["Mean", 1.9],
  ]);
  for (const open of [
    { prediction: { low: 1.2, high: 13 } },
    { prediction: { low: 17, high: 30 } },
    { low: null, high: null },
  ]) {
    const near = { small: { verdict: "held", conditions: { ratio: { ...condition, ...open } } } };
    assert.deepEqual(names({ claims: near }).at(-2), ["local: not settled", 15.64]);
  }
  const expected = { ...condition, prediction: { low: 1.2, high: 16 } };
  const claim = { sentence: "Small ones.", verdict: "held", conditions: { ratio: expected } };
  assert.deepEqual(names({ claims: { small: claim } }).at(-2), ["local: as expected", 15.64]);
  for (const name of ["mine", "mine.bundle"])
    assert.equal(rows(claimsModel({ ...document, data_set: name }, one)).length, 4, name);
  const few = { ...claim, conditions: { ratio: { ...condition, prediction: null } } };
  assert.deepEqual(names({ claims: { small: few } }).at(-2), ["local: no prediction", 15.64]);
  const alone = rows(claimsModel(document, one, { byCampaign: false }));
  assert.deepEqual(alone, [["Small ones.", 15.64, 1.2, 3, "✓"]]);
  const both = rows(claimsModel(document, wantedClaims({ releaseClaims: "small large" })));
  assert.deepEqual(
    both.map(([name, y, min]) => [name, y, min]),
    [
      ["Small ones.", 15.64, 1.2],
      ["Large ones.", 15.64, undefined],
    ],
  );
});

test("campaigns of one claim look alike; their mean does not, nor a data set that is none of them", async () => {
  const optionsOf = async (dataset) => {
    const data = { manifestOf: () => ({}), resolve: (src) => src };
    const src = "benchmarks/local/claims.json";
    const { plugins } = await optionsOfDocument({ src, kind: "forest", canvas: { dataset }, data });
    return plugins.csv;
  };
  const { palette, styles } = await optionsOf({ chartClaims: "Peak = small.ratio" });
  const endings = [": no prediction", ": as expected", ": unexpected", ": not settled"];
  assert.deepEqual(Object.keys(styles), ["Mean", ...endings.map((ending) => `local${ending}`)]);
  const colors = [...palette, ...Object.values(styles)].map(({ color }) => color);
  assert.deepEqual([palette.length, new Set(colors).size], [1, 3]);
  const chartMore = "benchmarks/b/claims.json";
  for (const dataset of [{ chartClaims: "small.ratio | small.half" }, { chartClaims: "small", chartMore }]) {
    const options = await optionsOf(dataset);
    assert.deepEqual([options.palette, options.styles], [undefined, undefined]);
  }
});

test("what a condition needs is said in words", () => {
  assert.equal(regionText(ratio), "7.50× to 13.3×");
  assert.equal(regionText({ ...ratio, region: { low: 1.25, high: null } }), "above 1.25×");
  assert.equal(regionText({ ...ratio, region: { low: null, high: 1.1 } }), "below 1.10×");
  assert.equal(regionText(left), "exactly 0");
});

test("while a data set is measured, a claim says how many of its blocks are there", () => {
  const of = (blocks) => ({ parameters: { blocks } });
  assert.equal(soFar({ n: 2 }, of(6)), "2 of 6 blocks");
  assert.equal(soFar({ n: 6 }, of(6)), null, "whole");
  assert.equal(soFar({ n: 9 }, of(6)), null, "more than were intended");
  assert.equal(soFar({ n: 0 }, of(6)), null, "not begun, or not part of this measurement");
  assert.equal(soFar(null, of(6)), null);
  assert.equal(soFar({ n: 2 }, { parameters: {} }), null, "older data do not say");
  assert.equal(soFar({ n: 2 }, null), null);
});

test("a row takes the intended blocks from its own experiment", () => {
  const document = { claims: { small: { ...claims.claims.small, experiment: "mine" } } };
  const manifest = {
    experiments: { mine: { parameters: { blocks: 8 } }, other: { parameters: { blocks: 99 } } },
  };
  assert.equal(claimRows(document, [], manifest)[0].soFar, "6 of 8 blocks");
  assert.equal(claimRows(document, [], null)[0].soFar, null);
  assert.equal(claimRows(document, [], { experiments: {} })[0].soFar, null);
});

test("a row says if blocks of its own experiment come from several hosts", () => {
  const document = { claims: { small: { ...claims.claims.small, experiment: "mine" } } };
  const hosts = (machines) => {
    const experiments = {
      mine: { provenance: { machines } },
      other: { provenance: { machines: ["a", "b"] } },
    };
    return claimRows(document, [], { experiments })[0].hosts;
  };
  assert.equal(hosts(["a", "b"]), "2 hosts");
  assert.equal(hosts(["a"]), null);
  assert.equal(claimRows(document, [], null)[0].hosts, null);
});
