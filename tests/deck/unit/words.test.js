/** Words that contradict the value or the chart that they stand beside are red, whoever has read them. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { bytesIn } from "../../../scripts/deck/check/numerals.js";
import { CHART, MANIFEST, claimsWith, makeTalk, slideWith } from "../support/talk.js";

const SIZES = ["size-4096", "size-16384", "size-65536", "size-1048576", "size-4194304"];
let talk;
beforeEach(async (t) => {
  talk = await makeTalk(t);
  await talk.save(
    "benchmarks/reference/answer.csv",
    "name,label,mode,loss_median_seconds,loss_worst_seconds,latency_p50_64k_seconds\na,A,none,1,2,3\n",
  );
  const estimate = { estimate: 2.084, low: 1.9, high: 2.2, n: 6 };
  const conditions = Object.fromEntries(SIZES.map((name) => [name, estimate]));
  await talk.saveData({ claims: claimsWith({ small: { conditions }, "writes-16k": {} }) });
});

const told = async (body) => (await talk.problemsOf(slideWith(body))).join("\n");
const MEDIAN = '<data value="answer.a.loss_median_seconds">1 s</data>';
const WORST = '<data value="answer.a.loss_worst_seconds">2 s</data>';
const chart = (src = CHART) => `<canvas data-chart="line" data-chart-src="${src}"></canvas>`;
/** A slide with one chart of this kind, under these words. */
async function toldOver(words, y) {
  const experiments = structuredClone(MANIFEST.experiments);
  experiments["rbd-journaling"].charts["iops-read-seq"].y = y;
  await talk.saveData({ manifest: { ...MANIFEST, experiments } });
  return told(`## What is it?\n\n${words}\n\n${chart()}`);
}

test("the worst is no median, and a median or typical value no worst case", async () => {
  assert.match(await told(`## At worst ${MEDIAN}`), /says "worst" of a median/);
  assert.match(await told(`## It is ${MEDIAN} at most`), /says "worst" of a median/);
  assert.doesNotMatch(await told(`## In the middle ${MEDIAN}`), /of a (?:median|worst)/);
  for (const [words, said] of [
    [`The median is ${WORST}`, "median"],
    [`A typical loss is ${WORST}`, "typical"],
    [`You typically lose ${WORST}`, "typically"],
    [`On average you lose ${WORST}`, "On average"],
  ])
    assert.ok((await told(`## ${words}`)).includes(`says "${said}" of a worst case`), words);
  assert.doesNotMatch(await told(`## At worst ${WORST}`), /of a worst case/);
  assert.doesNotMatch(await told(`## The median is ${MEDIAN}, the worst ${WORST}`), /of a (?:median|worst)/);
});

test("a size that a sentence gives to a value is the one in its name, whichever it is", async () => {
  const said = { 4096: "4K", 16384: "16 KiB", 65536: "64K", 1048576: "1M", 4194304: "4 MiB" };
  for (const name of SIZES) {
    const [, bytes] = name.split("-");
    for (const [size, text] of Object.entries(said)) {
      const problems = await told(`## It takes <data value="small.${name}">2.1×</data> at ${text}`);
      assert.equal(/says .* of small\.size/.test(problems), size !== bytes, `${name} at ${text}`);
    }
  }
  const named = (value, text) => told(`## It takes <data value="${value}">3 s</data> for ${text} writes`);
  assert.match(
    await named("answer.a.latency_p50_64k_seconds", "4K"),
    /says 4K of answer\.a\.latency_p50_64k/,
  );
  assert.doesNotMatch(await named("answer.a.latency_p50_64k_seconds", "64K"), /says 64K/);
  assert.match(await named("writes-16k.ratio", "1M"), /says 1M of writes-16k\.ratio/);
  assert.doesNotMatch(await named("small.size-4096.n", "the same"), / of small/);
});

test("sizes are read as people write them", () => {
  assert.deepEqual(bytesIn("4K, 16 KiB and 1M; 64K IOPS are none"), [4096, 16384, 1048576]);
});

test("the order of I/O is that of all charts", async () => {
  const random = CHART.replace("-seq", "-rand");
  await talk.save(random, "I/O size,4096\nA,1\n");
  assert.match(await told(`## Random reads\n\n${chart()}`), /says "random", and each chart is of sequential/);
  assert.match(
    await told(`## Sequential reads\n\n${chart(random)}`),
    /says "sequential", and each chart is of random/,
  );
  for (const words of ["Sequential reads", "Reads, random or sequential"])
    assert.doesNotMatch(await told(`## ${words}\n\n${chart()}`), /each chart is of/);
  assert.doesNotMatch(await told(`## Random reads\n\n${chart()}\n\n${chart(random)}`), /each chart is of/);
});

test("which way is better is what the manifest says of the chart's metric", async () => {
  const better = (way) => ({ unit: "seconds", better: way });
  const lie = /says "(higher|lower) is better", and of these charts (higher|lower) is/;
  assert.match(await toldOver("Latency; higher is better", better("lower")), lie);
  assert.match(await toldOver("Throughput; lower is better", better("higher")), lie);
  assert.doesNotMatch(await toldOver("Latency; lower is better", better("lower")), lie);
  assert.doesNotMatch(await toldOver("Throughput; Higher is better", better("higher")), lie);
  assert.doesNotMatch(await toldOver("A ratio; higher is better", better(null)), lie);
});

test("a line that begins with a unit has that of a chart", async () => {
  const drawn = /and the charts draw/;
  const of = (unit) => ({ unit, better: null });
  assert.match(
    await toldOver("Minutes of confirmed writes", of("seconds")),
    /says "minutes", and .* draw seconds/,
  );
  assert.match(await toldOver("Milliseconds of each write", of("seconds")), drawn);
  assert.match(await toldOver("Seconds of each write", of("operations_per_second")), drawn);
  assert.match(await toldOver("Bytes per second by I/O size", of("operations_per_second")), drawn);
  assert.match(await toldOver("Operations a second by I/O size", of("bytes_per_second")), drawn);
  for (const [words, unit] of [
    ["Seconds of each write", "seconds"],
    ["Bytes per second by I/O size", "bytes_per_second"],
    ["Operations per second by I/O size", "operations_per_second"],
    ["How many minutes?", "seconds"],
  ])
    assert.doesNotMatch(await toldOver(words, of(unit)), drawn, words);
  assert.doesNotMatch(
    await toldOver("Minutes of confirmed writes", undefined),
    drawn,
    "nobody recorded a unit",
  );
});
