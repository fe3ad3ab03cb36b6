/**
 * Who the deck is open for, and what its address asks for. Pure.
 *
 * A deck has two modes. **On stage** there are no controls, and no key opens a menu: a wrong key in front of an audience
 * must not need a mouse to undo. **For a reader** (`?explore`, and every published site) there are a table of contents, a
 * search, and tools next to each chart.
 */

import { isDataSetName } from "../data/data-set.js";

/** The default length of a recorded run, and the limits for the address. */
const RUN_SECONDS = { usual: 60, least: 5, most: 3600 };
const THEMES = ["light", "dark"];

/**
 * @param {string} search   `location.search`
 * @param {{published?: boolean, hash?: string, talk: object}} page
 *   published: the site was built for readers; hash: `location.hash`; talk: what scripts/deck/talk-page.js told of it
 * @returns {{explore: boolean, receiver: boolean, print: boolean, front: boolean, readerPage: boolean, cut: number, cuts: number[], others: object[], appendix: boolean,
 *            run: number|null, compare: string|null, theme: string|null, problems: string[]}}
 *   explore: the reader's controls are shown; receiver: this page is a preview in the speaker view; front: the reader's first
 *   page comes before the slides; readerPage: the talk has such a page; cut: in minutes; others: talks beside this one, `{name, title, page}`; appendix: whether it is shown; run: seconds of a recorded run; problems: a sentence for each
 *   request in the address that cannot be met
 */
export function modeFrom(search, { published = false, hash = "", talk }) {
  const { cuts, readerPage } = talk;
  const query = new URLSearchParams(search);
  const problems = talkProblems(query.get("talk"), talk);
  const receiver = query.has("receiver");
  const print = query.get("view") === "print" || query.has("print-pdf");
  const reader = (published || query.has("explore")) && !query.has("stage");
  const explore = reader && !receiver && !print;
  const run = receiver || print ? null : runSeconds(query.get("run"), problems);
  return {
    explore,
    receiver,
    print,
    front: explore && readerPage && !hash.startsWith("#/"),
    readerPage,
    cut: cutOf(query.get("cut"), cuts, problems),
    cuts,
    others: talk.others,
    appendix: !(print && query.has("no-appendix")),
    run,
    compare: query.get("compare") || null,
    theme: THEMES.find((theme) => theme === query.get("theme")) ?? null,
    problems,
  };
}

/** The address of the talk that `?talk=NAME` asks for, if that is another one with a page beside this one; else null. */
export function talkAddress(href, { others }) {
  const asked = new URL(href).searchParams.get("talk");
  const other = others.find(({ name }) => name === asked);
  if (other === undefined) return null;
  const address = new URL(addressWith(href, { talk: null }));
  address.pathname = address.pathname.replace(/[^/]*$/, other.page);
  return address.href;
}

function talkProblems(asked, { name, others }) {
  const known = [name, ...others.map((other) => other.name)];
  return asked === null || known.includes(asked)
    ? []
    : [`There is no talk “${shown(asked)}” here. Available: ${known.join(", ")}.`];
}

/** The page's address with other parameters: `null` removes one, `""` sets it without a value. */
export function addressWith(address, changes) {
  const url = new URL(address);
  for (const [word, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(word);
    else url.searchParams.set(word, value);
  }
  // `?explore=` and `?explore` mean the same; only the shorter one is documented.
  // Only after a name: without its `=`, a parameter without a name would be lost.
  url.search = url.search.replace(/(?<=[^?&])=(?=&|$)/g, "");
  return url.href;
}

function cutOf(value, cuts, problems) {
  const [usual] = cuts;
  if (value === null || value === "") return usual;
  const minutes = cuts.find((cut) => String(cut) === value);
  if (minutes === undefined) {
    const known = cuts.toSorted((a, b) => a - b).join(" or ");
    problems.push(`There is no “${shown(value)}”-minute cut of the talk. Available: ${known} minutes.`);
  }
  return minutes ?? usual;
}

function runSeconds(value, problems) {
  if (value === null) return null;
  if (value === "") return RUN_SECONDS.usual;
  const seconds = Number(value);
  const { least, most, usual } = RUN_SECONDS;
  if (seconds >= least && seconds <= most) return seconds;
  problems.push(
    `A recorded run can take ${least} to ${most} seconds, not “${shown(value)}”; using ${usual}.`,
  );
  return usual;
}

/** A word from the address, shortened and cleaned for display. */
function shown(value) {
  return isDataSetName(value) ? value : "?";
}
