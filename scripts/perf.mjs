#!/usr/bin/env node
/** Measures the deck side by side with the plain approach, and prints ratios: `npm run perf`. */

import { mkdir, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";

import { launchChromium } from "./deck/chromium.js";
import { machineLine, tableOf } from "./deck/perf/report.js";
import { readyScenarios } from "./deck/perf/scenarios.js";
import { compare } from "./deck/perf/statistics.js";
import { perf as program } from "./npm/declared.mjs";
import { optionsOf } from "./npm/program.mjs";
import { endWhenInterrupted, progress } from "./npm/progress.mjs";

const SIDES = ["deck", "plain"];
const NUMBERS = ["rounds", "charts", "points", "changes"];

const options = optionsOf(program);
const [rounds, charts, points, changes] = NUMBERS.map((name) => Number(options[name]));

const shown = progress();
endWhenInterrupted(shown, "Stopped before the last round, so there are no figures.");
shown.step("Bundling both sides");
const { scenarios, close } = await readyScenarios({ charts, points, changes });
const chosen = scenarios.filter(({ title }) => title.toLowerCase().includes(options.only.toLowerCase()));
if (chosen.length === 0) {
  await close();
  shown.end();
  console.error(`--only matches no scenario; there are: ${scenarios.map(({ title }) => title).join("; ")}`);
  process.exit(2);
}
const browser = await launchChromium();
const measured = chosen.map(({ title }) => ({ title, deck: [], plain: [] }));
try {
  for (let round = 0; round <= rounds; round += 1) {
    const name = round === 0 ? "Warming up" : `Round ${round} of ${rounds}`;
    for (const [at, scenario] of chosen.entries()) {
      shown.step(`${name}: ${scenario.title}`);
      // The sides take turns at going first.
      for (const side of round % 2 ? SIDES : [...SIDES].reverse()) {
        const values = await scenario.measure(browser, side);
        if (round > 0) measured[at][side].push(values);
      }
    }
  }
} finally {
  shown.end();
  await browser.close();
  await close();
}

const machine = {
  cpu: os.cpus()[0].model.trim(),
  cores: os.cpus().length,
  memoryBytes: os.totalmem(),
  chromium: browser.version(),
  node: process.versions.node,
  date: new Date().toISOString().slice(0, 10),
};
console.log(tableOf(measured.map(({ title, deck, plain }) => ({ title, measures: compare(deck, plain) }))));
console.log(`\nMedian of ${rounds} rounds (smallest to largest); ratios are computed within each round.`);
console.log(machineLine(machine));
if (options.json) {
  const file = path.resolve(options.json);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(
    file,
    `${JSON.stringify({ machine, rounds, charts, points, changes, measured }, null, 2)}\n`,
  );
  console.log(`all figures: ${options.json}`);
}
