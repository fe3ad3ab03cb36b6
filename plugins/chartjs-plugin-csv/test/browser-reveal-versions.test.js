/** Every major version of reveal.js that the package supports. */
import assert from "node:assert/strict";
import { canvas, chartData, csv, goTo, openDeck, test } from "./support/deck.js";

const FIRST = "I/O size,4096,8192\nWithout journal,30000000,60000000\n";
const SECOND = "I/O size,4096,8192\nWith journal,6000000,\n";
const VERSIONS = { "reveal-4": "4.6", "reveal-5": "5.2", "reveal.js": "6.0" };

for (const [reveal, version] of Object.entries(VERSIONS))
  test(`reveal.js ${version} draws the charts of HTML and Markdown slides, and turns from one to the other`, async () => {
    csv("/d/first.csv", FIRST);
    csv("/d/second.csv", SECOND);
    const page = await openDeck({
      reveal,
      sections: [
        canvas("/d/first.csv"),
        `<section data-markdown><textarea data-template>## Two\n\n${canvas("/d/second.csv", "bar")}</textarea></section>`,
      ],
    });
    assert.ok((await page.evaluate(() => window.deck.VERSION)).startsWith(`${version}.`));
    const [first] = (await chartData(page, 0)).datasets;
    assert.deepEqual([first.label, first.data], ["Without journal", [30_000_000, 60_000_000]]);
    await goTo(page, 1);
    const { type, datasets } = await chartData(page, 1);
    assert.equal(type, "bar");
    assert.deepEqual([datasets[0].label, datasets[0].data], ["With journal", [6_000_000, null]]);
  });
