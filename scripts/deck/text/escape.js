/**
 * Escapes a text for a slide, so that nothing in it is read as a tag, an entity or Markdown. It uses entities, which
 * mean the same in HTML and in Markdown; a backslash does not.
 */
export function escapeText(text) {
  return text.replace(
    /[&<>*`[\]|\\~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu,
    (sign) => ENTITIES[sign] ?? `&#${sign.charCodeAt(0)};`,
  );
}

/** A text as HTML, in an element or a quoted attribute. */
export function escapeHtml(text) {
  return text.replace(/[&<>"]/g, (sign) => HTML_ENTITIES[sign]);
}

/** The text of HTML that `escapeHtml` wrote. */
export function unescapeHtml(html) {
  return html.replace(/&(?:amp|lt|gt|quot);/g, (entity) =>
    Object.keys(HTML_ENTITIES).find((sign) => HTML_ENTITIES[sign] === entity),
  );
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const HTML_ENTITIES = { ...ENTITIES, '"': "&quot;" };

/**
 * Rewrites parts of a text.
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
