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

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
