/**
 * A few ratios as bars from nothing, with a line at 1: `<div data-ratios="cache on = CLAIM.CONDITION | …">`. For slides whose
 * point is the difference of two figures. With `data-ratio-steps` each bar is a click.
 */

import { follow } from "../data/follow.js";
import { formatRatio } from "../data/format.js";
import { element } from "../page/elements.js";

/**
 * The bars that an element asks for. Pure.
 * @param {string} asked   its `data-ratios`
 * @param {object|null} claimsDocument   claims.json
 * @returns {{label: string, text: string, share: number|null, low: number|null, high: number|null}[]} share, low and high: of
 *   the longest bar, 0 to 1; null without an estimate or an interval. The line at 1 is at `oneOf(bars)`
 */
export function ratioBars(asked, claimsDocument) {
  const bars = asked.split("|").map((part) => {
    const [label, value = ""] = part.split("=").map((word) => word.trim());
    const [claim, condition] = value.split(".");
    const {
      estimate = null,
      low = null,
      high = null,
    } = follow(claimsDocument, ["claims", claim, "conditions", condition]) ?? {};
    return { label, estimate, low, high };
  });
  const most = longestOf(bars);
  const share = (value) => (value > 0 ? value / most : null);
  return bars.map(({ label, estimate, low, high }) => ({
    label,
    text: formatRatio(estimate) ?? "not measured",
    ...{ share: share(estimate), low: share(low), high: share(high) },
    one: 1 / most,
  }));
}

function longestOf(bars) {
  return Math.max(1, ...bars.flatMap(({ estimate, high }) => [estimate ?? 0, high ?? 0])) * 1.02;
}

/** Writes or updates every such element below `root`. */
export function writeRatioBars(root, claimsDocument) {
  for (const place of root.querySelectorAll("[data-ratios]")) {
    const bars = ratioBars(place.dataset.ratios, claimsDocument);
    // Made once: reveal keeps its state of the clicks in the elements.
    if (place.children.length !== bars.length) {
      const stepped = place.dataset.ratioSteps !== undefined;
      place.replaceChildren(...bars.map((_, index) => emptyBar(place.ownerDocument, stepped ? index : null)));
    }
    bars.forEach((bar, index) => fill(place.children[index], bar));
  }
}

function emptyBar(page, step) {
  const make = (...given) => element(page, ...given);
  const fragment = step === null ? {} : { "data-fragment-index": step };
  return make(
    "div",
    { class: `ratio-bar${step === null ? "" : " fragment"}`, ...fragment },
    make("span", { class: "ratio-label" }),
    make(
      "span",
      { class: "ratio-track", "aria-hidden": "true" },
      ...["ratio-length", "ratio-interval", "ratio-one"].map((name) => make("span", { class: name })),
    ),
    make("span", { class: "ratio-value" }),
  );
}

function fill(row, { label, text, share, low, high, one }) {
  const [name, track, value] = row.children;
  const [length, interval, line] = track.children;
  const percent = (part) => `${(part * 100).toFixed(2)}%`;
  name.textContent = label;
  value.textContent = text;
  value.classList.toggle("absent", share === null);
  length.style.width = percent(share ?? 0);
  interval.hidden = low === null || high === null;
  if (!interval.hidden) Object.assign(interval.style, { left: percent(low), width: percent(high - low) });
  line.style.left = percent(one);
}
