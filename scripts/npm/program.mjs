// What the programs behind the npm scripts share: their options, and the packages that they need.
//
// A program reads its options first, and imports what needs packages only after `installPackages`: so `--help` and a wrong
// option install nothing.

import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

/** The checkout's root folder. */
export const ROOT = path.resolve(import.meta.dirname, "../..");

const LAST_PORT = 65_535;
/** The rule of scripts/replay/cli/grammar.py: the name is a folder of benchmarks/, and part of addresses. */
const DATA_SET_NAME = /^[a-z0-9][a-z0-9-]*$/;

/**
 * The options with which this program was called. `--help` prints the help and exits; a wrong option prints what is wrong
 * and exits with status 2.
 * @param {object} program
 * @param {string} program.command   how a person calls it with options: "npm run build --"
 * @param {string} program.help
 * @param {import("node:util").ParseArgsConfig["options"]} [program.options]   those besides --help
 * @param {(values: Record<string, any>) => void} [program.check]   throws an Error that says what is wrong with the values
 */
export function optionsOf({ command, help, options = {}, check = () => {} }) {
  try {
    const { help: wanted, ...values } = parseArgs({
      options: { ...options, help: { type: "boolean", short: "h" } },
    }).values;
    if (wanted) {
      console.log(help);
      process.exit(0);
    }
    // Whatever this program reads and starts is of the same talk.
    if (values.talk !== undefined) process.env.REPLAY_TALK_NAME = values.talk;
    check(values);
    return values;
  } catch (error) {
    // Node adds advice that only a programmer understands.
    const problem = error.code?.startsWith("ERR_PARSE_ARGS")
      ? error.message.split(/\. |\n/, 1)[0]
      : error.message;
    console.error(`${command.replace(/ --$/, "")}: ${problem}\n  next: see ${command} --help`);
    process.exit(2);
  }
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
  if (value !== undefined && !words.includes(value))
    throw new Error(`--${option} ${value}: expected one of ${words.join(", ")}`);
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
  if (text !== undefined && !/^[1-9]\d{0,6}$/.test(text))
    throw new Error(`--${option} wants a whole number from 1, not '${text}'`);
}

/** A number of things: "1 slide", "2 slides". */
export function counted(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** Installs the packages of package-lock.json into node_modules, unless they are there. Ends the program if that fails. */
export function installPackages() {
  if (packagesAreInstalled()) return;
  console.error("Installing the packages of package-lock.json into node_modules: npm ci");
  const words = ["ci", "--no-audit", "--no-fund"];
  // npm names its own program to its scripts; on Windows `npm` is no program but a script of the shell.
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm, ...words]] : ["npm", words];
  const options = { cwd: ROOT, stdio: ["ignore", 2, 2], shell: !npm && process.platform === "win32" };
  if (spawnSync(command, args, options).status === 0) return;
  console.error(
    "npm ci failed.\n  next: see that this machine is online, then run it again; after an edit of package.json, first: npm install",
  );
  process.exit(1);
}

function packagesAreInstalled() {
  const packagesIn = (file) => {
    try {
      return JSON.parse(readFileSync(path.join(ROOT, file), "utf8")).packages;
    } catch {
      return {};
    }
  };
  // npm writes the second file when it has installed everything.
  const installed = packagesIn("node_modules/.package-lock.json");
  return Object.entries(packagesIn("package-lock.json")).every(
    ([place, { version, optional }]) =>
      optional || !place.startsWith("node_modules/") || installed[place]?.version === version,
  );
}

/** Ends the program, unless it runs on Linux. @param {string} what   what it would do, as the start of a sentence */
export function requireLinux(what) {
  if (process.platform === "linux") return;
  console.error(
    `${what} needs Linux, because it starts Ceph.\n  next: run it on Linux, or present what others measured: npm run present`,
  );
  process.exit(1);
}

/** Opens `url` in the person's browser, if there is a display. The caller prints the address in any case. */
export function openBrowser(url) {
  const { platform, env } = process;
  if (platform === "linux" && !env.DISPLAY && !env.WAYLAND_DISPLAY) return;
  const [command, ...args] = {
    darwin: ["open", url],
    win32: ["cmd", "/c", "start", "", url.replaceAll("&", "^&")],
  }[platform] ?? ["xdg-open", url];
  const child = spawn(command, args, { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}
