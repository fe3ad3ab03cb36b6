/**
 * Takes a bundle of somebody's results: one that is dropped on the page, or one that the address names with `?bundle=`. The
 * talk then tells itself with those numbers, in this browser alone. Few bring one, so this code is fetched for those who do.
 */

import { LIMITS, readBundle } from "../data/bundle-file.js";
import { BundleRefused, fetchWith, pathOf } from "../data/bundle.js";
import { CHOOSER } from "./bundle-drop.js";
import { save } from "./copying.js";
import { button, element } from "./elements.js";
import { addressWith } from "./mode.js";
import { showNotice } from "./notice.js";

/** As many characters of a bundle's label as fit into a line. */
const SHOWN_LABEL = 48;

/**
 * Reads the bundle that the page's address names, if it names one.
 * @param {string} search   `location.search`
 * @param {string} here   the page's address
 * @param {typeof fetch} [fetchFile]
 * @returns {Promise<object|null>} null without such a request
 * @throws {BundleRefused}
 */
export async function requestedBundle(search, here, fetchFile = (...args) => fetch(...args)) {
  const wanted = new URLSearchParams(search).get("bundle");
  if (!wanted) return null;
  let url;
  try {
    url = new URL(wanted, here);
  } catch {
    throw new BundleRefused("The bundle that the address names has no valid address.");
  }
  if (url.origin !== new URL(here).origin)
    throw new BundleRefused(
      "The address names a bundle of another site. Only bundles of this site are read: save that file, and drop it here.",
    );
  let response;
  try {
    response = await fetchFile(url.href, { cache: "no-cache" });
  } catch {
    throw new BundleRefused("The bundle that the address names could not be fetched.");
  }
  if (!response.ok || response.body === null)
    throw new BundleRefused("There is no bundle at the address that this page's address names.");
  return readBundle(response.body);
}

/**
 * Has the data on show be the numbers of a bundle, once they are loaded.
 * @throws {BundleRefused} if the talk is frozen
 */
export function showBundle(bundle, data, page = document) {
  const frozen = frozenTo(page);
  if (frozen) throw new BundleRefused(`This talk is frozen to ${frozen}, and shows nothing else.`);
  if (data.bundle === null) saveFromBundle(() => data.bundle, page);
  data.take(bundle, (fetchFile) => fetchWith(bundle, fetchFile, page.baseURI));
}

/** The only data set that the talk shows, if there is one. */
function frozenTo(page) {
  return page.querySelector('meta[name="replay:frozen"]')?.content;
}

/** Nobody but this page has the file. */
const ask = (event) => event.preventDefault();

/**
 * Reads a file that may be a bundle, and says whose numbers are shown then, or why it is none.
 * @param {File} file
 * @param {(bundle: object) => Promise<void>} take   shows it
 */
export async function takeFile(file, take, page = document) {
  try {
    if (file.size > LIMITS.packedBytes)
      throw new BundleRefused(
        `This file has ${Math.ceil(file.size / 2 ** 20)} MiB, which is more than any bundle: it was not read.`,
      );
    const bundle = await readBundle(file.stream());
    await take(bundle);
    tellBundle(bundle, { until: ", until this page is loaded again" }, page);
    page.defaultView.addEventListener("beforeunload", ask);
  } catch (error) {
    tellBundleProblem(error, page);
  }
}

/** A button to choose a bundle, which says that one can be dropped as well; null where the talk takes none. */
export function bundleChooser(page = document) {
  if (frozenTo(page)) return null;
  const input = element(page, "input", { type: "file", class: CHOOSER, accept: ".bundle", hidden: "" });
  const title = "Or drop it anywhere on the page. It stays in this browser.";
  const press = button(page, { title }, "Show my numbers", () => input.click());
  return element(page, "span", { class: "choose-bundle" }, press, input);
}

/** Says why a bundle is not shown. Anything but a refusal is an error of the deck. */
export function tellBundleProblem(error, page = document) {
  if (!(error instanceof BundleRefused)) throw error;
  const kept = told.bundle === null ? "The talk keeps its own data." : "The numbers on show stay.";
  tell("problem", showNotice("The bundle is not shown.", [` ${error.message} ${kept}`], page));
}

/** Says whose numbers are shown, for how long, and how to get back to those of the talk. */
export function tellBundle({ name, label }, { until = " only" } = {}, page = document) {
  const withoutBundle = () => addressWith(page.location.href, { bundle: null });
  const link = element(page, "a", { href: withoutBundle() }, "Show the talk’s own data");
  link.addEventListener("click", (event) => {
    event.preventDefault();
    page.defaultView.removeEventListener("beforeunload", ask);
    // Of the slide that is on show by now.
    const href = withoutBundle();
    // The address may be the same: only reading the page again forgets what was dropped.
    if (page.location.href === href) page.location.reload();
    else page.location.href = href;
  });
  const words = label.length > SHOWN_LABEL ? `${label.slice(0, SHOWN_LABEL)}…` : label;
  const notice = showNotice("Numbers of a bundle,", [` “${words}”, in this browser${until}. `, link], page);
  notice.classList.add("of-bundle");
  notice.title = name;
  tell("problem", null);
  tell("bundle", notice);
}

/** Links to a bundle's tables save them from memory, because no server has them. */
function saveFromBundle(current, page) {
  page.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const bundle = current();
    const path = link && bundle ? pathOf(bundle, link.href, page.baseURI) : null;
    if (path === null || !bundle.files.has(path)) return;
    event.preventDefault();
    save(new Blob([bundle.files.get(path)], { type: "text/csv" }), path.split("/").at(-1), page);
  });
}

/** What is said: whose numbers are shown, and why the last bundle is not. */
const told = { bundle: null, problem: null };

function tell(what, notice) {
  told[what]?.remove();
  told[what] = notice;
}
