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
