// `npm start` with a made-up set-up, sandbox and measuring: a Session whose programs are the shell scripts in
// FOLDER/programs. Notes what it opened and closed in FOLDER/calls.

import { appendFileSync, existsSync } from "node:fs";
import path from "node:path";

import { onInterrupt } from "../../../scripts/npm/processes.mjs";
import { programsFor, Session } from "../../../scripts/npm/session.mjs";

const [folder, ...flags] = process.argv.slice(2);
const note = (text) => appendFileSync(path.join(folder, "calls"), `${text}\n`);

// $2 of a script is the data set that the session has chosen.
const programs = (own, shipped) =>
  Object.fromEntries(
    Object.keys(programsFor(own, shipped)).map((name) => {
      const file = path.join(folder, "programs", name.replaceAll(" ", "-"));
      return [name, existsSync(file) ? ["bash", file, folder, own] : ["true"]];
    }),
  );
const session = new Session({
  programs,
  shipped: "tentacle",
  startServer: ({ data, meanwhile }) => {
    // As a server that listens, it keeps the program alive.
    const listening = setInterval(() => {}, 60_000);
    note(`deck opened ${data} ${meanwhile}`);
    return Promise.resolve({
      url: "http://127.0.0.1:1/",
      close: () => {
        clearInterval(listening);
        note("deck closed");
        return Promise.resolve();
      },
    });
  },
  benchmarks: path.join(folder, "benchmarks"),
  logs: path.join(folder, "logs"),
  open: false,
  once: flags.includes("--once"),
  platform: flags.includes("--on-macos") ? "darwin" : "linux",
  keepSandbox: flags.includes("--keep-sandbox"),
});
onInterrupt((signal) => session.interrupt(signal));
process.exit(await session.run());
