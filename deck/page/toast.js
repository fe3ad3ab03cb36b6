/** A line that says what just happened, for readers who are not looking at the button they pressed. */

const SHOWN_MS = 3500;
let line = null;
let timer = 0;

/** Shows a text for a few seconds. It does not announce the text; the caller does. */
export function showToast(text, page = document) {
  line?.remove();
  clearTimeout(timer);
  line = page.createElement("div");
  line.className = "chart-toast";
  line.setAttribute("aria-hidden", "true");
  line.textContent = text;
  page.body.append(line);
  timer = setTimeout(() => line.remove(), SHOWN_MS);
}
