/** What a recorded run says about itself. Pure functions. */

import { formatPeriod } from "../data/format.js";

/** 6312 → "1 h 45 min"; 300 → "5 min"; 42 → "42 s". Rounded to the precision shown. */
export function formatDuration(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  const parts = [minutes >= 60 && `${Math.floor(minutes / 60)} h`, minutes % 60 && `${minutes % 60} min`];
  return parts.filter(Boolean).join(" ");
}

/** "Recorded run: 20 November 2026, 1 h 45 min in 60 s". */
export function runTitle({ from, to, seconds }, { seconds: shown }) {
  return `Recorded run: ${formatPeriod(from, to)}, ${formatDuration(seconds)} in ${formatDuration(shown)}`;
}

/** "3 of 10 blocks, 31 %", and whether it is paused. */
export function runPosition({ blockEnds }, { blocks, share, paused }) {
  const all = blockEnds.length;
  const words = [all > 1 && `${blocks} of ${all} blocks`, `${Math.floor(share * 100)} %`, paused && "paused"];
  return words.filter(Boolean).join(", ");
}

/** The message about charts that cannot be played; null if all can. */
export function lackingWords(charts) {
  if (charts.length === 0) return null;
  const which = charts.length === 1 ? `${charts[0]} is` : `${charts.length} charts are`;
  return `${which} shown complete, because the file of runs could not be read`;
}
