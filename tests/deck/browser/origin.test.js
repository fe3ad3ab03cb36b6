/** No request leaves the origin: on the present server and on a static site in a subfolder, in every view. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { lookAtEachSlide, openSpeakerView, startDeck } from "../support/deck.js";
import { startFixtureSite } from "../support/static-site.js";

/** Addresses, and the sign that the page is ready. */
const DECK_READY = "html[data-deck-ready]";
const VIEWS = [
  ["?data=fixture#/shop", DECK_READY],
  ["?data=fixture&explore", "html[data-front-ready]"],
  ["?data=fixture&explore#/journal-ratio", DECK_READY],
  ["?data=fixture&view=scroll#/shop", DECK_READY],
  ["?data=fixture&view=print", "html[data-charts-ready]"],
];
let deck;
let site;

/**
 * Records every request of a page, its frames and the windows that it opens.
 * @param {import("playwright-core").BrowserContext} context
 * @returns {{addresses: string[], foreign: (within: string) => string[]}} `foreign` gives those that leave `within`
 */
function recordRequests(context) {
  const addresses = [];
  context.on("request", (request) => addresses.push(request.url()));
  context.on("page", (page) => page.on("websocket", (socket) => addresses.push(socket.url())));
  return {
    addresses,
    foreign: (within) =>
      addresses.filter((address) => !address.startsWith(within) && !/^(?:data|blob|about):/.test(address)),
  };
}

before(async () => {
  deck = await startDeck();
  site = await startFixtureSite({ preview: false });
});
after(async () => {
  await site?.close();
  await deck?.close();
});

const PLACES = {
  // every-slide.test.js goes through the slides on the present server, and notices requests to others.
  "the present server": { urlOf: () => deck.url, slides: false },
  "a static site in a subfolder": { urlOf: () => site.url, slides: true },
};

for (const [place, { urlOf, slides }] of Object.entries(PLACES))
  test(`every view of the deck on ${place} sends no request elsewhere`, async () => {
    const context = await deck.browser.newContext({
      viewport: { width: 1280, height: 720 },
      reducedMotion: "reduce",
    });
    const { addresses, foreign } = recordRequests(context);
    for (const [view, ready] of VIEWS) {
      const page = await context.newPage();
      await page.goto(`${urlOf()}${view}`);
      await page.waitForSelector(ready);
      await page.evaluate(() => window.replay.charts.ready());
      await page.close();
    }
    const page = await context.newPage();
    await page.goto(`${urlOf()}${VIEWS[0][0]}`);
    await page.waitForSelector(DECK_READY);
    if (slides) {
      // The print view has asked for every chart's file; what a slide asks for when it is shown comes now.
      const { ids } = await lookAtEachSlide(page, []);
      await page.evaluate(() => window.replay.charts.ready());
      assert.ok(ids.length > 40, `only ${ids.length} slides were shown`);
    }
    await openSpeakerView(page);
    await context.close();

    assert.deepEqual([...new Set(foreign(urlOf()))], []);
    assert.ok(addresses.some((address) => address.endsWith(".csv")));
    const asksForNews = addresses.some((address) => address.includes("__replay"));
    assert.equal(asksForNews, place === "the present server", "only the present server has news to tell");
  });

test("both places forbid foreign scripts, and everything from elsewhere", async () => {
  for (const { urlOf } of Object.values(PLACES)) {
    const html = await (await fetch(urlOf())).text();
    const [, written = ""] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
    const policy = written.replaceAll("&#39;", "'");
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self' 'sha256-/);
    assert.match(policy, /connect-src 'self'/);
    assert.doesNotMatch(policy, /script-src[^;]*'unsafe|https?:|\*/);
    assert.doesNotMatch(html, /(?:src|href)="(?:https?:)?\/\//, "an address that is not of this place");
  }
});
