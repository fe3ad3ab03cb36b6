/** Style sheets add no words to a slide: a numeral in `content` would be a figure that comes from nowhere. */

import { readFile } from "node:fs/promises";
import path from "node:path";

import { entriesOf } from "../data-sets.js";
import { lineAt } from "./chapters.js";
import { isNumeric } from "./numerals.js";

const CONTENT = /(?<![\w-])content\s*:\s*([^;}]*)/g;
const TEXT = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/g;

/** @returns {Promise<{file: string, text: string}[]>} the style sheets of the deck; none where there is no folder css */
export async function readStyles(root) {
  const names = (await entriesOf(path.join(root, "css"))).map(({ name }) => name);
  const files = names.filter((name) => name.endsWith(".css")).map((name) => `css/${name}`);
  return Promise.all(
    files.map(async (file) => ({ file, text: await readFile(path.join(root, file), "utf8") })),
  );
}

/** No text that a style sheet adds holds a numeral. */
export function styledTexts({ styles }) {
  return styles.flatMap(({ file, text }) =>
    [...text.matchAll(CONTENT)].flatMap(({ 1: value, index }) =>
      [...value.matchAll(TEXT)]
        .map(([, double, single]) => double ?? single)
        .filter((added) => isNumeric(added.replace(/\\[0-9a-f]{1,6}\s?/gi, "")))
        .map((added) => ({
          file,
          line: lineAt(text, index),
          message: `content adds "${added}" to a slide, a numeral that comes from no data; write it on the slide`,
        })),
    ),
  );
}
