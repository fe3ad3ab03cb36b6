/** The list of keys, on top of the slides. A clicker closes it by moving on. */

import "../../css/help.css";

import { keyList } from "./key-list.js";
import { HELP_DIALOG } from "./keys.js";

const CLASS = "keys-help";

/**
 * Opens or closes the list.
 * @param {{explore: boolean}} mode
 * @param {{key: string, description: string}[]} tools
 */
export function toggleHelp(mode, tools, page = document) {
  const open = page.querySelector(HELP_DIALOG);
  if (open) {
    open.close();
    return;
  }
  // One that was closed since the last frame is still here.
  page.querySelector(`dialog.${CLASS}`)?.remove();
  const dialog = page.createElement("dialog");
  dialog.className = CLASS;
  dialog.setAttribute("aria-labelledby", "keys-help-title");
  const title = page.createElement("h2");
  title.id = "keys-help-title";
  title.textContent = "Keys";
  const list = page.createElement("dl");
  for (const { keys, does } of keyList(mode, tools)) {
    const name = page.createElement("dt");
    keys.forEach((key, at) => {
      const cap = page.createElement("kbd");
      cap.textContent = key;
      name.append(...(at ? [" "] : []), cap);
    });
    const effect = page.createElement("dd");
    effect.textContent = does;
    list.append(name, effect);
  }
  const close = page.createElement("button");
  close.type = "button";
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  dialog.append(title, list, close);
  dialog.addEventListener("close", () => dialog.remove());
  page.body.append(dialog);
  dialog.showModal();
}
