// Shared by the small programs: options, --help, and messages about wrong options.

import { parseArgs } from "node:util";

import { nearest } from "./nearest.mjs";

const LAST_PORT = 65_535;
/** The rule of scripts/replay/base/command_line.py: the name is a folder of benchmarks/, and part of addresses. */
const DATA_SET_NAME = /^[a-z0-9][a-z0-9-]*$/;

/**
 * @typedef {object} Program
 * @property {string} command   how a person calls it with options: "npm run build --"
 * @property {string} help      the text of --help
 * @property {import("node:util").ParseArgsConfig["options"]} [options]   those besides --help
 * @property {string[]} [words]   the words that it takes besides options; none without this
 * @property {(values: Record<string, any>) => void} [check]   throws an Error that says what is wrong with the values
 */

/**
 * Reads the arguments of a program. Pure.
 * @param {Program} program
 * @param {string[]} args
 * @returns {{values: Record<string, any>} | {help: string} | {problem: string}}
 */
export function readOptions({ command, help, options = {}, words = [], check = () => {} }, args) {
  const all = { ...options, help: { type: "boolean", short: "h" } };
  const { values, tokens } = parseArgs({ args, options: all, strict: false, tokens: true });
  const { help: wanted, ...given } = values;
  if (wanted === true) return { help };
  try {
    for (const token of tokens) refuse(token, all, words);
    check(given);
    return { values: { ...given } };
  } catch (error) {
    const called = command.replace(/ --$/, "");
    return { problem: `${called}: ${error.message}\n  next: ${error.hint ?? ""}see ${command} --help` };
  }
}

const didYouMean = (word) => (word === null ? "" : `did you mean '${word}'? `);

/** @throws {Error} saying what is wrong with an argument; its `hint` comes before the reference to --help */
function refuse({ kind, name, rawName, value, inlineValue }, options, words) {
  if (kind === "positional" && words.includes(value)) return;
  if (kind === "positional" && words.length > 0)
    throw Object.assign(new Error(`'${value}' is not one of ${words.join(", ")}`), {
      hint: didYouMean(nearest(value, words)),
    });
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
 * The options with which this program was called. `--help` prints the help and exits; a wrong option prints what is
 * wrong and exits with status 2.
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

/** The number of `--port`; undefined without the option. @throws {Error} if it is not a port */
export function portOf(text) {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port <= LAST_PORT)) throw new Error(`--port wants a number up to ${LAST_PORT}, not '${text}'`);
  return port;
}

/** Refuses a value that is not one of an option's words. @throws {Error} listing them */
export function requireOneOf(option, words, value) {
  if (value === undefined || words.includes(value)) return;
  const hint = didYouMean(nearest(value, words));
  throw Object.assign(new Error(`--${option} ${value}: expected one of ${words.join(", ")}`), { hint });
}

/** Refuses a name that no data set can have. @param {string|string[]|undefined} given @throws {Error} with the rule */
export function requireDataSetName(option, given) {
  for (const name of [given ?? []].flat())
    if (!DATA_SET_NAME.test(name))
      throw new Error(
        `--${option}: '${name}' is not a valid data set name: use lower-case letters, digits and dashes, and no dash first`,
      );
}

/** Refuses anything but a whole number above zero. @throws {Error} */
export function requireCount(option, text) {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`--${option} wants a whole number from 1, not '${text}'`);
}
