/** Axe in a page whose policy forbids foreign scripts: it is evaluated rather than added as an element. */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const SOURCE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Prepares a page, or one of its frames, for `axeProblems`. */
export async function loadAxe(page) {
  await page.evaluate(await readFile(SOURCE, "utf8"));
  await page.evaluate(() => {
    // Pseudo-elements of this talk are bars beside a text, never its background, so axe can judge the contrast.
    // Options are replaced as a whole; the others are axe's own.
    const options = {
      ignorePseudo: true,
      ...{ ignoreUnicode: true, ignoreLength: false },
      ...{ boldValue: 700, boldTextPt: 14, largeTextPt: 18 },
      contrastRatio: { normal: { expected: 4.5 }, large: { expected: 3 } },
      ...{ pseudoSizeThreshold: 0.25, shadowOutlineEmMax: 0.2, textStrokeEmMin: 0.03 },
    };
    window.axe.configure({ checks: [{ id: "color-contrast", options }] });
  });
}

/**
 * Every violation, whatever its impact, as `rule: element`.
 * @param {import("playwright-core").Page|import("playwright-core").Frame} page
 * @param {{include?: string[], rules?: string[]}} [options]   selectors of the parts to check, else the whole document;
 *   the only rules to run, else all
 * @returns {Promise<string[]>}
 */
export function axeProblems(page, { include = null, rules = null } = {}) {
  return page.evaluate(
    async ({ selectors, only }) => {
      const context = selectors ? { include: selectors.map((selector) => [selector]) } : document;
      const { violations } = await window.axe.run(context, {
        resultTypes: ["violations"],
        // Each frame is checked by itself, and no style sheet is fetched a second time.
        iframes: false,
        preload: false,
        ...(only && { runOnly: { type: "rule", values: only } }),
      });
      return violations.flatMap(({ id: rule, nodes }) =>
        nodes.map(({ html, failureSummary }) => {
          const why = failureSummary?.split("\n").at(1)?.trim() ?? "";
          return `${rule}: ${html.slice(0, 140)} ${why.slice(0, 160)}`;
        }),
      );
    },
    { selectors: include, only: rules },
  );
}
