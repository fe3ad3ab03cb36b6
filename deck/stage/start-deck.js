/** Starts the slides: texts, the cut, keys, and then the charts. */

import Reveal from "reveal.js";

import { makeReadable } from "./accessibility.js";
import { makeSteps } from "../chart-tools/steps.js";
import { lacksData } from "../text/lacking.js";
import { describeCells } from "../text/stacked-tables.js";
import { writeTalkFacts } from "../text/talk-facts.js";
import { applyCut, redirected, removeSlides, withoutData } from "./cut.js";
import { Bindings } from "./bindings.js";
import { Echo, toldByStage } from "./echo.js";
import { stageKeys } from "./keys.js";
import { layOutAhead } from "./lay-out-ahead.js";
import { PHONE_CHARTS, phoneQuery, revealOptions } from "./reveal-options.js";
import { dressSlideNumber, showMinutes } from "./slide-number.js";
import { SpeakerView } from "./speaker-view.js";

/** The keys of the recorded run, and what each has it do. */
const RUN_KEYS = [
  { code: 87, key: "W", description: "Recorded run: pause or continue", act: "pause" },
  { code: 90, key: "Z", description: "Recorded run: play this slide from the beginning", act: "again" },
  { code: 81, key: "Q", description: "Recorded run: quit and show all data", act: "end" },
];

/**
 * @param {object} given
 * @param {HTMLElement} given.root   `.reveal`, its slides read
 * @param {object} given.mode   from `modeFrom`
 * @param {object} given.material   from `Material`, its data loaded
 * @param {(text: string) => void} given.announce
 * @param {object} given.talk   what slides/<talk>/talk.yaml says of the talk
 * @returns {Promise<{deck: object, charts: object, tools: object, speaker: object, bindings: object, opens: object,
 *                    moved: () => object|null, update: Function}>}
 *   opens: what keys open, by name, to be filled in; moved: the slide in the address, if this cut lacks it;
 *   update: updates the slides, with a predicate for the changed chart files, or null if all data are others
 */
