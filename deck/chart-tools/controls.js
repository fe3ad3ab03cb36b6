/**
 * A reader's controls, at the end of each label. They do what the keys do, for people without a keyboard or who do not know
 * the keys. They exist only in explore mode; on stage there is nothing to press.
 */

import { labelOf } from "../text/labels.js";
import { button, element } from "../page/elements.js";

const GROUP = "chart-controls";

/**
 * Puts the controls under the charts of a slide, once.
 * @param {Element} slide
 * @param {{name: string, key: string, text: (slide: Element) => string, description: string,
 *          toggles?: boolean}[]} controls
 */
export function addControls(slide, controls) {
  const label = labelOf(slide);
  if (label.querySelector(`.${GROUP}`)) return;
  const page = slide.ownerDocument;
  const group = element(page, "span", { class: GROUP, role: "group", "aria-label": "These charts" });
  for (const { name, key, text, description, toggles } of controls) {
    const attributes = {
      "data-control": name,
      title: `${description} (key ${key})`,
      "aria-pressed": toggles ? "false" : null,
    };
    group.append(button(page, attributes, text(slide)));
  }
  label.append(" ", group);
}

/**
 * Calls back when a control below `root` is pressed. Not bound to the buttons, because reveal may replace a slide by a copy.
 * @param {(name: string, slide: Element) => void} press
 */
export function onControl(root, press) {
  root.addEventListener("click", ({ target }) => {
    const control = target.closest?.(`.${GROUP} [data-control]`);
    if (control) press(control.dataset.control, control.closest("section"));
  });
}

/** Marks the controls that are on, and hides those that do not apply to the slide's charts. */
export function setControls(slide, states) {
  for (const control of slide.querySelectorAll(`.${GROUP} [data-control]`)) {
    const { on, possible = true } = states[control.dataset.control] ?? {};
    if (on !== undefined) control.setAttribute("aria-pressed", String(on));
    control.hidden = !possible;
  }
}
