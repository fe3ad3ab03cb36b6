/**
 * Light and dark: the system's setting, or `?theme=light` and `?theme=dark`, or the reader's choice. Print is light by
 * default.
 */

import { keep, kept } from "./kept.js";

const page = document.documentElement;
const KEPT = "replay-theme";
const THEMES = ["light", "dark"];
const listeners = new Set();

/** @param {{theme: string|null, print: boolean, explore: boolean}} mode   a reader's own choice counts only with `explore` */
export function applyTheme({ theme, print, explore }) {
  const chosen = theme ?? (print ? "light" : null) ?? (explore ? chosenBefore() : null);
  if (chosen !== null) page.dataset.theme = chosen;
}

/** The page's current theme. */
export function themeNow() {
  return page.dataset.theme ?? (systemIsDark().matches ? "dark" : "light");
}

/** Sets the theme, and remembers it for the reader's next visit. */
export function chooseTheme(theme) {
  page.dataset.theme = theme;
  keep(KEPT, theme);
  for (const react of listeners) react();
}

/** The current colour of a token such as `--ink`, as a plain colour that a canvas understands. */
export function colorOf(token) {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  probe.hidden = true;
  probe.style.forcedColorAdjust = "none";
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

/** Calls back when the system or the reader switches between light and dark. */
export function onThemeChange(react) {
  listeners.add(react);
  systemIsDark().addEventListener("change", () => react());
}

function systemIsDark() {
  return matchMedia("(prefers-color-scheme: dark)");
}

function chosenBefore() {
  const theme = kept(KEPT);
  return THEMES.includes(theme) ? theme : null;
}
