/** Searches the slides' titles, texts, notes and charts. Needs no page. */

import MiniSearch from "minisearch";

const FIELDS = ["title", "chapter", "charts", "text", "notes"];
const MOST = 20;
/** Characters shown before and after a match. */
const BEFORE = 40;
const LENGTH = 140;

/**
 * @param {import("./outline.js").SlideFacts[]} slides
 * @returns {(query: string) => {slide: object, excerpt: {text: string, found: boolean}[]}[]} best first
 */
export function searchIn(slides) {
  const index = new MiniSearch({
    fields: FIELDS,
    searchOptions: {
      boost: { title: 5, chapter: 3, charts: 2 },
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: "AND",
    },
  });
  const byId = new Map(slides.map((slide) => [slide.id, slide]));
  index.addAll([...byId.values()].map((slide) => ({ ...slide, charts: slide.charts.join(" ") })));
  return (query) =>
    index
      .search(query)
      .slice(0, MOST)
      .map(({ id, terms }) => ({ slide: byId.get(id), excerpt: excerptOf(byId.get(id), terms) }));
}

/**
 * The place where a slide matches the query, in parts.
 * @param {{text: string, notes: string}} slide
 * @param {string[]} terms   the words that were found in it
 */
export function excerptOf({ text, notes }, terms) {
  const pattern = patternOf(terms);
  const source = [text, notes].find((words) => pattern.test(words)) ?? text;
  const at = Math.max(0, source.search(pattern) - BEFORE);
  const from = at === 0 ? 0 : source.indexOf(" ", at) + 1;
  const whole = source.length <= from + LENGTH;
  const cut = source.slice(from, whole ? undefined : source.lastIndexOf(" ", from + LENGTH));
  const shown = `${from > 0 ? "… " : ""}${cut}${whole ? "" : " …"}`;
  return partsOf(shown, terms);
}

/** A text split into matches and the parts between them. */
export function partsOf(text, terms) {
  const pattern = patternOf(terms, "g");
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > last) parts.push({ text: text.slice(last, match.index), found: false });
    parts.push({ text: match[0], found: true });
    last = match.index + match[0].length;
  }
  if (last < text.length) parts.push({ text: text.slice(last), found: false });
  return parts;
}

function patternOf(terms, flags = "") {
  const words = terms.filter(Boolean).map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  // Without words nothing matches.
  return new RegExp(words.length ? words.join("|") : "(?!)", `iu${flags}`);
}
