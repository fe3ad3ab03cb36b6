/** What only a browser sees: whether each slide, at each of its steps, has all of its texts on the stage and readable. */
/* global document -- in functions that run in the page */

import { launchChromium } from "../chromium.js";
import { startPresentServer } from "../server.js";
import { showSlide } from "../show-slide.js";
import { chartTextProblems, layoutProblems } from "./layout.js";

const STAGE = { width: 1280, height: 720 };

/**
 * Shows every slide of every cut in Chromium.
 * @param {{cuts: number[], data: string|null}} talk   cuts: in minutes; data: the data set to show instead of the talk's own
 * @returns {Promise<{id: string, message: string}[]>} each problem once, with its slide
 * @throws {Error} when there is no Chromium, or the deck does not open
 */
export async function stageProblems({ cuts, data }) {
  const server = await startPresentServer({ port: 0, data, followSources: false });
  try {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage({ viewport: STAGE, reducedMotion: "reduce" });
      const messagesById = new Map();
      for (const cut of cuts) {
        const address = new URL(server.url);
        address.searchParams.set("cut", String(cut));
        await page.goto(address.href);
        await page.waitForSelector("html[data-deck-ready]");
        for (const [position, { id, steps }] of (await page.evaluate(slidesOfDeck)).entries()) {
          // That a slide has no id is a problem of its text.
          if (id === "" || messagesById.has(id)) continue;
          const messages = new Set();
          for (const step of steps) {
            await page.evaluate(showSlide, { position, step });
            for (const look of [layoutProblems, chartTextProblems])
              for (const text of await page.evaluate(look, id)) messages.add(text.slice(id.length + 2));
          }
          messagesById.set(id, messages);
        }
      }
      return [...messagesById].flatMap(([id, messages]) => [...messages].map((message) => ({ id, message })));
    } finally {
      await browser.close();
    }
  } finally {
    await server.close();
  }
}

/** Each slide and the steps that it is shown in, from -1: nothing revealed yet. Runs in the page. */
function slidesOfDeck() {
  return [...document.querySelectorAll(".slides section:not(.stack)")].map((slide) => {
    const indices = [...slide.querySelectorAll(".fragment")].map((fragment) =>
      Number(fragment.dataset.fragmentIndex ?? 0),
    );
    return { id: slide.id, steps: [-1, ...new Set(indices)].sort((a, b) => a - b) };
  });
}
