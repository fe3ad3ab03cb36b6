/** The addresses that the page links to. Pure except `writeAddresses`. */

import { addressWith } from "../page/mode.js";

/** Whether the part of an address after `#` names a slide. */
export function namesSlide(hash) {
  return hash.startsWith("#/");
}

/**
 * The address of the slides in a cut. Other parameters of the page's own address (data set, theme, …) are kept, unchanged
 * if the cut is the same: the browser then stays on the page and only goes to the slide.
 * @param {string} address   of this page
 * @param {string} cut   in minutes
 * @param {{usual: string, hash: string}} to   usual: the cut of an address that names none; hash: the slide
 */
export function slidesAddress(address, cut, { usual, hash }) {
  const present = new URL(address).searchParams.get("cut") ?? usual;
  const url = new URL(present === cut ? address : addressWith(address, { cut: cut === usual ? null : cut }));
  url.hash = hash;
  return url.href;
}

/** Gives every `<a data-open="20" href="#/SLIDE">` below `page` the address of that slide in that cut. */
export function writeAddresses(page, address, usual) {
  for (const link of page.querySelectorAll("a[data-open]")) {
    const { hash } = new URL(link.getAttribute("href") ?? "", address);
    const to = { usual: String(usual), hash: namesSlide(hash) ? hash : "#/" };
    link.setAttribute("href", slidesAddress(address, link.dataset.open, to));
  }
}
