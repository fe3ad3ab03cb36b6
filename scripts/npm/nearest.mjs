// What a person may have meant by a word that is not known. Our own, because it is asked before anything is installed.

/** As alike as Python's difflib wants it by default, so that both halves of Replay guess alike. */
const ALIKE = 0.6;

/**
 * @param {string} word
 * @param {Iterable<string>} known
 * @param {number} [alike]   0 to 1: the least likeness that counts
 * @returns {string|null} the known word that is most like `word`
 */
export function nearest(word, known, alike = ALIKE) {
  let best = null;
  let most = alike;
  for (const one of known) {
    const likeness = likenessOf(word.toLowerCase(), one.toLowerCase());
    if (likeness > most || (likeness === most && best === null)) [best, most] = [one, likeness];
  }
  return best;
}

/** Share of the letters of both words that come in the same order in both. */
function likenessOf(a, b) {
  if (a === "" && b === "") return 1;
  let row = new Array(b.length + 1).fill(0);
  for (const letter of a) {
    const next = [0];
    for (let at = 0; at < b.length; at += 1)
      next.push(letter === b[at] ? row[at] + 1 : Math.max(row[at + 1], next[at]));
    row = next;
  }
  return (2 * row.at(-1)) / (a.length + b.length);
}
