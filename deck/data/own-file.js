/**
 * Charts of an author's own, `slides/<talk>/charts/NAME.csv`. The talk's slides call such a file `charts/NAME.csv`. No data set
 * holds it, so no `?data=` changes it, and its label says whose it is, with a digest. Pure.
 */

const WRITTEN = /^charts\/[A-Za-z0-9][\w.-]*\.csv$/;
const ADDRESS = /^slides\/[^/?#]+\/charts\/[^/?#]+\.csv$/;
/** Attributes that name files of a chart, several of them with bars between: what is before a value, and the value. */
export const CHART_FILES = /(\sdata-chart-(?:src|more|absolute)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/gi;

/** So many digits of a digest tell two versions of a file apart. */
const SHORT = 8;

/** Whether a slide names a file of its talk's own. */
export function isOwnName(written) {
  return WRITTEN.test(written);
}

/** Whether an address of the page, if there is one, is that of such a file. */
export function isOwnFile(src) {
  return ADDRESS.test(src);
}

/**
 * A chapter in which such files have their addresses.
 * @param {string} text   Markdown
 * @param {string} file   of the chapter, such as `slides/rpo/00-loss.md`
 */
export function withOwnFiles(text, file) {
  const folder = file.slice(0, file.lastIndexOf("/") + 1);
  return text.replace(
    CHART_FILES,
    (_, before, names) => before + names.replace(/(^["']?|\|\s*)charts\//g, `$1${folder}charts/`),
  );
}

/** @param {string} digest   SHA-256, as hexadecimal digits */
export function shortDigest(digest) {
  return digest.slice(0, SHORT);
}

/**
 * The label of such files: "own file iops.csv, SHA-256 3f9a1c02".
 * @param {string[]} sources
 * @param {(src: string) => string|null} digestOf   null where the server lists none
 */
export function ownOrigin(sources, digestOf) {
  return sources
    .map((src) => {
      const digest = digestOf(src);
      return `own file ${src.split("/").at(-1)}${digest === null ? "" : `, SHA-256 ${shortDigest(digest)}`}`;
    })
    .join("; ");
}
