// Builds the deck's bundle into a folder: node scripts/deck/build-bundle.mjs FOLDER
//
// A process of its own, because a build takes 300 MB that a server which lives for hours would not give back.

import { build } from "vite";

import { deckConfig } from "./vite-config.js";

try {
  const outDir = process.argv[2];
  await build({ ...deckConfig({ outDir }), configFile: false, logLevel: "error" });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
