/** Altered data are marked in words above the charts that show them, also in an open deck. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";

import { startDeck } from "../support/deck.js";

const FILE = "rbd-journaling/aggregate/ratio-throughput-write-seq.csv";
const MARK = "#journal-ratio > p.altered-data";
let deck;

before(async () => {
  deck = await startDeck();
  await writeDigests(path.join(deck.benchmarks, "fixture"));
});
after(() => deck?.close());

/** Writes the digests of the files in a data set's folder, as derive does. */
async function writeDigests(folder) {
  const files = (await readdir(folder, { recursive: true })).filter((file) => /\.(?:csv|json)$/.test(file));
  const resources = await Promise.all(
    files.map(async (file) => {
      const content = await readFile(path.join(folder, file));
      return { path: file, hash: `sha256:${createHash("sha256").update(content).digest("hex")}` };
    }),
  );
  await writeFile(path.join(folder, "datapackage.json"), JSON.stringify({ resources }));
}

test("a file that is altered while the deck is open is marked above its chart and in its label, until it is restored", async () => {
  const page = await deck.openDeck("?data=fixture", { hash: "#/journal-ratio" });
  await page.waitForSelector("#journal-ratio .chart-box");
  assert.equal(await page.locator(MARK).count(), 0);
  const original = await readFile(path.join(deck.benchmarks, "fixture", FILE), "utf8");
  await deck.replaceFile(`fixture/${FILE}`, original.replace(/,\d/, ",9"));
  await page.waitForSelector(MARK);
  assert.equal(await page.locator(MARK).textContent(), `ALTERED DATA: ${FILE} is not what derive wrote.`);
  assert.match(await page.locator("#journal-ratio > .provenance").textContent(), /^ALTERED DATA · fixture/);
  const [mark, chart] = await Promise.all(
    [MARK, "#journal-ratio .chart-box"].map((place) => page.locator(place).first().boundingBox()),
  );
  assert.ok(mark.y + mark.height <= chart.y + 1, "the mark stands above the chart");
  await deck.replaceFile(`fixture/${FILE}`, original);
  await page.waitForSelector(MARK, { state: "detached" });
  assert.doesNotMatch(await page.locator("#journal-ratio > .provenance").textContent(), /ALTERED/);
});

test("edited claims are marked below the titles of slides that take their words from them", async () => {
  const file = path.join(deck.benchmarks, "fixture/claims.json");
  const original = await readFile(file, "utf8");
  await writeFile(file, `${original}\n`);
  const page = await deck.openDeck("?data=fixture", { hash: "#/journal-ratio" });
  await page.waitForSelector(MARK);
  assert.match(
    await page.locator(MARK).textContent(),
    /^ALTERED DATA: claims\.json is not what derive wrote\.$/,
  );
  await writeFile(file, original);
  await page.waitForSelector(MARK, { state: "detached" });
});
