/** Light and dark: the system's choice, or `?theme=light` and `?theme=dark`. Print is light unless told otherwise. */

const page = document.documentElement;

export function applyTheme(search = location.search) {
  const query = new URLSearchParams(search);
  const asked = query.get("theme");
  const printing = query.get("view") === "print" || query.has("print-pdf");
  if (asked === "light" || asked === "dark") page.dataset.theme = asked;
  else if (printing) page.dataset.theme = "light";
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

/** Calls back when the system changes from light to dark or back. */
export function onThemeChange(react) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => react());
}
