/** A browser for tests in which pages are cheap: one process is kept for the pages that are opened in turn. */

import { launchChromium } from "../../../scripts/deck/chromium.js";
import { patient } from "../../support/patience.mjs";

const SHARED_PROCESS = [
  // Pages of the same site and context share a process. A new one would compile every script and read every font again.
  "--process-per-site",
  // No process is started in advance for a page of another site: it would be thrown away with each page of the deck's.
  "--renderer-process-limit=1",
  "--disable-site-isolation-trials",
];

/** The browser of this process, how many users have not closed it yet, and its free contexts by their options. */
let shared = null;

/**
 * Returns the browser, which all test files of a process share, with deadlines that fit the speed of this machine.
 *
 * `newPage(options)` gives a page that shares nothing with the pages that were open before: no storage, no permission,
 * no route, no window. While one page is open, a second one gets a context of its own, as Playwright does it. `close()`
 * closes what was opened here; the last one closes the browser.
 * @returns {Promise<{newPage: Function, newContext: Function, close: () => Promise<void>}>}
 */
export async function launchPatiently() {
  shared ??= { launched: launchChromium(SHARED_PROCESS), users: 0, free: new Map() };
  const mine = shared;
  mine.users += 1;
  const browser = await mine.launched.catch((error) => {
    shared = null;
    throw error;
  });
  const opened = new Set();

  async function newContext(options) {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(patient(30_000));
    opened.add(context);
    context.on("close", () => opened.delete(context));
    return context;
  }

  async function newPage(options = {}) {
    const key = JSON.stringify(options);
    const context = mine.free.get(key) ?? (await newContext(options));
    mine.free.delete(key);
    opened.add(context);
    const page = await context.newPage();
    const close = page.close.bind(page);
    const origins = originsOf(context);
    page.close = async () => {
      if (mine.free.has(key)) return context.close();
      const keeper = await keeperOf(context);
      await close();
      await forget(context, keeper, origins);
      mine.free.set(key, context);
      opened.delete(context);
    };
    return page;
  }

  async function close() {
    mine.users -= 1;
    if (mine.users > 0) {
      await Promise.all([...opened].map((context) => context.close()));
      return;
    }
    shared = null;
    await browser.close();
  }

  return { newPage, newContext, close };
}

const keepers = new WeakMap();

/** An empty page of the decks' site, which keeps their process alive. */
async function keeperOf(context) {
  if (!keepers.has(context)) {
    const keeper = await context.newPage();
    await keeper.route("**", (route) => route.fulfill({ contentType: "text/html", body: "" }));
    await keeper.goto("http://127.0.0.1/");
    keepers.set(context, keeper);
  }
  return keepers.get(context);
}

const visited = new WeakMap();

/** The origins that the pages of a context have visited since this was first asked. */
function originsOf(context) {
  if (!visited.has(context)) {
    const origins = new Set();
    context.on("framenavigated", (frame) => {
      const { protocol, origin } = new URL(frame.url());
      if (/^https?:$/.test(protocol)) origins.add(origin);
    });
    visited.set(context, origins);
  }
  return visited.get(context);
}

/** Removes what the pages of `origins` left in their context: windows, routes, permissions and storage. */
async function forget(context, keeper, origins) {
  await Promise.all(
    context
      .pages()
      .filter((one) => one !== keeper)
      .map((one) => one.close()),
  );
  await context.unrouteAll();
  await context.clearPermissions();
  await context.clearCookies();
  const session = await context.newCDPSession(keeper);
  for (const origin of origins) {
    await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
  }
  await session.detach();
}
