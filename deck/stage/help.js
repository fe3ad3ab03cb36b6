/** The list of keys, on top of the slides. A clicker closes it by moving on. */

import "../../css/help.css";

import { button, element } from "../page/elements.js";
import { keep } from "../page/kept.js";
import { keyList } from "./key-list.js";
import { CHARACTER_KEYS, HELP_DIALOG, charactersAct } from "./keys.js";

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
  const make = (...given) => element(page, ...given);
  const rows = keyList(mode, tools).flatMap(({ keys, does }) => [
    make("dt", {}, ...keys.flatMap((key, at) => [at ? " " : null, make("kbd", {}, key)])),
    make("dd", {}, does),
  ]);
  const { name, off } = CHARACTER_KEYS;
  const characters = make("input", { type: "checkbox", checked: charactersAct() && "" });
  characters.addEventListener("change", () => keep(name, characters.checked ? "on" : off));
  const dialog = make(
    "dialog",
    { class: CLASS, "aria-labelledby": "keys-help-title" },
    make("h2", { id: "keys-help-title" }, "Keys"),
    make("dl", {}, ...rows),
    make("label", {}, characters, "Keys of one letter, digit or sign act"),
    button(page, { autofocus: "" }, "Close", () => dialog.close()),
  );
  dialog.addEventListener("close", () => dialog.remove());
  page.body.append(dialog);
  dialog.showModal();
}
