/**
 * Pins the page: it names the data set as its own, and says that it shows no other. Pure.
 * @param {string} html
 * @param {string} name
 * @throws {Error} if the page does not name its data set in the way that the deck expects
 */
export function pinPage(html, name) {
  let found = 0;
  const pinned = html.replace(/<meta\b[^>]*\bname="replay:data-set"[^>]*>/g, (meta) => {
    found += 1;
    return `${meta.replace(/(\bcontent=)"[^"]*"/, `$1"${name}"`)}\n    <meta name="replay:frozen" content="${name}" />`;
  });
  if (found !== 1)
    throw new Error(`index.html has ${found} elements <meta name="replay:data-set" …> instead of one`);
  return pinned;
}
