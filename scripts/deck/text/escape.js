/**
 * Text as it is written into a slide: nothing in it is a tag, an entity or a mark of Markdown. Entities are read alike in
 * HTML and in Markdown; a backslash is not.
 */
export function escapeText(text) {
  return text.replace(
    /[&<>*`[\]|\\~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu,
    (sign) => ENTITIES[sign] ?? `&#${sign.charCodeAt(0)};`,
  );
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
