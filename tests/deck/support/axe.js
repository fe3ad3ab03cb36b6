/** Axe in a page whose policy forbids foreign scripts: it is evaluated rather than added as an element. */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const SOURCE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Rules whose answer depends on colours; the others are the same in light and in dark. */
export const COLOR_RULES = ["color-contrast", "link-in-text-block"];

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
 * @param {{include?: string[], rules?: string[], slideOnly?: string}} [options]   include: selectors of the parts to
 *   check, else the whole document; rules: the only rules to run, else all; slideOnly: the id of the only slide that is
 *   in the document meanwhile, because axe reads the whole of it each time
 * @returns {Promise<string[]>}
 */
export async function axeProblems(page, options = {}) {
  return (await runAxe(page, options)).problems;
}

/**
 * As `axeProblems`, and by rule how many elements passed it.
 * @returns {Promise<{problems: string[], passed: Record<string, number>}>}
 */
export function axeProblemsAndPasses(page, options = {}) {
  return runAxe(page, options, ["violations", "passes"]);
}

function runAxe(page, { include = null, rules = null, slideOnly = null }, resultTypes = ["violations"]) {
  return page.evaluate(
    async ({ selectors, only, slide, types }) => {
      const kept = slide === null ? null : document.getElementById(slide);
      const others = kept
        ? [...document.querySelectorAll(".slides > section, .slides > section > section")].filter(
            (one) => !one.contains(kept),
          )
        : [];
      const places = others.map((other) => [other, document.createComment("")]);
      for (const [other, place] of places) other.replaceWith(place);
      const context = selectors ? { include: selectors.map((selector) => [selector]) } : document;
      const { violations, passes } = await window.axe.run(context, {
        resultTypes: types,
        // Each frame is checked by itself, and no style sheet is fetched a second time.
        iframes: false,
        preload: false,
        ...(only && { runOnly: { type: "rule", values: only } }),
      });
      for (const [other, place] of places) place.replaceWith(other);
      const problems = violations.flatMap(({ id: rule, nodes }) =>
        nodes.map(({ html, failureSummary }) => {
          const why = failureSummary?.split("\n").at(1)?.trim() ?? "";
          return `${rule}: ${html.slice(0, 140)} ${why.slice(0, 160)}`;
        }),
      );
      return { problems, passed: Object.fromEntries(passes.map(({ id, nodes }) => [id, nodes.length])) };
    },
    { selectors: include, only: rules, slide: slideOnly, types: resultTypes },
  );
}

/**
 * What axe finds in a page that follows the system's colours: in light by all rules, then in dark by those on colours.
 * @param {import("playwright-core").Page} page   opened in light, with reduced motion
 * @param {{include?: string[], slideOnly?: string}} [options]   as for `axeProblems`
 * @returns {Promise<string[]>}
 */
export async function axeInBothThemes(page, options = {}) {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const lightGround = await ground();
  const problems = (await axeProblems(page, options)).map((text) => `light: ${text}`);
  await page.emulateMedia({ colorScheme: "dark" });
  if ((await ground()) === lightGround) throw new Error(`the page is ${lightGround} in dark, too`);
  const dark = await axeProblems(page, { ...options, rules: COLOR_RULES });
  await page.emulateMedia({ colorScheme: "light" });
  return [...problems, ...dark.map((text) => `dark: ${text}`)];
}
