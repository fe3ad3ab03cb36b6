/** The spoken name of each chart, for the plugin's option `summaryFor`. */

import { chartedAs } from "./charted.js";
import { sentenceOf } from "./sentence.js";

/**
 * @param {{data: object, compare?: string|null}} given   compare: the data set that is drawn beside the one on show
 * @returns {(slot: object) => string|null} null if the chart has no data yet
 */
export function chartSummary({ data, compare = null }) {
  return (slot) => {
    if (!slot.model) return null;
    const compared = slot.state?.overlay ? compare : null;
    return sentenceOf({ ...chartedAs(slot, data), compared });
  };
}
