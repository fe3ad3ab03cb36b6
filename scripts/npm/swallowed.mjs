// Options that npm kept for itself: `npm run build --data=x`, without `--` before the options, passes nothing on. npm
// leaves each in the environment, as npm_config_data; what the person asked for must not be dropped silently.

import { parseArgs } from "node:util";

import { nearest } from "./nearest.mjs";

const PREFIX = "npm_config_";
/** npm's separator between the values of an option that was given more than once. */
const LIST = "\n\n";
/** An option at least this similar to one of ours was meant to be ours; npm's own options are less similar. */
const NEARLY = 0.8;

/**
 * @typedef {Record<string, {type: "string"|"boolean"}>} Options   of the called program, by name
 *
 * @typedef {object} Call
 * @property {string} name   of the npm script: "build"
 * @property {string[]} args   the arguments that npm passed on
 * @property {Options} options
 * @property {string[]} [words]   the words that the program takes besides options: "up"
 * @property {Record<string, string|undefined>} environment
 * @property {Map<string, string>} [own]   settings in the person's npm configuration, from `settingsIn`; they are not mistakes
 */

/**
 * Says what npm kept, and which line to type instead. Pure.
 * @param {Call} call
 * @returns {string|null} null if nothing was kept
 */
export function swallowed({ name, args, options, words = [], environment, own = new Map() }) {
  const kept = [...exactly({ args, options, environment, own }), ...nearly({ options, environment, own })];
  if (kept.length === 0) return null;

  const rest = [...args];
  // Without "=", npm takes an option's value for a separate word. With several, nobody knows which belongs to which.
  const waiting = kept.filter((one) => one.value === null);
  const loose = looseWords(args, options).filter((word) => !words.includes(word));
  if (waiting.length === 1 && loose.length === 1) {
    waiting[0].value = loose[0];
    rest.splice(rest.indexOf(loose[0]), 1);
  }
  const again = kept.flatMap(({ option, type, value }) => {
    if (type === "boolean") return [`--${option}`];
    if (value === null) return [`--${option}`, "VALUE"];
    return value.split(LIST).map((one) => `--${option}=${shellWord(one)}`);
  });
  const meant = kept.filter((one) => one.meant).map(({ option }) => `; did you mean --${option}?`);
  const typed = kept.map((one) => one.typed).join(" and ");
  const [its, them] = kept.length > 1 ? ["its own options", "them"] : ["one of its own options", "it"];
  return [
    `${commandOf(name)}: npm took ${typed} as ${its}, because there is no -- before ${them}${meant.join("")}`,
    `  next: ${[commandOf(name), "--", ...rest.map(shellWord), ...again].join(" ")}`,
  ].join("\n");
}

/** Options of the program that are in npm's environment. A value of null is unknown: npm says "true". */
function exactly({ args, options, environment, own }) {
  return Object.entries(options).flatMap(([option, { type }]) => {
    const negated = isNegated(option, type);
    const key = keyInNpm(option, type);
    const value = environment[PREFIX + key];
    if (value === undefined || own.get(key) === value) return [];
    if (type === "boolean") {
      // npm gives an empty text for an option that is off. A flag that was also passed on is not lost.
      if (negated !== (value === "") || args.includes(`--${option}`)) return [];
      return [{ option, type, value, typed: `--${option}` }];
    }
    return [{ option, ...valueOf(value, option), type }];
  });
}

/** Words in npm's environment that are mistyped options of the program. */
function nearly({ options, environment, own }) {
  const known = new Map(
    Object.entries(options).map(([option, { type }]) => [keyInNpm(option, type), option]),
  );
  return Object.entries(environment).flatMap(([variable, value]) => {
    const key = variable.startsWith(PREFIX) ? variable.slice(PREFIX.length) : "";
    if (key === "" || !value || own.get(key) === value || known.has(key)) return [];
    const option = known.get(nearest(key, known.keys(), NEARLY));
    if (option === undefined) return [];
    return [{ option, type: options[option].type, ...valueOf(value, key.replaceAll("_", "-")), meant: true }];
  });
}

const isNegated = (option, type) => type === "boolean" && option.startsWith("no-");
/** npm reads `--no-open` as an `open` that is off. */
const keyInNpm = (option, type) => keyOf(isNegated(option, type) ? option.slice("no-".length) : option);

function valueOf(value, typed) {
  if (value === "true") return { value: null, typed: `--${typed}` };
  return {
    value,
    typed: value
      .split(LIST)
      .map((one) => `--${typed}=${one}`)
      .join(" "),
  };
}

/** The arguments that belong to no option. */
function looseWords(args, options) {
  const { tokens } = parseArgs({ args, options, strict: false, tokens: true });
  return tokens.filter(({ kind }) => kind === "positional").map(({ value }) => value);
}

function commandOf(name) {
  return ["start", "test"].includes(name) ? `npm ${name}` : `npm run ${name}`;
}

function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** How npm names an option in the environment. */
export function keyOf(option) {
  return option.toLowerCase().replaceAll("-", "_");
}

/**
 * The settings in npm's configuration (an .npmrc): values by name, both as they are in the environment. Pure.
 * @returns {[string, string][]}
 */
export function settingsIn(text) {
  const lines = text.matchAll(/^[ \t]*([A-Za-z][\w-]*)[ \t]*(?:=[ \t]*(.*?)[ \t]*)?$/gm);
  return [...lines].map(([, name, value = "true"]) => [keyOf(name), value === "false" ? "" : value]);
}
