/** Every slide with its charts and steps, on both screens and in both themes: nothing leaves it, covers it or is too small. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { SCREENS, eachSlide, lookAtEachSlide, startDeck } from "../support/deck.js";
import { chartTextProblems, layoutProblems } from "../support/layout.js";

let deck;
let takeAway;

before(async () => {
  deck = await startDeck();
  takeAway = await deck.lendShipped();
});
after(async () => {
  await takeAway?.();
  await deck?.close();
});

/** The shipped data are shown most, on either screen; the fixture has other figures, and errors in place of charts. */
const SHOWN = [
  { dataSet: "shipped", screen: SCREENS[0], themes: ["light", "dark"] },
  { dataSet: "shipped", screen: SCREENS[1], themes: ["light", "dark"] },
  { dataSet: "fixture", screen: SCREENS[0], themes: ["light"] },
];

for (const { dataSet, screen, themes } of SHOWN) {
  const size = `${screen.width}×${screen.height}`;
  test(`at ${size}, ${themes.join(" and ")}, nothing leaves its slide or is below 20 px of a 720 px stage: ${dataSet}`, async () => {
    const page = await deck.openDeck(`?data=${dataSet}`, { viewport: screen, colorScheme: themes[0] });
    const problems = new Set();
    const visited = await eachSlide(page, async (id) => {
      for (const problem of await page.evaluate(layoutProblems, id)) problems.add(problem);
      for (const problem of await page.evaluate(chartTextProblems, id)) problems.add(problem);
    });
    for (const theme of themes.slice(1)) {
      // As the address would ask for it; charts need not be drawn again for the texts around them to be measured.
      await page.evaluate((name) => (document.documentElement.dataset.theme = name), theme);
      for (const problem of (await lookAtEachSlide(page, [layoutProblems])).found) problems.add(problem);
    }
    assert.ok(visited.length > 40, `only ${visited.length} slides were looked at`);
    assert.deepEqual([...problems], []);
    await page.close();
  });
}
