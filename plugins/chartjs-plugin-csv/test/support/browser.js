/** The browser of a test file. */
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const CHROMIUM = process.env.CHROMIUM ?? PLACES.find((place) => existsSync(place)) ?? PLACES[1];
const FLAGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
  // Pages of one site share a process, which reads and compiles each script once.
  "--process-per-site",
];

/** Why tests are skipped if there is no browser, else false. */
export const SKIP = existsSync(CHROMIUM) ? false : `no browser at ${CHROMIUM}: set CHROMIUM to one`;

export function launchBrowser() {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}
