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
 * Where the talk can be cloned from: REPLAY_REPOSITORY, else `repository` of slides/<talk>/talk.yaml. Empty if neither is set.
 * @param {{repository: string}} talk
 * @param {Record<string, string|undefined>} [environment]
 */
export function repositoryAddress(talk, environment = process.env) {
  return webAddress(environment.REPLAY_REPOSITORY || talk.repository);
}

/** Where the QR code of the talk leads: to the repository, else to the site; empty without both. */
export function projectAddress(talk, environment = process.env, manifest = packageManifest()) {
  return repositoryAddress(talk, environment) || siteAddress(environment, manifest);
}

/** What the deck says of the project: two addresses, and the version, to cite. @param {{repository: string}} talk */
export function statedFacts(talk) {
  const { version } = packageManifest();
  return { repository: repositoryAddress(talk), address: projectAddress(talk), version };
}

/** An address with one more query parameter, as a person would type it: `?cut=20`, `?explore`. */
export function withQuery(address, word) {
  return `${address}${address.includes("?") ? "&" : "?"}${word}`;
}

/** The web address that a field states; empty for anything else. */
function webAddress(text = "") {
  const address = text.replace(/^git\+/, "").replace(/\.git$/, "");
  return /^https?:\/\//.test(address) && URL.canParse(address) ? address : "";
}

function packageManifest() {
  return JSON.parse(readFileSync(path.join(PROJECT, "package.json"), "utf8"));
}
