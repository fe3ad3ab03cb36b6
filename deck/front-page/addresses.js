/** The addresses that the page links to. Pure except `writeAddresses`. */

import { USUAL_CUT, addressWith } from "../page/mode.js";

/** Whether the part of an address after `#` names a slide. */
export function namesSlide(hash) {
  return hash.startsWith("#/");
}

/**
 * The address of the slides in a cut. Other parameters of the page's own address (data set, theme, …) are kept, unchanged
 * if the cut is the same: the browser then stays on the page and only goes to the slide.
 * @param {string} address   of this page
 * @param {string} cut   "20" or "40"
 */
export function slidesAddress(address, cut) {
  const usual = String(USUAL_CUT);
  const present = new URL(address).searchParams.get("cut") ?? usual;
  const url = new URL(present === cut ? address : addressWith(address, { cut: cut === usual ? null : cut }));
  url.hash = "#/title";
  return url.href;
}

/** Gives every `<a data-open="20">` below `page` the address of the slides in that cut. */
export function writeAddresses(page, address) {
  for (const link of page.querySelectorAll("a[data-open]")) {
    link.setAttribute("href", slidesAddress(address, link.dataset.open));
  }
}
