/** The deck's page, index.html, with what slides/<talk>/talk.yaml says of the talk in its places; one for each talk. Pure. */

import { escapeHtml } from "./text/escape.js";

/** How a chapter's text is parted into slides, and a slide's note from it: reveal's attributes. */
export const SEPARATORS = { horizontal: "^\\n\\n\\n", vertical: "^\\n\\n", notes: "^<!-- Note -->" };
/** The reader's page has sections, one below another. */
export const READER_SEPARATORS = { horizontal: "^\\n\\n", vertical: null, notes: "^<!-- Note -->" };

/** Attributes of the meta element that tells the page that its slides lie beside it as HTML. */
export const RENDERED_MARK = { name: "replay:rendered", content: "true" };

const PLACES = {
  head: "<!-- talk: title, description, data set, accent -->",
  chapters: "<!-- talk: chapters -->",
  reader: "<!-- talk: reader's page -->",
};

/**
 * @param {string} html   index.html
 * @param {import("./talk-file.js").TalkFile} talk
 * @param {object} told   what the deck's code gets of the talk, as `talkForPage` returns it
 * @returns {string}
 * @throws {Error} if the page lacks one of the places
 */
export function talkPage(html, talk, told) {
  const written = {
    head: headOf(talk, told),
    chapters: talk.chapters.map((file) => chapterElement(file)).join("\n        "),
    reader: talk.readerPage === null ? "" : readerTemplate(talk.readerPage),
  };
  const filled = Object.entries(PLACES).reduce((page, [name, place]) => {
    if (page.split(place).length !== 2) throw new Error(`index.html does not have ${place} once`);
    return page.replace(place, () => written[name]);
  }, html);
  return withLook(filled, talk.look.style);
}

/** The page with the talk's own styles, after those of the deck. */
export function withLook(html, style) {
  const link = `<link rel="stylesheet" href="${escapeHtml(style ?? "")}" />`;
  return style === null ? html : html.replace("</head>", () => `  ${link}\n  </head>`);
}

/** The file of the page of a talk that is not the first of its site. */
export function talkPageFile(name) {
  return `talk-${name}.html`;
}

/** The element of a chapter; its text is fetched when the page opens. */
export function chapterElement(file, { horizontal, vertical, notes } = SEPARATORS) {
  const parted = vertical === null ? "" : ` data-separator-vertical="${vertical}"`;
  return `<section data-markdown="${escapeHtml(file)}" data-separator="${horizontal}"${parted} data-separator-notes="${notes}"></section>`;
}

/** The element of the reader's page. */
export function readerElement(file) {
  return chapterElement(file, READER_SEPARATORS);
}

/** In a template, so that it is no slide (deck/front-page/). */
function readerTemplate(file) {
  return `<template id="front-page">${readerElement(file)}</template>`;
}

function headOf({ title, description, dataSet, accent: { light, dark, inverse } }, told) {
  return [
    `<title>${escapeHtml(title)}</title>`,
    `<meta name="description" content="${escapeHtml(description)}" />`,
    // The data set whose manifest fills the sentences when the address names none with ?data=.
    `<meta name="replay:data-set" content="${escapeHtml(dataSet)}" />`,
    `<style>:root { --accent: light-dark(${light}, ${dark}); --accent-inverse: light-dark(${inverse}, ${dark}); }</style>`,
    `<script type="application/json" id="talk">${JSON.stringify(told).replaceAll("<", "\\u003c")}</script>`,
  ].join("\n    ");
}

/**
 * What the deck's code gets of the talk.
 * @param {import("./talk-file.js").TalkFile} talk
 * @param {{repository: string, address: string, version: string}} facts   repository: where the talk can be cloned; address: where its QR
 *   code leads; "" where nobody said; version: of Replay, to cite
 * @param {{name: string, title: string, page: string}[]} [others]   the talks beside this one, and the files of their pages
 * @returns {{name: string, title: string, speaker: string, event: string, date: string, contact: string,
 *            repository: string, address: string, version: string, cuts: number[], readerPage: boolean, otherDataSets: string[],
 *            series: Record<string, string[]>, others: {name: string, title: string, page: string}[],
 *            logo: {light: string, dark: string, title: string}|null}}
 *   cuts: in minutes, the usual one first; readerPage: whether there is one; otherDataSets: those of single slides
 */
export function talkForPage(talk, { repository, address, version }, others = []) {
  const { name, title, speaker, event, date, contact, otherDataSets, series, look } = talk;
  const cuts = talk.cuts.map(({ minutes }) => minutes);
  return {
    ...{ name, title, speaker, event, date, contact, repository, address, version },
    ...{ cuts, readerPage: talk.readerPage !== null, otherDataSets, series, others, logo: look.logo },
  };
}
