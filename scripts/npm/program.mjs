// What the small programs have in common: their options, --help, and how a wrong option is answered.

import { parseArgs } from "node:util";

const LAST_PORT = 65_535;

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
  try {
    const all = { ...options, help: { type: "boolean", short: "h" } };
    const { help: wanted, ...values } = parseArgs({ args, options: all }).values;
    if (wanted) return { help };
    check(values);
    return { values };
  } catch (error) {
    return { problem: `${error.message}\nSee: ${command} --help` };
  }
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
  if (!(port <= LAST_PORT)) throw new Error(`--port wants a number up to ${LAST_PORT}, not “${text}”`);
  return port;
}

/** Refuses what is not one of the words that an option takes. @throws {Error} listing them */
export function requireOneOf(option, words, value) {
  if (value !== undefined && !words.includes(value))
    throw new Error(`--${option} wants ${words.join(" or ")}, not “${value}”`);
}
