/** The project's stated addresses, and those of a deck that is being presented. */

import { readFileSync } from "node:fs";
import path from "node:path";

import { PROJECT } from "./data-sets.js";

/**
 * Where the published site is: REPLAY_HOMEPAGE, else package.json's `homepage`. Empty if neither is set.
 * @param {Record<string, string|undefined>} [environment]
 * @param {object} [manifest]   package.json
 */
export function siteAddress(environment = process.env, manifest = packageManifest()) {
  return webAddress(environment.REPLAY_HOMEPAGE || manifest.homepage);
}

/**
 * Where the project can be cloned from: REPLAY_REPOSITORY, else package.json's `repository`. Empty if neither is set.
 * Parameters as for `siteAddress`.
 */
export function repositoryAddress(environment = process.env, manifest = packageManifest()) {
  const stated = environment.REPLAY_REPOSITORY || (manifest.repository?.url ?? manifest.repository);
  return webAddress(stated);
}

/** Where the QR code of the talk leads: to the site, else to the repository; empty without both. */
export function projectAddress(environment = process.env, manifest = packageManifest()) {
  return siteAddress(environment, manifest) || repositoryAddress(environment, manifest);
}

/** An address with one more query parameter, as a person would type it: `?cut=20`, `?explore`. */
export function withQuery(address, word) {
  return `${address}${address.includes("?") ? "&" : "?"}${word}`;
}

/** The web address that a field of package.json states; empty for anything else. */
function webAddress(text = "") {
  const address = text.replace(/^git\+/, "").replace(/\.git$/, "");
  return /^https?:\/\//.test(address) && URL.canParse(address) ? address : "";
}

function packageManifest() {
  return JSON.parse(readFileSync(path.join(PROJECT, "package.json"), "utf8"));
}
