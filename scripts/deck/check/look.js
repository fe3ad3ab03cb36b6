/** A talk's own look is whole: its files are used, what they name is there, and its fonts are small. */

import { readFileSync, statSync } from "node:fs";
import path from "node:path";

import { nearest } from "chartjs-plugin-csv";

import { PROJECT } from "../data-sets.js";
import { LOGO, STYLE, isServed, lookFolder, lookNames, lookStyles, titleOf } from "../look.js";
import { lineAt } from "./chapters.js";

const KB = 1024;
/** The fonts of a look may have so many bytes: three weights of a typeface with all Latin letters. */
export const LOOK_FONTS = 150 * KB;

/** What may lie beside the look: a licence, a note. */
const BESIDE = /^\.|\.(?:txt|md)$/;
const COMMENT = /\/\*[\s\S]*?\*\//g;
const NAMED = /\burl\(\s*["']?([^"')]*)["']?\s*\)|@import\s+["']([^"']*)["']/g;
const TOKEN = /(?<![\w-])(--[a-z][\w-]*)\s*:/g;
/** Tokens that a talk's page has of its talk.yaml. */
const OF_THE_TALK = ["--accent", "--accent-inverse"];

/**
 * What is wrong with a look. The check says it, and a site of which it is true is not built.
 * @param {string} root   the folder that holds slides/
 * @param {string} talk   its name
 * @returns {import("./chapters.js").Problem[]}
 */
export function lookProblems(root, talk) {
  const names = lookNames(root, talk);
  const styles = lookStyles(root, talk).map(({ text }) => text.replace(COMMENT, blanked));
  const named = styles.flatMap(filesNamedIn);
  return [
    ...unusedFiles(names, named),
    ...logoProblems(root, talk, names),
    ...named
      .filter(({ target }) => !names.includes(target))
      .map(({ target, line }) => ({
        ...{ name: STYLE, line },
        message: `"${target}" is no file of this folder, and a talk loads nothing from elsewhere`,
      })),
    ...styles.flatMap(unknownTokens),
    ...tooHeavyFonts(root, talk, names),
  ].map(({ name, line = 1, message }) => ({ file: `${lookFolder(talk)}/${name}`, line, message }));
}

/** A comment says nothing, and takes its lines. */
function blanked(comment) {
  return comment.replace(/[^\n]/g, " ");
}

function filesNamedIn(text) {
  return [...text.matchAll(NAMED)].map(({ 1: url, 2: imported, index }) => ({
    target: (url ?? imported).trim().replace(/^\.\//, ""),
    line: lineAt(text, index),
  }));
}

function unusedFiles(names, named) {
  const isUsed = (name) =>
    [STYLE, ...Object.values(LOGO)].includes(name) || named.some(({ target }) => target === name);
  return names
    .filter((name) => !BESIDE.test(name) && !(isServed(name) && isUsed(name)))
    .map((name) => {
      const why = isServed(name) ? `${STYLE} does not name it` : "fonts are .woff2, drawings .svg";
      const logo = /^logo/i.test(name) ? `; a logo is ${LOGO.light} and ${LOGO.dark}` : "";
      return { name, message: `is not used: ${why}${logo}` };
    });
}

function logoProblems(root, talk, names) {
  const all = Object.values(LOGO);
  const here = all.filter((name) => names.includes(name));
  const [missing] = all.filter((name) => !names.includes(name));
  if (here.length === 1) return [{ name: here[0], message: `there is no ${missing} beside it` }];
  return here
    .filter((name) => titleOf(root, talk, name) === "")
    .map((name) => ({
      name,
      message: "has no <title>, which tells those who hear the page whose logo it is",
    }));
}

/** Names that nothing reads: the deck has no such token, and the file itself does not use it. */
function unknownTokens(text) {
  const shared = readFileSync(path.join(PROJECT, "css", STYLE), "utf8");
  const known = [...new Set([...shared.matchAll(TOKEN)].map(([, name]) => name)), ...OF_THE_TALK];
  return [...text.matchAll(TOKEN)]
    .filter(([, token]) => !known.includes(token) && !text.includes(`var(${token}`))
    .map(({ 1: token, index }) => {
      const near = nearest(token, known);
      const meant = near === null ? "" : `; did you mean ${near}?`;
      return { name: STYLE, line: lineAt(text, index), message: `there is no token ${token}${meant}` };
    });
}

function tooHeavyFonts(root, talk, names) {
  const fonts = names
    .filter((name) => name.endsWith(".woff2"))
    .map((name) => ({ name, bytes: statSync(path.join(root, lookFolder(talk), name)).size }));
  const sum = fonts.reduce((total, { bytes }) => total + bytes, 0);
  if (sum <= LOOK_FONTS) return [];
  const size = (bytes) => `${(bytes / KB).toFixed(1)} KB`;
  const each = fonts.map(({ name, bytes }) => `${name} ${size(bytes)}`).join(", ");
  const message = `the fonts of this folder have ${size(sum)}, which is more than ${size(LOOK_FONTS)} (${each}); leave out a weight, or characters that no slide has`;
  return [{ name: fonts[0].name, message }];
}
