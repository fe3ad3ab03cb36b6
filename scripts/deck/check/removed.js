/** What the deck removes from slides before it shows them, or does not load; see deck/text/safe-markdown.js. */

import { FRAME_ATTRIBUTES, REFUSED_ELEMENTS } from "../../../deck/text/refused.js";
import { nodesOf, placeOf } from "../text/segments.js";
import { isElement } from "../text/tree.js";
import { problemIn } from "./chapters.js";

const ELEMENTS = new Set([...REFUSED_ELEMENTS, "script"]);
const HANDLER = /^on/i;
const ADDRESSES = ["src", "href", "xlink:href", "poster", "data-background-image", "data-background-video"];
const SCRIPT = /^\s*(?:javascript|vbscript):/i;
const REMOTE = /^\s*(?:https?:)?\/\//i;
/** Links may lead to other machines: nobody follows them unasked. */
const LINKS = new Set(["a"]);
/** `![…](https://…)`, whose element the tree does not have. */
const REMOTE_PICTURE = /!\[[^\]]*\]\(\s*<?(?:https?:)?\/\/[^)\s]*/g;

/** Slides have nothing in them that the deck removes, and load nothing from other machines. */
export function removedParts({ slides }) {
  return slides.flatMap((slide) => [
    ...[...nodesOf(slide)].filter(isElement).flatMap((element) => ofElement(slide, element)),
    ...[...slide.text.matchAll(REMOTE_PICTURE)].map(({ index }) =>
      problemIn(slide, "a picture from another machine is not loaded; put it next to the slides", index),
    ),
  ]);
}

function ofElement(slide, element) {
  const { name, attributes, start } = element;
  if (ELEMENTS.has(name)) return [problemIn(slide, `<${name}> is removed when the slide is shown`, start)];
  return Object.entries(attributes).flatMap(([attribute, value]) => {
    const problem = (message) => [problemIn(slide, message, placeOf(slide, element, attribute))];
    if (HANDLER.test(attribute) || FRAME_ATTRIBUTES.includes(attribute) || isScript(attribute, value))
      return problem(`${attribute} of <${name}> is removed when the slide is shown`);
    if (ADDRESSES.includes(attribute) && !LINKS.has(name) && REMOTE.test(value))
      return problem(`${attribute} of <${name}> is on another machine, from which nothing is loaded`);
    return [];
  });
}

function isScript(attribute, value) {
  return ADDRESSES.includes(attribute) && SCRIPT.test(value);
}
