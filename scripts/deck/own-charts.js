/** Files of an author's own charts, `slides/<talk>/charts/NAME.csv`, with their digests. */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";

import { isOwnName } from "../../deck/data/own-file.js";
import { entriesOf } from "./data-sets.js";

/**
 * The files of a talk.
 * @param {string} folder   of the talk
 * @returns {Promise<Map<string, {text: string, digest: string}>>} by what its slides call them, `charts/NAME.csv`, sorted;
 *   digest: SHA-256
 */
export async function ownCharts(folder) {
  const names = (await entriesOf(path.join(folder, "charts"))).map(({ name }) => `charts/${name}`);
  const files = names.filter(isOwnName).sort();
  return new Map(
    await Promise.all(
      files.map(async (name) => {
        const bytes = await readFile(path.join(folder, name));
        const digest = createHash("sha256").update(bytes).digest("hex");
        return [name, { text: bytes.toString("utf8"), digest }];
      }),
    ),
  );
}

/**
 * What the page gets to know of them.
 * @param {string} slides   the folder of talks
 * @param {string[]|null} [talks]   names; null for all
 * @returns {Promise<Record<string, string>>} digests by address, `slides/<talk>/charts/NAME.csv`
 */
export async function ownDigests(slides, talks = null) {
  const folders = (await entriesOf(slides)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const named = await Promise.all(
    (talks ?? folders.sort()).map(async (talk) => {
      const files = await ownCharts(path.join(slides, talk));
      return [...files].map(([name, { digest }]) => [`slides/${talk}/${name}`, digest]);
    }),
  );
  return Object.fromEntries(named.flat());
}
