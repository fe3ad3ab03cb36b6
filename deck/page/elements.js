/** Making elements. Text is always text: what a file or a manifest holds never becomes markup. */

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

/** A button; what its keys do, and that reveal leaves them alone, is decided in deck/stage/keys.js. */
export function button(page, attributes, text, press = null) {
  const made = element(page, "button", { type: "button", ...attributes }, text);
  if (press) made.addEventListener("click", press);
  return made;
}

/** Keeps these keys from the deck while the focus is within an element. */
export function keepKeys(within, keys) {
  within.addEventListener("keydown", (event) => {
    if (keys.includes(event.key)) event.stopPropagation();
  });
}
