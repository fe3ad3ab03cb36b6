import assert from "node:assert/strict";
import { test } from "node:test";

import { BoundNumbers } from "../../../deck/text/bound-numbers.js";

const manifest = {
  setup: { osds: 3 },
  experiments: {
    "rbd-journaling": {
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
const numbers = new BoundNumbers({ manifest, claims });
const ignorant = new BoundNumbers({ manifest: null, claims: null });

for (const [value, text] of [
  ["manifest.setup.osds", "3"],
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
