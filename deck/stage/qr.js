/**
 * The QR code for "run it yourself": drawn as inline SVG, from the talk's address.
 */

import { shortAddress } from "../text/talk-facts.js";

/** The target of the code: the talk's stated address, else this page if others can reach it. */
export function qrTarget(stated, location) {
  if (stated) return stated;
  const local = /^(localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0|)$/.test(location.hostname);
  return local || !/^https?:$/.test(location.protocol) ? null : `${location.origin}${location.pathname}`;
}

/**
 * The path of a QR code in a viewBox of `size + 8` (four modules of quiet zone on each side).
 * @param {{size: number, get: (row: number, column: number) => number}} modules   as the qrcode package gives them
 */
export function qrPath(modules) {
  let path = "";
  for (let row = 0; row < modules.size; row += 1) {
    for (let column = 0; column < modules.size; column += 1) {
      if (!modules.get(row, column)) continue;
      let run = 1;
      while (column + run < modules.size && modules.get(row, column + run)) run += 1;
      path += `M${column + 4} ${row + 4}h${run}v1h-${run}z`;
      column += run - 1;
    }
  }
  return path;
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
  const { create } = await import("qrcode");
  const { modules } = create(target, { errorCorrectionLevel: "M" });
  const side = modules.size + 8;
  for (const place of places) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", `0 0 ${side} ${side}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `QR code: ${target}`);
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", qrPath(modules));
    svg.append(path);
    const link = document.createElement("a");
    link.href = target;
    link.textContent = shortAddress(target);
    place.replaceChildren(svg, link);
  }
}
