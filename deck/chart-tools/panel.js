/**
 * About the charts of a slide (key I): what each says, its files, the attempts behind it, the commands that measure it
 * again, and copies to take away. A modal dialog: the focus stays in it, and Escape closes it.
 */

import { copyPicture, copyText, save } from "../page/copying.js";
import { button, element } from "../page/elements.js";

/**
 * @typedef {{title: string, sentence: string, origin: string, link: string, csv: {url: string, name: string}|null,
 *            runs: string|null, attempts: {text: string, tidy: string, raw: string}|null,
 *            commands: {title: string, command: string, then?: string}[], picture: (() => Promise<Blob>)|null}} About
 */

/**
 * Opens the dialog; it is taken away when it closes.
 * @param {About[]} charts   of one slide, in its order
 * @param {{at?: number, page?: Document, fetchFile?: typeof fetch}} options   at: which is scrolled to
 * @returns {HTMLDialogElement}
 */
export function openPanel(charts, { at = 0, page = document, fetchFile = (...args) => fetch(...args) } = {}) {
  const make = (...given) => element(page, ...given);
  const status = make("p", { class: "panel-status", role: "status" });
  const say = (text) => {
    status.textContent = text;
  };
  const dialog = make("dialog", { class: "chart-panel", "aria-labelledby": "chart-panel-title" });
  const close = button(page, { class: "close", "aria-label": "Close" }, "×", () => dialog.close());
  const many = charts.length > 1;
  const sections = charts.map((chart, position) =>
    sectionOf(chart, { page, say, fetchFile, id: `chart-panel-${position + 1}` }),
  );
  dialog.append(
    make(
      "header",
      {},
      make("h2", { id: "chart-panel-title" }, many ? "About these charts" : "About this chart"),
      close,
    ),
    make("div", { class: "panel-body" }, ...sections),
    status,
  );
  dialog.addEventListener("click", (event) => {
    // What surrounds the dialog belongs to it, too: a click there is meant to leave.
    if (event.target === dialog) dialog.close();
  });
  const before = page.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    before?.focus?.({ preventScroll: true });
  });
  page.body.append(dialog);
  dialog.showModal();
  if (at > 0) sections[at]?.scrollIntoView({ block: "start" });
  return dialog;
}

function sectionOf(chart, { page, say, fetchFile, id }) {
  const make = (...given) => element(page, ...given);
  const row = (title, ...content) => [make("dt", {}, title), make("dd", {}, ...content)];
  return make(
    "section",
    { id },
    make("h3", {}, chart.title),
    make("p", { class: "sentence" }, chart.sentence),
    make(
      "dl",
      {},
      ...row("Measured", chart.origin),
      ...(chart.csv ? row("Data", ...dataRow(chart, { page, say, fetchFile })) : []),
      ...(chart.attempts ? row("Attempts behind it", ...attemptsRow(chart, { page, fetchFile })) : []),
      ...chart.commands.flatMap((one) => row(one.title, ...commandRow(one, { page, say }))),
      ...(chart.picture ? row("Picture", ...pictureRow(chart, { page, say })) : []),
      ...row("Address", ...addressRow(chart, { page, say })),
    ),
  );
}

function dataRow({ csv }, { page, say, fetchFile }) {
  return [
    element(page, "a", { href: csv.url, download: csv.name }, csv.name),
    " ",
    button(page, {}, "Copy CSV", () => tell(say, copyCsv(csv, fetchFile, page))),
  ];
}

function attemptsRow({ runs, attempts }, { page, fetchFile }) {
  const tidy = element(page, "span", {}, element(page, "code", {}, attempts.tidy));
  // Not every server offers the file: one that is there becomes a link.
  linkWhereThere(tidy, attempts.tidy, fetchFile);
  return [
    attempts.text,
    element(page, "br"),
    ...(runs ? [element(page, "a", { href: runs, download: "" }, "Every run behind the points"), "; "] : []),
    "all attempts of the experiment: ",
    tidy,
    "; raw output: ",
    element(page, "code", {}, attempts.raw),
  ];
}

async function linkWhereThere(place, address, fetchFile) {
  try {
    const { ok } = await fetchFile(address, { method: "HEAD" });
    if (!ok) return;
  } catch {
    // Without a server there is nothing to link; the path stands there already.
    return;
  }
  const link = element(place.ownerDocument, "a", { href: address, download: "" });
  link.append(...place.childNodes);
  place.append(link);
}

function commandRow({ title, command, then = null }, { page, say }) {
  return [
    commandElement(command, page),
    " ",
    button(page, { "aria-label": `Copy: ${title}` }, "Copy", () =>
      tell(say, copied(copyText(command, page), "The command is copied.")),
    ),
    then === null ? null : element(page, "span", { class: "then" }, ` ${then}`),
  ];
}

/** Lines of a command end between its words only: a browser would end them after a dash, too. */
function commandElement(command, page) {
  const words = command.split(" ").map((word) => element(page, "span", {}, word));
  return element(
    page,
    "code",
    { class: "command" },
    ...words.flatMap((word, at) => (at ? [" ", word] : [word])),
  );
}

function pictureRow({ picture, csv }, { page, say }) {
  const name = `${csv ? csv.name.replace(/\.csv$/, "") : "chart"}.png`;
  return [
    button(page, {}, "Copy picture", () => tell(say, copyPng(picture, page))),
    " ",
    button(page, {}, "Save picture", () =>
      tell(
        say,
        picture().then((blob) => {
          save(blob, name, page);
          return `${name} is in your downloads.`;
        }),
      ),
    ),
  ];
}

function addressRow({ link }, { page, say }) {
  return [
    element(page, "a", { href: link }, "This chart"),
    " ",
    button(page, { "aria-label": "Copy: address of this chart" }, "Copy", () =>
      tell(say, copied(copyText(link, page), "The address is copied.")),
    ),
  ];
}

/**
 * Copies a chart's file as it is.
 * @param {{url: string, name: string}|null} file   null for data that stand on the slide
 * @returns {Promise<string>} what to tell
 */
export async function copyCsv(file, fetchFile = (...args) => fetch(...args), page = document) {
  if (file === null) return "The data of this chart stand on the slide; it has no file.";
  const { url, name } = file;
  const response = await fetchFile(url, { cache: "no-cache" });
  if (!response.ok) throw new Error(`${name} cannot be read: the server answered ${response.status}`);
  return copied(copyText(await response.text(), page), `${name} is copied.`);
}

/** Copies a chart as a picture; where the browser does not let pictures be copied, saying what does work. */
export async function copyPng(picture, page = document) {
  const done = await copyPicture(await picture(), page);
  return done ? "The picture is copied." : "This browser does not copy pictures here; save it instead.";
}

async function copied(outcome, words) {
  return (await outcome) ? words : "Copying was refused; select the text and copy it with the keyboard.";
}

async function tell(say, outcome) {
  try {
    say(await outcome);
  } catch (error) {
    console.error(error);
    say(`That did not work: ${error.message}.`);
  }
}
