/** Rewriting parts of a text. Pure. */

/**
 * @param {string} text
 * @param {{from: number, to: number, text: string}[]} edits   in any order; one that lies within a larger one is left out
 */
export function applyEdits(text, edits) {
  const size = ({ from, to }) => to - from;
  const within = (edit, other) => other.from <= edit.from && edit.to <= other.to && size(other) > size(edit);
  return edits
    .filter((edit) => !edits.some((other) => within(edit, other)))
    .sort((a, b) => b.from - a.from)
    .reduce((result, edit) => result.slice(0, edit.from) + edit.text + result.slice(edit.to), text);
}
