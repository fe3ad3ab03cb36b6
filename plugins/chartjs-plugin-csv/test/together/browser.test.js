/** Runs the browser tests in one browser. Each file runs alone as well, which is what `npm test` of this package does. */
import { after, before, describe } from "node:test";
import { BROWSER, lendBrowser, returnBrowser } from "../support/deck.js";
import { TOGETHER } from "./files.js";

if (!BROWSER.skip) {
  before(lendBrowser);
  after(returnBrowser);
}

for (const name of TOGETHER)
  // One after another: what a file defines belongs to the suite that imports it, if no other import is under way.
  await new Promise((resolve) => {
    describe(name, () => import(`../${name}.test.js`).finally(resolve));
  });
