import { registry } from "chart.js";
import { isMoment } from "./forms.js";

/** Dates along x: few charts have some, so the code that reads and draws them is fetched when the first one comes. */

/** The type of their scale. */
export const DATE = "date";

/** @type {typeof import("./date-scale.js")|null} */
let code = null;

/**
 * Fetches that code if a model needs it.
 * @param {import("./table.js").Model} model
 * @returns {Promise<boolean>} whether it was not there before
 */
export async function fetchDates({ xs }) {
  if (code || typeof xs[0] !== "string" || !isMoment(xs[0])) return false;
  code = await import("./date-scale.js");
  registry.addScales(code.DateScale);
  return true;
}

/** How the x values of a model are read as dates on one axis (see moments.js); null if they are none, or the code is not there. */
export function momentsIn(model) {
  return code?.momentsIn(model) ?? null;
}
