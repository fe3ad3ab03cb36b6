/**
 * The panel about a slide's charts (key I): what each chart says, its files, the attempts behind it, the commands that
 * measure it again, and buttons to copy it. A modal dialog: focus stays in it, and Escape or I closes it.
 */

import { copyPicture, copyText, save } from "../page/copying.js";
import { button, element } from "../page/elements.js";

const make = (...given) => element(document, ...given);

/**
 * @typedef {{title: string, sentence: string, origin: string, link: string, citation: string, embed: string|null, csv: {url: string, name: string}|null,
 *            runs: string|null, attempts: ReturnType<typeof import("./commands.js").attemptsBehind>,
 *            commands: {title: string, command: string, then?: string}[], picture: (() => Promise<Blob>)|null}} About
 */

/**
 * Opens the dialog, unless one is open. Closing the dialog removes it.
 * @param {About[]} charts   of one slide, in its order
 * @param {{at: number, fetchFile: typeof fetch}} options   at: which is scrolled to
 */
export function openPanel(charts, { at, fetchFile }) {
  // Whoever presses the key again while this module is fetched still gets one dialog.
  if (document.querySelector("dialog.chart-panel[open]")) return;
  const status = make("p", { class: "panel-status", role: "status" });
  const say = (text) => {
    status.textContent = text;
  };
  const dialog = make("dialog", { class: "chart-panel", "aria-labelledby": "chart-panel-title" });
  const close = button(document, { class: "close", "aria-label": "Close" }, "×", () => dialog.close());
  const many = charts.length > 1;
  const sections = charts.map((chart, position) =>
    sectionOf(chart, { say, fetchFile, id: `chart-panel-${position + 1}` }),
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
  dialog.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (key.toLowerCase() !== "i" || ctrlKey || metaKey || altKey) return;
    // Beyond the dialog the same key opens one.
    event.stopPropagation();
    dialog.close();
  });
  dialog.addEventListener("click", (event) => {
    // A click on the backdrop counts as a click on the dialog, and should close it.
    if (event.target === dialog) dialog.close();
  });
  const before = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    before?.focus?.({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  if (at > 0) sections[at]?.scrollIntoView({ block: "start" });
}

function sectionOf(chart, { say, fetchFile, id }) {
  const row = (title, ...content) => [make("dt", {}, title), make("dd", {}, ...content)];
  const copy = (...given) => copyButton(...given, say);
  return make(
    "section",
    { id },
    make("h3", {}, chart.title),
    make("p", { class: "sentence" }, chart.sentence),
    make(
      "dl",
      {},
      ...row("Measured", chart.origin),
      ...(chart.csv ? row("Data", ...dataRow(chart, { say, fetchFile })) : []),
      ...(chart.attempts ? row("Attempts behind it", ...attemptsRow(chart, fetchFile)) : []),
      ...chart.commands.flatMap(({ title, command, then = null }) =>
        row(
          title,
          ...[commandElement(command), " ", copy(title, command, "Command copied.")],
          then === null ? null : make("span", { class: "then" }, ` ${then}`),
        ),
      ),
      ...(chart.picture ? row("Picture", ...pictureRow(chart, say)) : []),
      ...row(
        "Address",
        ...[make("a", { href: chart.link }, "This chart"), " "],
        copy("address of this chart", chart.link, "Address copied."),
      ),
      ...row(
        "To cite it",
        ...[chart.citation, " ", copy("line to cite this chart", chart.citation, "Line copied.")],
      ),
      ...(chart.embed
        ? row(
            "To show it elsewhere",
            ...[chart.embed, " ", copy("frame of this chart", chart.embed, "Line copied.")],
          )
        : []),
    ),
  );
}

function dataRow({ csv }, { say, fetchFile }) {
  return [
    make("a", { href: csv.url, download: csv.name }, csv.name),
    " ",
    button(document, {}, "Copy CSV", () => tell(say, copyCsv(csv, fetchFile))),
  ];
}

function attemptsRow({ runs, attempts }, fetchFile) {
  const every = runs ? make("a", { href: runs, download: "" }, "Every run behind the points") : null;
  if (!attempts.tidy) return [attempts.text, every && make("br"), every];
  const tidy = make("span", {}, make("code", {}, attempts.tidy));
  // Not every server offers the file: link it only if it exists.
  linkWhereThere(tidy, attempts.tidy, fetchFile);
  return [
    attempts.text,
    make("br"),
    ...(every ? [every, "; "] : []),
    "all attempts of the experiment: ",
    tidy,
    "; raw output: ",
    make("code", {}, attempts.raw),
  ];
}

async function linkWhereThere(place, address, fetchFile) {
  try {
    const { ok } = await fetchFile(address, { method: "HEAD" });
    if (!ok) return;
  } catch {
    // Without a server there is nothing to link; the path is already shown.
    return;
  }
  place.append(make("a", { href: address, download: "" }, ...place.childNodes));
}

function copyButton(what, text, words, say) {
  return button(document, { "aria-label": `Copy: ${what}` }, "Copy", () =>
    tell(say, copied(copyText(text), words)),
  );
}

/** Lets a command wrap only between its words: a browser would also wrap after a dash. */
function commandElement(command) {
  const words = command.split(" ").map((word) => make("span", {}, word));
  return make("code", { class: "command" }, ...words.flatMap((word, at) => (at ? [" ", word] : [word])));
}

function pictureRow({ picture, csv }, say) {
  const name = `${csv ? csv.name.replace(/\.csv$/, "") : "chart"}.png`;
  return [
    button(document, {}, "Copy picture", () => tell(say, copyPng(picture))),
    " ",
    button(document, {}, "Save picture", () =>
      tell(
        say,
        picture().then((blob) => {
          save(blob, name);
          return `${name} saved to your downloads.`;
        }),
      ),
    ),
  ];
}

/**
 * Copies a chart's file as it is.
 * @param {{url: string, name: string}|null} file   null for data written on the slide
 * @returns {Promise<string>} a message about the result
 */
export async function copyCsv(file, fetchFile, page = document) {
  if (file === null) return "This chart has no CSV file: its data are written on the slide.";
  const { url, name } = file;
  const response = await fetchFile(url, { cache: "no-cache" });
  if (!response.ok) throw new Error(`${name} could not be read: the server answered ${response.status}`);
  return copied(copyText(await response.text(), page), `${name} copied.`, "Download the file instead");
}

/**
 * Copies a chart as a picture, or says what to do if the browser cannot copy pictures.
 * @param {() => Promise<Blob>} picture
 * @param {{where?: string, page?: Document}} options   where: how to reach the button that saves it
 */
export async function copyPng(picture, { where = "", page = document } = {}) {
  const done = await copyPicture(await picture(), page);
  return done
    ? "Picture copied."
    : `Your browser cannot copy pictures here. Save the picture instead${where}.`;
}

async function copied(outcome, words, instead = "Select the text and copy it with the keyboard") {
  return (await outcome) ? words : `Your browser blocked copying. ${instead}.`;
}

async function tell(say, outcome) {
  try {
    say(await outcome);
  } catch (error) {
    console.error(error);
    say(`That failed: ${error.message}.`);
  }
}
