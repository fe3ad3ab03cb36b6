// Guesses which known word a person meant. Without a library, because it runs before anything is installed.

/** The default of Python's difflib, so that both halves of Replay make the same guesses. */
const ALIKE = 0.6;

/**
 * @param {string} word
 * @param {Iterable<string>} known
 * @param {number} [alike]   the smallest likeness that counts, from 0 to 1
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

/** The share of the letters that both words have in the same order. */
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
