// What the small programs have in common: their options, --help, and messages about wrong options.

import { parseArgs } from "node:util";

import { nearest } from "./nearest.mjs";

const LAST_PORT = 65_535;
/** As scripts/replay/base/command_line.py has it: a folder of benchmarks/, and a word in addresses. */
const DATA_SET_NAME = /^[a-z0-9][a-z0-9-]*$/;

/**
 * @typedef {object} Program
 * @property {string} command   how a person calls it with options: "npm run build --"
 * @property {string} help      the text of --help
 * @property {import("node:util").ParseArgsConfig["options"]} [options]   those besides --help
 * @property {(values: Record<string, any>) => void} [check]   throws an Error that says what is wrong with them
 */

/**
 * Reads the arguments of a program. Pure.
 * @param {Program} program
 * @param {string[]} args
 * @returns {{values: Record<string, any>} | {help: string} | {problem: string}}
 */
export function readOptions({ command, help, options = {}, check = () => {} }, args) {
  const all = { ...options, help: { type: "boolean", short: "h" } };
  const { values, tokens } = parseArgs({ args, options: all, strict: false, tokens: true });
  const { help: wanted, ...given } = values;
  if (wanted === true) return { help };
  try {
    for (const token of tokens) refuse(token, all);
    check(given);
    return { values: { ...given } };
  } catch (error) {
    const called = command.replace(/ --$/, "");
    return { problem: `${called}: ${error.message}\n  next: ${error.hint ?? ""}see ${command} --help` };
  }
}

const didYouMean = (word) => (word === null ? "" : `did you mean '${word}'? `);

/** @throws {Error} saying what is wrong with an argument; its `hint` comes before the way to the help */
function refuse({ kind, name, rawName, value, inlineValue }, options) {
  if (kind === "positional") throw new Error(`'${value}' is not understood: options begin with --`);
  if (kind !== "option") return;
  const type = Object.hasOwn(options, name) ? options[name].type : null;
  if (type === null) {
    const meant = nearest(name, Object.keys(options));
    const hint = didYouMean(meant && `--${meant}`);
    throw Object.assign(new Error(`there is no option ${rawName}`), { hint });
  }
  if (type === "boolean" && value !== undefined) throw new Error(`${rawName} takes no value`);
  if (type === "string" && (value === undefined || (!inlineValue && value.startsWith("-"))))
    throw new Error(`${rawName} wants a value`);
}

/**
 * The options that this program was called with. `--help` prints the help and ends it; a wrong option ends it with
 * status 2 and what is wrong.
 * @param {Program} program
 */
export function optionsOf(program) {
  const { values, help, problem } = readOptions(program, process.argv.slice(2));
  if (help !== undefined) {
    console.log(help);
    process.exit(0);
  }
  if (problem !== undefined) {
    console.error(problem);
    process.exit(2);
  }
  return values;
}

/** The number of `--port`; undefined where none is named. @throws {Error} saying that it is none */
export function portOf(text) {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port <= LAST_PORT)) throw new Error(`--port wants a number up to ${LAST_PORT}, not '${text}'`);
  return port;
}

/** Refuses what is not one of the words that an option takes. @throws {Error} listing them */
export function requireOneOf(option, words, value) {
  if (value === undefined || words.includes(value)) return;
  const hint = didYouMean(nearest(value, words));
  throw Object.assign(new Error(`--${option} ${value}: expected one of ${words.join(", ")}`), { hint });
}

/** Refuses what cannot be a data set's name. @param {string|string[]|undefined} given @throws {Error} saying what can */
export function requireDataSetName(option, given) {
  for (const name of [given ?? []].flat())
    if (!DATA_SET_NAME.test(name))
      throw new Error(
        `--${option}: '${name}' is not a valid data set name: use lower-case letters, digits and dashes, and no dash first`,
      );
}

/** Refuses what is no whole number above zero. @throws {Error} */
export function requireCount(option, text) {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`--${option} wants a whole number from 1, not '${text}'`);
}
