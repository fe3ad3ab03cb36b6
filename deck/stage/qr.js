/**
 * The QR code for "run it yourself": drawn as inline SVG, from the talk's address.
 */

import { element } from "../page/elements.js";
import { shortAddress } from "../text/talk-facts.js";

/** The target of the code: the talk's stated address, else this page if others can reach it. */
export function qrTarget(stated, location) {
  if (stated) return stated;
  const local = /^(localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0|)$/.test(location.hostname);
  return local || !/^https?:$/.test(location.protocol) ? null : `${location.origin}${location.pathname}`;
}

/**
 * Fills every `<div data-qr>` below `root`; without a target, nothing stands there.
 * The library is fetched only when a slide has such an element.
 */
export async function drawQrCodes(root, target) {
  const places = [...root.querySelectorAll("[data-qr]")];
  if (places.length === 0) return;
  if (target === null) {
    for (const place of places) {
      place.replaceChildren();
      place.classList.add("qr-absent");
    }
    return;
  }
  const { default: QRCode } = await import("qrcode");
  const drawn = await QRCode.toString(target, { type: "svg", errorCorrectionLevel: "M" });
  for (const place of places) {
    place.innerHTML = drawn;
    const svg = place.querySelector("svg");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `QR code: ${target}`);
    place.replaceChildren(svg, element(document, "a", { href: target }, shortAddress(target)));
  }
}
