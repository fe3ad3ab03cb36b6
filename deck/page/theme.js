/**
 * Light and dark: the system's choice, or `?theme=light` and `?theme=dark`, or what a reader chose. Print is light unless told
 * otherwise.
 */

const page = document.documentElement;
const KEPT = "replay-theme";
const THEMES = ["light", "dark"];
const listeners = new Set();

/** @param {{theme: string|null, print: boolean, explore: boolean}} mode   a reader's own choice counts where one explores */
export function applyTheme({ theme, print, explore }) {
  const chosen = theme ?? (print ? "light" : null) ?? (explore ? kept() : null);
  if (chosen !== null) page.dataset.theme = chosen;
}

/** The theme that the page has now. */
export function themeNow() {
  return page.dataset.theme ?? (systemIsDark().matches ? "dark" : "light");
}

/** Sets the theme, and keeps it for the reader's next visit. */
export function chooseTheme(theme) {
  page.dataset.theme = theme;
  try {
    localStorage.setItem(KEPT, theme);
  } catch {
    // No storage: it holds until the page is left.
  }
  for (const react of listeners) react();
}

/** The colour that a token such as `--ink` has on the page now, as a plain colour that a canvas understands. */
export function colorOf(token) {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  probe.hidden = true;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

/** Calls back when the page changes from light to dark or back, by the system or by the reader. */
export function onThemeChange(react) {
  listeners.add(react);
  systemIsDark().addEventListener("change", () => react());
}

function systemIsDark() {
  return matchMedia("(prefers-color-scheme: dark)");
}

function kept() {
  try {
    const theme = localStorage.getItem(KEPT);
    return THEMES.includes(theme) ? theme : null;
  } catch {
    return null;
  }
}