export async function startDeck({ root, mode, material, announce, talk }) {
  const { data, writeTexts } = material;
  const narrow = phoneQuery();
  const flowing = narrow.matches && !mode.receiver && !mode.print;
  const coming = Promise.all([material.chartCode(), material.makeCharts(flowing ? PHONE_CHARTS : {})]);
  const speaker = SpeakerView(mode, { title: talk.title, absent: () => absent, data });
  const opens = {};
  let deck = null;
  let absent = new Map();
  let moved = null;
  /** A promise of the tables and the like. */
  let written = null;
  /** Resolves when the first slide's charts are there: what these do not need does not keep them waiting. */
  let begin;
  const begun = mode.print ? null : new Promise((resolve) => (begin = resolve));
  /** The address before reveal changes it. */
  let asked = "";

  /** Before reveal counts its slides. */
  function prepareSlides() {
    makeSteps(root);
    written = writeTexts(root, begun);
    writeTalkFacts(root, talk);
    // The windows of a talk tell each other a slide by its number, so a preview leaves out those that its stage does.
    const onStage = mode.receiver ? JSON.parse(toldByStage("leftOut")) : null;
    const isLeftOut = onStage === null ? (slide) => lacksData(slide, data) : ({ id }) => onStage.includes(id);
    // A reader is told in the chart's place what is missing.
    absent = applyCut(root, mode.cut, mode.explore ? undefined : isLeftOut);
    document.documentElement.dataset.leftOut = JSON.stringify(withoutData(absent));
    if (!mode.appendix) removeSlides(root.querySelectorAll("section[data-visibility=uncounted]"));
    // A row of a table would be wider than a phone, and becomes a card.
    if (flowing) for (const table of root.querySelectorAll("section table")) describeCells(table);
    keepToTheCut();
    asked = location.hash;
    // Registered before reveal's own listener, which would find no such slide.
    addEventListener("hashchange", keepToTheCut);
    // A page is printed with its first layout, tables included.
    return mode.print ? written : null;
  }

  /** The address of a slide that this cut lacks leads to the nearest one. */
  function keepToTheCut(event) {
    // Reveal writes the address of a slide up to a second later, so it may just have written over the one that came.
    if (event && event.newURL !== location.href) history.replaceState(history.state, "", event.newURL);
    const instead = redirected(location.hash, absent);
    if (instead === null) return;
    history.replaceState(history.state, "", instead.hash);
    moved = instead;
    opens.moved?.(instead);
  }

  const keyboardCondition = stageKeys({ mode, deck: () => deck, opens });
  const plugins = [{ id: "replay-slides", init: prepareSlides }, speaker];
  // For the same reason.
  if (mode.print) plugins.push((await coming)[1]);
  deck = new Reveal(root, revealOptions(mode, { narrow: flowing, keyboardCondition, plugins }));
  const echo = Echo(mode);
  const bindings = Bindings({ deck, echo });
  // While reveal lays the slides out on pages, they are not in the document.
  const laidOut = mode.print
    ? new Promise((resolve) => root.addEventListener("pdf-ready", resolve, { once: true }))
    : null;
  await deck.initialize();
  await laidOut;
  if (!mode.print) layOutAhead(deck);
  const nameSlide = makeReadable(deck);
  dressSlideNumber(deck);
  if (!mode.print) showMinutes(deck, mode);
  const place = () => JSON.stringify(deck.getIndices());
  opens.help = () => {
    const from = place();
    return (
      import("./help.js")
        // Moving on closes the list, also while it is fetched.
        .then(({ toggleHelp }) => place() === from && toggleHelp(mode, bindings.list()))
        .catch((error) => announce(`The list of keys did not open: ${error.message}`))
    );
  };

  const [{ ChartTools }, charts] = await coming;
  const startRun = async () => {
    const { startRecordedRun } = await import("../recorded-run/recorded-run.js");
    return startRecordedRun({ deck, charts, data, seconds: mode.run, announce });
  };
  let run = mode.run === null ? null : await startRun();
  let starting = null;
  /** Without `?run`, the first press on Z fetches it and plays the slide on show; until then, the other keys do nothing. */
  const pressRun = (act) => {
    // Only the stage plays.
    if (mode.receiver) return;
    if (run !== null) run[act]();
    else if (act === "again")
      starting ??= startRun().then((started) => {
        run = started;
      });
  };
  if (!mode.print) {
    await deck.registerPlugin(charts);
    // What a speaker view shows is told to it as soon as it can listen.
    begin(mode.receiver ? null : charts.seen().catch(reportError));
  }
  const drawCodes = async () => {
    const { drawQrCodes, qrTarget } = await import("./qr.js");
    return drawQrCodes(root, qrTarget(talk.address, location));
  };
  if (mode.print) await drawCodes();
  else begun.then(drawCodes);
  if (!mode.explore && !mode.print && !mode.receiver)
    begun.then(async () => deck.registerPlugin((await import("reveal.js/plugin/zoom")).default()));
  const follow = async () => (await import("./phone.js")).followPhone(deck, narrow, asked);
  if (flowing) await follow();
  const tools = ChartTools({ deck, root, charts, data, mode, announce });
  bindings.add(tools.keys, { echoed: !mode.explore });
  if (!mode.print) {
    const keys = RUN_KEYS.map(({ act, ...key }) => ({ ...key, run: () => pressRun(act) }));
    bindings.add(keys, { echoed: true });
  }
  await begun;
  if (!flowing && !mode.receiver && !mode.print) await follow();
  if (!mode.explore && !mode.print) {
    const { PointerSpot } = await import("./pointer-spot.js");
    bindings.add(PointerSpot({ slides: () => deck.getSlidesElement(), echo }).keys);
    if (root.querySelector("[data-chart-bet]")) {
      const { Bets } = await import("./bets.js");
      bindings.add(Bets({ deck, charts, echo }).keys);
    }
  }
  await written;

  return {
    ...{ deck, charts, tools, speaker, bindings, opens },
    moved: () => moved,
    async update(isChanged) {
      await run?.update();
      await writeTexts(root);
      nameSlide();
      if (isChanged === null) await charts.remake();
      else await charts.refresh((slot) => slot.moved || isChanged(slot));
      await tools.update();
      // The speaker view copies a slide's notes whenever the deck sends it a message.
      deck.dispatchEvent({ type: "resumed" });
    },
  };
}
