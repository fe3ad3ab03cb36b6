/** What the reader's page takes from slides, and whose conditions it lists, is there. */

import { ANSWER } from "../../../deck/front-page/conditions.js";
import { parseTaken } from "../../../deck/front-page/taken.js";
import { problemsWith } from "../text/segments.js";
import { elements } from "../text/tree.js";

/** `<div data-slide="slides/rpo/91-journal.md#journal-ratio" data-part="h2 .panels">` names a slide that has such parts. */
export function takenParts({ slides }) {
  return problemsWith(slides, "data-slide", ({ "data-slide": place, "data-part": part }) => {
    const taken = parseTaken(place, part);
    if (taken === null)
      return [
        `data-slide="${place}" data-part="${part ?? ""}": write slides/TALK/FILE.md#ID, and as parts tags or .classes`,
      ];
    const source = slides.find(({ file, id }) => file === taken.file && id === taken.id);
    if (!source) return [`${taken.file} has no slide "${taken.id}"`];
    return taken.selectors
      .filter((selector) => ![...elements(source.body)].some((element) => matches(element, selector)))
      .map((selector) => `the slide "${taken.id}" has no ${selector}`);
  });
}

/** Listed conditions belong to an experiment that exists. */
export function listedConditions({ slides, experiments }) {
  const known = new Set([...experiments, ANSWER]);
  return problemsWith(slides, "data-applies", ({ "data-applies": name }) =>
    known.has(name) ? [] : [`data-applies: no experiment "${name}"`],
  );
}

/** Whether an element is what one tag or one class selects. */
function matches({ name, attributes }, selector) {
  if (!selector.startsWith(".")) return name === selector;
  return (attributes.class ?? "").split(/\s+/).includes(selector.slice(1));
}
