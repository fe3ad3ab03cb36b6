/** Opens the talk: on stage the slides; for a reader whose address names no slide the first page, then the slides. */

import { SlideReader } from "./text/chapters.js";
import { takeDropped } from "./page/bundle-drop.js";
import { modeFrom, talkAddress } from "./page/mode.js";
import { announcer } from "./stage/announce.js";
import { Material } from "./stage/material.js";
import { askForState } from "./stage/speaker-view.js";
import { startDeck } from "./stage/start-deck.js";
import { applyTheme, onThemeChange } from "./page/theme.js";

const page = document.documentElement;
const root = document.querySelector(".reveal");
const meta = (name) => document.querySelector(`meta[name="replay:${name}"]`)?.content ?? null;

const { hash, search } = location;
// What slides/<talk>/talk.yaml says of the talk: scripts/deck/talk-page.js.
const talk = JSON.parse(document.getElementById("talk").textContent);
const elsewhere = talkAddress(location.href, talk);
const embedded = document.getElementById("embedded");
// A talk's look may name another font. One that does not come is no reason to show nothing.
const font = getComputedStyle(page).getPropertyValue("--font");
const fonts = Promise.allSettled(
  ["400", "700"].map((weight) => document.fonts.load(`${weight} 20px ${font}`)),
);
if (elsewhere !== null) location.replace(elsewhere);
else if (embedded !== null) {
  const { showEmbedded } = await import("./front-page/embedded.js");
  const asked = new URLSearchParams(search).get("theme");
  const theme = ["light", "dark"].includes(asked) ? asked : null;
  // A chart measures its texts when it is drawn.
  await fonts;
  await showEmbedded(embedded.textContent, { talk, usual: meta("data-set"), theme });
} else await open();

async function open() {
  const mode = modeFrom(search, { published: meta("published") !== null, hash, talk });
  page.classList.toggle("explore", mode.explore);
  page.classList.toggle("on-stage", !mode.explore && !mode.receiver && !mode.print);
  applyTheme(mode);

  const frozen = meta("frozen");
  const material = Material({ search, usual: meta("data-set"), frozen, mode, talk });
  const { data, makeCharts, writeTexts } = material;
  const readSlides = SlideReader({ rendered: meta("rendered") !== null });
  const bundles = () => import("./page/bundle-taking.js");
  let refused = null;
  if (new URLSearchParams(search).has("bundle"))
    try {
      const { requestedBundle, showBundle } = await bundles();
      const bundle = await requestedBundle(search, location.href);
      if (bundle) showBundle(bundle, data);
    } catch (error) {
      refused = error;
    }
  // The first page reads two chapters itself, and the reader may never open the slides.
  await Promise.all([data.load(), fonts, mode.front ? null : readSlides(root)]);
  if (mode.problems.length > 0 || data.problem) {
    const { showDataSetProblem, showNotice } = await import("./page/notice.js");
    for (const problem of mode.problems) showNotice(problem);
    const { problem, dataSet: shown, available } = data;
    if (problem) showDataSetProblem({ problem, shown, available, frozen: frozen !== null });
  }

  if (refused) (await bundles()).tellBundleProblem(refused);
  if (data.bundle) (await bundles()).tellBundle(data.bundle);

  const news = meta("events");
  const following = news ? import("./stage/follow-news.js").then(follow) : null;
  /** What is on the page, or soon will be: the first page, then the slides. News waits until it is there. */
  let shown = mode.front ? showFirstPage() : showSlides();
  onThemeChange(async () => (await shown).restyle());
  if (!mode.receiver && !mode.print) takeDropped(showFile);

  async function update(isChanged) {
    await (await shown).update(isChanged);
  }

  function follow({ followNews }) {
    followNews(news, data, update);
  }

  async function showFile(file) {
    const { showBundle, takeFile } = await bundles();
    await takeFile(file, async (bundle) => {
      showBundle(bundle, data);
      await data.load();
      // Their axes and names may be others, too.
      await update(null);
    });
  }

  async function showFirstPage() {
    const { showFrontPage } = await import("./front-page/front-page.js");
    return showFrontPage({ root, readSlides, makeCharts, writeTexts, data, talk });
  }

  async function showSlides() {
    const announce = announcer();
    const stage = await startDeck({ root, mode, material, announce, talk });
    const slides = { stage, update: stage.update, restyle: () => stage.charts.restyle() };
    if (!mode.explore) return slides;
    const { showReader } = await import("./reader/reader.js");
    const reader = showReader({ stage, mode, announce });
    return {
      ...slides,
      async update(isChanged) {
        await stage.update(isChanged);
        reader.update();
      },
    };
  }

  if (mode.front) {
    const front = await shown;
    window.replay = { front, charts: front.charts, data };
    await front.left;
    shown = readSlides(root).then(showSlides);
  }
  const { stage } = await shown;
  const { deck, charts } = stage;

  // For tests and the console.
  window.replay = { deck, charts, data, mode, stage };
  await following;
  page.dataset.deckReady = "true";
  if (mode.receiver) askForState();
  // A speaker expects a window on the first press of S; if this fails, that press reports it.
  if (!mode.explore) setTimeout(() => stage.speaker.prepare().catch(() => {}), 1500);
}
