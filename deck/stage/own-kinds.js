/** Kinds of chart of a talk's own: `slides/<talk>/kinds/<id>.js`. Pure. */

/**
 * @template T
 * @param {Record<string, T>} modules   of all talks of the checkout, by path
 * @param {string} talk   its name
 * @returns {Record<string, T>} those of this talk, by id
 */
export function kindsOf(modules, talk) {
  const parts = Object.entries(modules).map(([path, load]) => [...path.split("/").slice(-3), load]);
  return Object.fromEntries(
    parts.filter(([name]) => name === talk).map(([, , file, load]) => [file.replace(/\.js$/, ""), load]),
  );
}
