import assert from "node:assert/strict";
import { test } from "node:test";

import { byDataSet } from "../../../deck/text/labels.js";
import { chartEntry, provenance, sampleSize } from "../../../deck/data/provenance.js";

const address = (chart, dataSet = "reference") =>
  `benchmarks/${dataSet}/rbd-journaling/aggregate/${chart}.csv`;
const manifest = {
  label: "one small CPU-bound machine",
  experiments: {
    "rbd-journaling": {
      charts: {
        "iops-read-seq": { n: { min: 10, max: 10 }, limiter: "cpu", measured_to: "2026-01-03T00:00:00Z" },
        "iops-write-seq": { n: { min: 6, max: 10 }, limiter: "disk", measured_to: "2026-01-05T00:00:00Z" },
      },
    },
  },
};

test("a label says data set, what it was measured on, n, date and limit", () => {
  assert.equal(
    provenance([address("iops-read-seq")], manifest),
    "reference: one small CPU-bound machine · n = 10 · 3 Jan 2026 · limited by the CPU",
  );
});

test("a label names the versions of Ceph and of its client", () => {
  const measuredWith = (provenance) => ({
    ...manifest,
    experiments: { "rbd-journaling": { ...manifest.experiments["rbd-journaling"], provenance } },
  });
  const label = (found) => provenance([address("iops-read-seq")], measuredWith(found)).split(" · ")[1];
  assert.equal(
    label({ ceph_versions: ["16.2.15"], librbd_versions: ["16.2.15"] }),
    "Ceph and client 16.2.15",
  );
  assert.equal(
    label({ ceph_versions: ["20.2.4"], librbd_versions: ["16.2.15"] }),
    "Ceph 20.2.4, client 16.2.15",
  );
  assert.equal(label({ ceph_versions: ["18.2.4", "18.2.7"], librbd_versions: [] }), "Ceph 18.2.4 and 18.2.7");
  assert.equal(label({ ceph_versions: [] }), "n = 10");
});

test("a label says if blocks come from several hosts, known by their names or by their CPUs", () => {
  const label = (...provenances) => {
    const charts = manifest.experiments["rbd-journaling"].charts;
    const experiments = Object.fromEntries(
      provenances.map((provenance, at) => [at ? `other-${at}` : "rbd-journaling", { charts, provenance }]),
    );
    const sources = Object.keys(experiments).map(
      (name) => `benchmarks/reference/${name}/aggregate/iops-read-seq.csv`,
    );
    return provenance(sources, { ...manifest, experiments });
  };
  assert.match(label({ machines: ["a", "b"], processors: ["x", "y"] }), / · 2 hosts · n = 10 · /);
  assert.match(label({ machines: ["a"], processors: ["x", "y"] }), / · 2 hosts · /);
  assert.match(label({ machines: ["a"] }, { machines: ["b"] }), / · 2 hosts · /);
  assert.doesNotMatch(
    label({ machines: ["a"], processors: ["x"] }, { machines: ["a"], processors: ["x"] }),
    /host/,
  );
  assert.doesNotMatch(label({}), /host/);
});

test("charts of one slide share a label: the range of n, the latest date, limits that differ", () => {
  assert.equal(
    provenance([address("iops-read-seq"), address("iops-write-seq")], manifest),
    "reference: one small CPU-bound machine · n = 6–10 · 5 Jan 2026 · limits differ by point",
  );
});

test("a label says how many pairs are left out of ratios because they have none", () => {
  const charts = { ...manifest.experiments["rbd-journaling"].charts };
  charts["ratio-iops-read-seq"] = { ...charts["iops-read-seq"], zero_pairs: 2 };
  charts["ratio-iops-write-seq"] = { ...charts["iops-read-seq"], zero_pairs: 1 };
  const label = (...sources) =>
    provenance(sources, { ...manifest, experiments: { "rbd-journaling": { charts } } });
  const [reads, writes] = ["ratio-iops-read-seq", "ratio-iops-write-seq"].map((name) => address(name));
  assert.match(label(writes), / · n = 10 · without 1 pair that has no ratio · 3 Jan 2026 · /);
  assert.match(label(reads, writes, address("iops-read-seq")), / · without 3 pairs that have no ratio · /);
  assert.doesNotMatch(label(address("iops-read-seq")), /pair/);
});

test("what a data set says as a whole names it, its versions and the date of its last measurement", () => {
  const provenances = [{ ceph_versions: ["20.2.4"], librbd_versions: ["20.2.4"] }, { ceph_versions: [] }];
  const experiments = Object.fromEntries(provenances.map((found, at) => [`e${at}`, { provenance: found }]));
  const whole = { label: "Sandbox", measured_to: "2026-11-27", experiments };
  for (const document of ["answer.csv", "claims.json"]) {
    const source = `benchmarks/mine/${document}`;
    assert.equal(provenance([source], whole), "mine: Sandbox · Ceph and client 20.2.4 · 27 Nov 2026");
    assert.equal(provenance([source], null), "mine");
  }
});

test("without a manifest the label says so", () => {
  assert.equal(provenance([address("iops-read-seq")], null), "reference · no manifest");
});

test("a chart that the manifest does not list is named as such", () => {
  assert.match(provenance([address("iops-read-rand")], manifest), /this chart is not in the manifest/);
  assert.match(provenance([address("iops-read-rand")], {}), /this chart is not in the manifest/);
});

test("altered data are called altered before anything else", () => {
  for (const altered of [true, { copied_from: "reference", files: 1 }])
    assert.match(
      provenance([address("iops-read-seq")], { ...manifest, altered }),
      /^ALTERED DATA · reference: /,
    );
});

test("the short address finds its chart in whichever experiment has it", () => {
  assert.equal(chartEntry("benchmarks/a/csv/aggregate/iops-read-seq.csv", manifest).limiter, "cpu");
  assert.equal(chartEntry("nowhere.csv", manifest), null);
});

test("n is written once if it is the same at all points", () => {
  assert.equal(sampleSize([{ n: { min: 3, max: 3 } }]), "n = 3");
  assert.equal(sampleSize([{ n: { min: 2, max: 3 } }, { n: null }]), "n = 2–3");
  assert.equal(sampleSize([{ n: 7 }]), "n = 7");
  assert.equal(sampleSize([]), null);
  assert.equal(sampleSize([{ n: {} }]), null);
});

test("charts of two data sets are labelled apart", () => {
  assert.deepEqual(byDataSet([address("a"), address("b", "local"), address("c")]), [
    [address("a"), address("c")],
    [address("b", "local")],
  ]);
});
