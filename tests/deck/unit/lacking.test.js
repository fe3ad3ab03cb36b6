/** Whether a chart of the answer or of claims has anything to draw. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { holdsAnything, holdsClaim } from "../../../deck/text/lacking.js";

const ANSWER = "benchmarks/mine/answer.csv";
const NONE = { name: "none", label: "No mirroring", mode: "none", latency_p50_4k_seconds: "0.002" };
const JOURNAL = {
  name: "journal-poll-5",
  label: "Journal mirrored",
  mode: "journal-mirrored",
  recovery_point_worst_seconds: "4.8",
  latency_p50_4k_seconds: "0.009",
};
const UNPAID = { ...JOURNAL, latency_p50_4k_seconds: "" };
const SNAPSHOT = { name: "snapshot-60", label: "Snapshots every 60 s", mode: "snapshot-mirrored" };
const holds = (dataset, ...modes) => holdsAnything(ANSWER, dataset, { answer: { modes }, claims: null });

test("crossed-out seconds need a loss of the way that a slide names", () => {
  const chart = "squares";
  assert.equal(holds({ chart, chartSeries: "Journal mirrored" }, NONE, JOURNAL, SNAPSHOT), true);
  assert.equal(holds({ chart, chartSeries: "Snapshots every 60 s" }, NONE, JOURNAL, SNAPSHOT), false);
  assert.equal(
    holds({ chart, chartSeries: "Journal mirrored", chartLoss: "beyond" }, NONE, JOURNAL),
    false,
    "not what it lost beyond the replay's rate",
  );
});

test("the chart of loss and price needs both of one way, and no mirroring is none", () => {
  const chart = "quadrant";
  assert.equal(holds({ chart }, NONE, JOURNAL), true);
  assert.equal(holds({ chart }, NONE, UNPAID), false);
  assert.equal(
    holds({ chart, chartSeries: "No mirroring | Snapshots every 60 s" }, NONE, JOURNAL, SNAPSHOT),
    false,
  );
});

test("a chart of prices needs one", () => {
  assert.equal(holds({ chart: "forest" }, NONE, JOURNAL), true);
  assert.equal(holds({ chart: "forest" }, UNPAID, SNAPSHOT), false);
});

test("a chart of claims needs one that was measured, whatever its verdict", () => {
  const claims = { claims: { a: { verdict: "not measured" }, b: { verdict: "not testable here" } } };
  const of = (chartClaims) =>
    holdsAnything("benchmarks/mine/claims.json", { chartClaims }, { answer: null, claims });
  assert.equal(of("first = a.ratio | second = 1 / b.ratio"), true);
  assert.equal(of("first = a.ratio | second = missing"), false);
  assert.equal(holdsClaim([{ id: "b" }], claims), true);
  assert.equal(holdsClaim([{ id: "a" }], {}), false);
});

test("a chart of some series needs one of them", () => {
  const charts = { "iops-write": { series: ["Stretch cluster"] } };
  const manifest = { experiments: { price: { charts } } };
  const of = (chartSeries, chart = "iops-write") =>
    holdsAnything(`benchmarks/mine/price/aggregate/${chart}.csv`, { chartSeries }, { manifest });
  assert.equal(of("Journal mirrored | Stretch cluster"), true);
  assert.equal(of("Journal mirrored"), false);
  assert.equal(of(undefined), true);
  assert.equal(of("Journal mirrored", "iops-read"), true, "the manifest does not know it");
});

test("what only a chart can read is left to it", () => {
  const none = { answer: null, claims: null, manifest: null };
  assert.equal(holdsAnything("benchmarks/mine/layers/aggregate/iops.csv", {}, none), true);
  assert.equal(holdsAnything(ANSWER, {}, none), true);
  assert.equal(holdsAnything("slides/rpo/charts/own.csv", {}, none), true);
});
