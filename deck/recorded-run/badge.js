/**
 * The line in the margin above the slide that identifies a recorded run while it plays, and shows its progress. Screen
 * readers do not read it: they get one announcement at the start and one at the end.
 */

import { element } from "../page/elements.js";

/** @param {HTMLElement} viewport   of the deck */
export function Badge(viewport) {
  const make = (...given) => element(viewport.ownerDocument, ...given);
  const name = make("strong");
  const progress = make("progress", { max: 1, "aria-label": "Progress of the recorded run" });
  const place = make("span");
  const badge = make(
    "div",
    { class: "recorded-run", role: "group", "aria-label": "Recorded run" },
    ...[name, progress, place],
  );
  viewport.append(badge);
  return {
    /** @param {{title: string, share?: number|null, position?: string}} said   share: null hides the bar */
    show({ title, share = null, position = "" }) {
      name.textContent = title;
      progress.hidden = share === null;
      if (share !== null) progress.value = share;
      place.textContent = position;
    },

    remove: () => badge.remove(),
  };
}
