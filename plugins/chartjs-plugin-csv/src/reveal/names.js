/** What writes and draws beside the data: fetched for the first chart that may have it, which squares and heat maps do not. */

export { EndLabels } from "../labels.js";
export { Marks } from "../marks.js";
