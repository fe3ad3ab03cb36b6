/**
 * A talk's own look, `slides/<talk>/look/`: `tokens.css`, which is read after the deck's own styles, the fonts that it names,
 * and a logo, `logo-light.svg` and `logo-dark.svg`. Nothing of it is bundled: pages ask for the files as they are.
 */

import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";

import { unescapeHtml } from "./text/escape.js";

export const STYLE = "tokens.css";
export const LOGO = { light: "logo-light.svg", dark: "logo-dark.svg" };
const SERVED = /^[A-Za-z0-9][\w.-]*\.(?:css|woff2|svg)$/;
const TITLE = /<title[^>]*>\s*([^<]*?)\s*<\/title>/;

/** The folder of a talk's look, below the folder that holds slides/. */
export function lookFolder(talk) {
  return `slides/${talk}/look`;
}

/**
 * What a talk's pages need to know of its look.
 * @param {string} root   the folder that holds slides/
 * @param {string} talk   its name
 * @returns {{style: string|null, logo: {light: string, dark: string, title: string}|null}}
 *   addresses; title: says whose logo it is
 */
export function lookOf(root, talk) {
  const names = lookNames(root, talk);
  const address = (name) => `./${lookFolder(talk)}/${name}`;
  const hasLogo = Object.values(LOGO).every((name) => names.includes(name));
  return {
    style: names.includes(STYLE) ? address(STYLE) : null,
    logo: hasLogo
      ? { light: address(LOGO.light), dark: address(LOGO.dark), title: titleOf(root, talk, LOGO.light) }
      : null,
  };
}

/** The files in the folder; none if there is no such folder. */
export function lookNames(root, talk) {
  const folder = path.join(root, lookFolder(talk));
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** Whether pages may ask for a file of a look. */
export function isServed(name) {
  return SERVED.test(name);
}

/** The files of a look that pages may ask for, below `root`. */
export function lookFiles(root, talk) {
  return lookNames(root, talk)
    .filter(isServed)
    .map((name) => `${lookFolder(talk)}/${name}`);
}

/** What a drawing says that it is, to those who hear the page; empty if it says nothing. */
export function titleOf(root, talk, name) {
  return unescapeHtml(TITLE.exec(readFileSync(path.join(root, lookFolder(talk), name), "utf8"))?.[1] ?? "");
}

/** The style sheet of a look, as the check reads style sheets; none if it has none. */
export function lookStyles(root, talk) {
  const file = `${lookFolder(talk)}/${STYLE}`;
  const place = path.join(root, file);
  return existsSync(place) ? [{ file, text: readFileSync(place, "utf8") }] : [];
}
