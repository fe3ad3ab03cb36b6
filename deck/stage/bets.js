/**
 * Bets by key: what the room guesses, set down without a mouse, on stage or in the speaker view. All windows of the talk show
 * the same bets, those that were placed with the mouse, too.
 */

import { bets, showBets, stepBet } from "chartjs-plugin-csv/kinds/bets";

/** Letters that reveal leaves free on stage. */
const KEYS = [
  { code: 65, key: "A", description: "Bets: take the next one", step: "name" },
  { code: 88, key: "X", description: "Bets: move it right; from the end, to the beginning", step: "x" },
  { code: 85, key: "U", description: "Bets: move it up; from the top, to the bottom", step: "y" },
];

/**
 * @param {{deck: object, charts: object, echo: ReturnType<typeof import("./echo.js").Echo>}} given
 * @returns {{keys: object[]}}
 */
export function Bets({ deck, charts, echo }) {
  function press(step) {
    for (const canvas of deck.getCurrentSlide().querySelectorAll("canvas[data-chart-bet]")) {
      const slot = charts.charts.get(canvas);
      if (slot?.drawn) stepBet(slot.chart, step);
    }
  }

  deck.getRevealElement().addEventListener("chart-csv:bets", () => echo.tell({ bets }));
  echo.listen(({ bets: changed, kept }) => {
    if (changed) showBets(changed);
    // A window that has just opened asks the others.
    else if (kept === null) echo.tell({ kept: bets });
    else if (kept && bets.size === 0) showBets(kept);
  });
  echo.tell({ kept: null });
  return { keys: KEYS.map(({ step, ...key }) => ({ ...key, run: () => press(step) })) };
}
