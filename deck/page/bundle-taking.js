/**
 * Takes a bundle of somebody's results: one that is dropped on the page, or one that the address names with `?bundle=`. The
 * talk then tells itself with those numbers, in this browser alone.
 */

import { BundleRefused, LIMITS, pathOf, readBundle } from "../data/bundle.js";
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
 * Takes every bundle that is dropped on the page.
 * @param {(bundle: object) => Promise<void>} take   shows it
 */
export function takeDropped(take, page = document) {
  page.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  page.addEventListener("drop", async (event) => {
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    // Without this the browser would leave the talk and open the file.
    event.preventDefault();
    try {
      if (file.size > LIMITS.packedBytes)
        throw new BundleRefused(
          `This file has ${Math.ceil(file.size / 2 ** 20)} MiB, which is more than any bundle: it was not read.`,
        );
      await take(await readBundle(file.stream()));
    } catch (error) {
      tellBundleProblem(error, page);
    }
  });
}

/** Says why a bundle is not shown. Anything but a refusal is an error of the deck. */
export function tellBundleProblem(error, page = document) {
  removeNotice(page);
  if (!(error instanceof BundleRefused)) throw error;
  keepNotice(
    showNotice("The bundle is not shown.", [` ${error.message} The talk keeps its own data.`], page),
  );
}

/** Says whose numbers are shown, and how to get back to those of the talk. */
export function tellBundle({ name, label }, page = document) {
  removeNotice(page);
  const link = page.createElement("a");
  link.href = addressWith(page.location.href, { bundle: null });
  link.textContent = "Show the talk’s own data";
  link.addEventListener("click", (event) => {
    // The address may be the same: only reading the page again forgets what was dropped.
    event.preventDefault();
    page.location.href = link.href;
    if (page.location.href === link.href) page.location.reload();
  });
  const words = label.length > SHOWN_LABEL ? `${label.slice(0, SHOWN_LABEL)}…` : label;
  const notice = showNotice("Numbers of a bundle,", [` “${words}”, in this browser only. `, link], page);
  notice.classList.add("of-bundle");
  notice.title = name;
  keepNotice(notice);
}

/** Links to a bundle's tables save them from memory, because no server has them. */
export function saveFromBundle(current, page = document) {
  page.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const bundle = current();
    const path = link && bundle ? pathOf(bundle, link.href, page.baseURI) : null;
    if (path === null || !bundle.files.has(path)) return;
    event.preventDefault();
    const saved = page.createElement("a");
    saved.href = URL.createObjectURL(new Blob([bundle.files.get(path)], { type: "text/csv" }));
    saved.download = path.split("/").at(-1);
    saved.click();
    setTimeout(() => URL.revokeObjectURL(saved.href), 60_000);
  });
}

let shown = null;

function keepNotice(notice) {
  shown = notice;
}

function removeNotice() {
  shown?.remove();
  shown = null;
}
