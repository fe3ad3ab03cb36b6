/**
 * For whom the deck is open, and what its address asks for. Pure.
 *
 * A deck is shown in one of two ways. **On stage** there are no controls, and no key that opens something to choose from: a
 * slip of the finger in front of an audience must not need a mouse to get out of. **To a reader** (`?explore`, and every
 * published site) it has a table of contents, a search, and tools beside each chart.
 */

import { isDataSetName } from "../data/data-set.js";

/** How long the talk is when the address does not say, in minutes. */
export const USUAL_CUT = 40;
export const CUTS = [20, USUAL_CUT];
/** How long a recorded run takes when the address does not say, and what it may be told. */
const RUN_SECONDS = { usual: 60, least: 5, most: 3600 };
const THEMES = ["light", "dark"];

/**
 * @param {string} search   `location.search`
 * @param {{published?: boolean, hash?: string}} page   published: the site was built for readers; hash: `location.hash`
 * @returns {{explore: boolean, receiver: boolean, print: boolean, front: boolean, cut: number|null, run: number|null,
 *            compare: string|null, theme: string|null, problems: string[]}}
 *   explore: the reader's controls are shown; receiver: this page is a preview in the speaker view; front: the reader's first
 *   page comes before the slides; cut: in minutes; run: seconds of a recorded run; problems: what the address asks for that
 *   cannot be had, a sentence each
 */
export function modeFrom(search, { published = false, hash = "" } = {}) {
  const query = new URLSearchParams(search);
  const problems = [];
  const receiver = query.has("receiver");
  const print = query.get("view") === "print" || query.has("print-pdf");
  const reader = (published || query.has("explore")) && !query.has("stage");
  const explore = reader && !receiver && !print;
  const run = receiver || print ? null : runSeconds(query.get("run"), problems);
  return {
    explore,
    receiver,
    print,
    front: explore && !hash.startsWith("#/"),
    cut: cutOf(query.get("cut"), problems),
    run,
    compare: query.get("compare") || null,
    theme: oneOf(THEMES, query.get("theme")),
    problems,
  };
}

/** The address of the same page in another way: `null` removes a word, `""` sets it without a value. */
export function addressWith(address, changes) {
  const url = new URL(address);
  for (const [word, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(word);
    else url.searchParams.set(word, value);
  }
  // `?explore=` and `?explore` are the same to a page; the shorter one is the one that is documented.
  // Only behind a name: without its `=`, a word without a name would be lost.
  url.search = url.search.replace(/(?<=[^?&])=(?=&|$)/g, "");
  return url.href;
}

function cutOf(value, problems) {
  if (value === null || value === "") return null;
  const minutes = CUTS.find((cut) => String(cut) === value);
  if (minutes === undefined)
    problems.push(`There is no cut of “${shown(value)}” minutes; the talk is cut to ${CUTS.join(" or ")}.`);
  return minutes ?? null;
}

function runSeconds(value, problems) {
  if (value === null) return null;
  if (value === "") return RUN_SECONDS.usual;
  const seconds = Number(value);
  const { least, most, usual } = RUN_SECONDS;
  if (seconds >= least && seconds <= most) return seconds;
  problems.push(
    `A recorded run takes ${least} to ${most} seconds, not “${shown(value)}”; it takes ${usual} now.`,
  );
  return usual;
}

function oneOf(words, value) {
  return words.includes(value) ? value : null;
}

/** A word from the address, short and plain enough to be repeated. */
function shown(value) {
  return isDataSetName(value) ? value : "?";
}
