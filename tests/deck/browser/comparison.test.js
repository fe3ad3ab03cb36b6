/** The pages of `replay compare` and `replay report`, opened from disk: for everyone, in light and dark, on a phone. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { temporaryFolder } from "../../support/folders.mjs";
import { runReplay } from "../../support/programs.mjs";
import { axeInBothThemes, axeProblems, loadAxe } from "../support/axe.js";
import { launchPatiently } from "../support/browser.js";

const SIDES = ["tentacle:with-journal", "tentacle:without-journal"];
// Paired points of two experiments, some of them without an interval.
const EXPERIMENTS = ["rbd-journaling", "client-sweep"].flatMap((name) => ["--experiment", name]);
/** The command that writes each page. */
const PAGES = {
  comparison: ["compare", ...SIDES, ...EXPERIMENTS],
  report: ["report", "--data", "tentacle"],
};
let browser;
const folder = temporaryFolder({ after });

before(async () => {
  for (const [name, words] of Object.entries(PAGES))
    await runReplay([...words, "--out", path.join(folder, `${name}.html`)]);
  browser = await launchPatiently();
});
after(() => browser?.close());

/** Such a page, which asks for no other file. */
async function openPage(name, options) {
  const address = String(pathToFileURL(path.join(folder, `${name}.html`)));
  const page = await browser.open(address, { ready: "svg", ...options });
  assert.deepEqual(page.asked, [address]);
  return page;
}

/** Texts of charts that leave them or cover others. Runs in the page. */
const chartTextProblems = () =>
  [...document.querySelectorAll("svg")].flatMap((svg) => {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map((text) => [
      text.textContent,
      text.getBoundingClientRect(),
    ]);
    const problems = texts
      .filter(([, box]) => box.left < frame.left || box.right > frame.right || box.bottom > frame.bottom)
      .map(([text]) => `outside: ${text}`);
    for (const [index, [text, box]] of texts.entries())
      for (const [other, its] of texts.slice(index + 1)) {
        const apart =
          box.right <= its.left ||
          its.right <= box.left ||
          box.bottom <= its.top + 1 ||
          its.bottom <= box.top + 1;
        if (!apart) problems.push(`${text} on ${other}`);
      }
    return problems;
  });

for (const name of Object.keys(PAGES)) {
  test(`axe finds nothing on the ${name}, and no text of a chart leaves it or covers another text`, async () => {
    const page = await openPage(name);
    assert.ok((await page.locator("svg").count()) >= 4);
    await loadAxe(page);
    assert.deepEqual(await axeInBothThemes(page), []);
    assert.deepEqual(await page.evaluate(chartTextProblems), []);
  });

  test(`on a phone the same holds of the ${name}, wide parts scroll separately, and it does not scroll sideways`, async () => {
    const page = await openPage(name, { viewport: { width: 320, height: 800 } });
    assert.deepEqual(
      await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]),
      [320, 320],
    );
    await loadAxe(page);
    assert.deepEqual(await axeProblems(page), []);
    assert.deepEqual(await page.evaluate(chartTextProblems), []);
  });
}

test("a link saves the table of all ratios, and paper gets no dark page", async () => {
  const page = await openPage("comparison", { acceptDownloads: true, colorScheme: "dark" });
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.click('a[download="ratios.csv"]'),
  ]);
  const saved = path.join(folder, "ratios.csv");
  await download.saveAs(saved);
  assert.match(await readFile(saved, "utf8"), /^first,second,experiment,metric,/);
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await ground(), "rgb(20, 22, 28)");
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await ground(), "rgb(253, 252, 249)");
});
