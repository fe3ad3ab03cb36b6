/** A real Chromium for the programs and tests that look at the deck. */

import { existsSync } from "node:fs";

/** First the one without windows, which lacks all that a person sees of a browser and takes a fifth less CPU time. */
const PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** The browser's path: CHROMIUM, else the usual place on this kind of system; null if there is none. */
export function chromiumPath(environment = process.env) {
  return [environment.CHROMIUM, ...PLACES].find((place) => place && existsSync(place)) ?? null;
}

/**
 * Starts Chromium without a display and without a graphics card.
 * @param {string[]} [further]   options of the program besides the usual ones
 * @returns {Promise<import("playwright-core").Browser>}
 * @throws {Error} when there is no Chromium
 */
export async function launchChromium(further = []) {
  const executablePath = chromiumPath();
  if (!executablePath) throw new Error("no Chromium found; install it, or name it in CHROMIUM");
  // Root has no user namespace for Chromium's sandbox, and /dev/shm is small in containers.
  const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none"];
  // Who only asks whether there is a browser does not wait for what controls one.
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, args: [...args, ...further] });
}
