/** Creates elements. Text is always text: the content of a file or a manifest never becomes markup. */

/**
 * @param {Document} page
 * @param {string} name
 * @param {object} [attributes]   those that are null, undefined or false are left out
 * @param {...(Node|string|null)} children
 */
export function element(page, name, attributes = {}, ...children) {
  const made = page.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** A button. deck/stage/keys.js decides what its keys do and keeps reveal from taking them. */
export function button(page, attributes, text, press = null) {
  const made = element(page, "button", { type: "button", ...attributes }, text);
  if (press) made.addEventListener("click", press);
  return made;
}

/** Lets people scroll an element that may be wider than the screen by keyboard too; `label` names it for screen readers. */
export function makeScrollable(place, label) {
  const named = { role: "region", tabindex: "0", "aria-label": label };
  for (const [name, value] of Object.entries(named)) place.setAttribute(name, value);
}

/** Keeps these keys from the deck while the focus is within an element. */
export function keepKeys(within, keys) {
  within.addEventListener("keydown", (event) => {
    if (keys.includes(event.key)) event.stopPropagation();
  });
}
