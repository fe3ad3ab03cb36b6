/** Where a site may be written: what is there is replaced, so it must be nothing, or a site. */

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";

import { PROJECT } from "./data-sets.js";

/**
 * @param {string} outDir   absolute
 * @param {string} shown    as the person named it
 * @returns {Promise<string|null>} why a site must not be written there, in a sentence; or null
 */
export async function whyNoSiteIn(outDir, shown) {
  const holdsProject = outDir === PROJECT || PROJECT.startsWith(outDir + path.sep);
  const foreign = existsSync(outDir) && !existsSync(path.join(outDir, "index.html"));
  if (holdsProject || (foreign && (await readdir(outDir)).length > 0))
    return `${shown} holds other files than a built site; name an empty folder with --out.`;
  return null;
}
