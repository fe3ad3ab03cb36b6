/** One value of a manifest or of claims.json, by its path. Pure. */

/**
 * Follows a path into plain data, through own properties only.
 * @param {unknown} data
 * @param {string[]} path   array positions are written as numbers
 */
export function follow(data, path) {
  let here = data;
  for (const word of path) {
    if (here === null || typeof here !== "object" || !Object.hasOwn(here, word)) return undefined;
    here = here[word];
  }
  return here;
}
