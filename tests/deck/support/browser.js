/** A browser for tests in which pages are cheap: one process is kept for the pages that are opened in turn. */

import assert from "node:assert/strict";
import { afterEach } from "node:test";

import { launchChromium } from "../../../scripts/deck/chromium.js";
import { patient } from "../../support/patience.mjs";

const SHARED_PROCESS = [
  // Pages of the same site and context share a process. A new one would compile every script and read every font again.
  "--process-per-site",
  // No process is started in advance for a page of another site: it would be thrown away with each page of the deck's.
  "--renderer-process-limit=1",
  "--disable-site-isolation-trials",
];

/** The signs that a page is ready. */
export const READY = {
  deck: "html[data-deck-ready]",
  front: "html[data-front-ready]",
  print: "html[data-charts-ready]",
  embedded: "html[data-embedded-ready]",
};

/** The pages of the test that runs. */
const opened = new Set();

afterEach(async () => {
  const pages = [...opened];
  opened.clear();
  for (const page of pages) if (!page.isClosed()) await page.close();
  const complaints = pages.flatMap((page) => page.complaints);
  assert.deepEqual(complaints, [], "a page complained of what the test did not expect");
});

/**
 * Starts the browser, with deadlines that fit the speed of this machine.
 *
 * `newPage(options)` gives a page that shares nothing with the pages that were open before: no storage, no permission,
 * no route, no window. While one page is open, a second one gets a context of its own, as Playwright does it. What a page
 * requests is in `page.asked`, its errors are in `page.complaints`. When the test ends it is closed, unless it `stays`, and has to
 * have no complaints: a test takes out those that it expects.
 *
 * `open(address, options)` gives such a page on which an address is ready; `prepare` gets it before that is fetched.
 * @returns {Promise<{open: Function, newPage: Function, close: () => Promise<void>}>}
 */
export async function launchPatiently() {
  const browser = await launchChromium(SHARED_PROCESS);
  /** Contexts that no page uses, by their options. */
  const free = new Map();

  async function newPage({ stays = false, ...options } = {}) {
    const key = JSON.stringify(options);
    const used = free.get(key) ?? watched(await browser.newContext(options));
    free.delete(key);
    const page = await used.context.newPage();
    keepWhatItSays(page);
    if (!stays) opened.add(page);
    const close = page.close.bind(page);
    page.close = async () => {
      if (free.has(key)) return used.context.close();
      used.keeper ??= await keeperIn(used.context);
      await close();
      await forget(used);
      free.set(key, used);
    };
    return page;
  }

  async function open(address, { ready = READY.deck, prepare = () => {}, ...options } = {}) {
    const page = await newPage({
      viewport: { width: 1280, height: 720 },
      reducedMotion: "reduce",
      ...options,
    });
    await prepare(page);
    await page.goto(address);
    await page.waitForSelector(ready);
    return page;
  }

  return { open, newPage, close: () => browser.close() };
}

function keepWhatItSays(page) {
  page.asked = [];
  page.complaints = [];
  page.on("request", (request) => page.asked.push(request.url()));
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("console", (message) => {
    // Companions of a chart (bounds, counts) are optional: a missing one is not a complaint.
    if (message.type() === "error" && !/status of 404/.test(message.text()))
      page.complaints.push(message.text());
  });
}

/** The addresses that a page has asked for and that are not below `place`. */
export function askedElsewhere(page, place) {
  return page.asked.filter((address) => !address.startsWith(place) && !/^(?:data|blob|about):/.test(address));
}

/** A context with patient deadlines, and the origins that its pages visit from now on. */
function watched(context) {
  context.setDefaultTimeout(patient(30_000));
  const origins = new Set();
  context.on("framenavigated", (frame) => {
    const { protocol, origin } = new URL(frame.url());
    if (/^https?:$/.test(protocol)) origins.add(origin);
  });
  return { context, origins, keeper: null };
}

/** An empty page of the decks' site, which keeps their process alive. */
async function keeperIn(context) {
  const keeper = await context.newPage();
  await keeper.route("**", (route) => route.fulfill({ contentType: "text/html", body: "" }));
  await keeper.goto("http://127.0.0.1/");
  return keeper;
}

/** Removes what pages left in their context: windows, routes, permissions and storage. */
async function forget({ context, origins, keeper }) {
  const left = context.pages().filter((one) => one !== keeper);
  await Promise.all(left.map((one) => one.close()));
  await context.unrouteAll();
  await context.clearPermissions();
  await context.clearCookies();
  const session = await context.newCDPSession(keeper);
  for (const origin of origins)
    await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
  await session.detach();
}
