/** A page that reuses the context of an earlier one starts clean, so that no test affects another. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { launchPatiently } from "../support/browser.js";

const VIEWPORT = { width: 800, height: 600 };

let browser;
let servers;
let addresses;

/** Serves an empty page; returns the server, once it listens. */
function serveNothing() {
  const server = createServer((request, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<title>served</title>"),
  );
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

before(async () => {
  servers = await Promise.all([serveNothing(), serveNothing()]);
  addresses = servers.map((server) => `http://127.0.0.1:${server.address().port}/`);
  browser = await launchPatiently();
});
after(async () => {
  await browser?.close();
  for (const server of servers ?? []) server.close();
});

/** Everything that a page stores, or that changes how it is shown. Text, because it runs in the page. */
const STATE = `(async () => {
  const asked = await navigator.permissions.query({ name: "geolocation" });
  return {
    local: localStorage.length,
    session: sessionStorage.length,
    databases: (await indexedDB.databases()).length,
    caches: window.caches ? (await caches.keys()).length : 0,
    cookies: document.cookie,
    name: window.name,
    permission: asked.state,
    title: document.title,
    size: [innerWidth, innerHeight],
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    still: matchMedia("(prefers-reduced-motion: reduce)").matches,
    print: matchMedia("print").matches,
    script: window.leftBehind ?? null,
  };
})()`;

const MARKS = `(async () => {
  localStorage.setItem("a", "1");
  sessionStorage.setItem("a", "1");
  document.cookie = "a=1; max-age=1000";
  window.name = "left";
  await new Promise((resolve, reject) => {
    const opening = indexedDB.open("left");
    opening.onsuccess = () => resolve(opening.result.close());
    opening.onerror = () => reject(opening.error);
  });
  if (window.caches) await caches.open("left");
})()`;

async function statesIn(page) {
  const states = [];
  for (const address of addresses) {
    await page.goto(address);
    states.push(await page.evaluate(STATE));
  }
  return states;
}

test("a page leaves nothing to the next one in its context", async () => {
  const first = await browser.newPage({ viewport: VIEWPORT });
  const clean = await statesIn(first);

  await first.context().grantPermissions(["geolocation"]);
  await first.addInitScript("window.leftBehind = true");
  await first.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce", media: "print" });
  await first.setViewportSize({ width: 390, height: 844 });
  const answer = (body) => (route) => route.fulfill({ contentType: "text/html", body });
  await first.context().route("**", answer("<title>of the context</title>"));
  await first.route(addresses[0], answer("<title>of the page</title>"));
  for (const address of addresses) {
    await first.goto(address);
    await first.evaluate(MARKS);
  }
  const marked = await statesIn(first);
  const unmarked = Object.keys(clean[0]).filter((word) => String(marked[0][word]) === String(clean[0][word]));
  assert.deepEqual(unmarked, [], "what is to be forgotten is there");
  await first.evaluate("void window.open('about:blank')");
  await first.close();

  const second = await browser.newPage({ viewport: VIEWPORT });
  assert.equal(second.context(), first.context(), "the context is reused");
  assert.deepEqual(await statesIn(second), clean);
  const windows = second
    .context()
    .pages()
    .filter((page) => page !== second);
  assert.equal(windows.length, 1, "only the page that keeps the process");
  await second.close();
});

test("pages that are open at once, or opened with other options, share no context", async () => {
  const one = await browser.newPage({ viewport: VIEWPORT });
  const other = await browser.newPage({ viewport: VIEWPORT });
  const dark = await browser.newPage({ viewport: VIEWPORT, colorScheme: "dark" });
  assert.equal(new Set([one, other, dark].map((page) => page.context())).size, 3);
  await one.goto(addresses[0]);
  await one.evaluate(MARKS);
  for (const page of [other, dark]) {
    await page.goto(addresses[0]);
    const { local, cookies } = await page.evaluate(STATE);
    assert.deepEqual([local, cookies], [0, ""]);
  }
  await Promise.all([one, other, dark].map((page) => page.close()));
});
