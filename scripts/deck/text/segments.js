/**
 * A slide as pieces of text that somebody reads or hears. Each has its line, and everything that decides whether and
 * how it is shown: the value that it is bound to, the verdicts that choose it, the source that it names.
 */

import { parseWhen } from "../../../deck/text/verdict-text.js";
import { lineIn, problemIn } from "../check/chapters.js";
import { everything, groupsOf, isElement, parseTree, textOf } from "./tree.js";

/**
 * @typedef {object} Segment
 * @property {string} text
 * @property {number} at      its place in the slide's text
 * @property {number} line    its line in the file
 * @property {"body"|"note"|"heading"|"attribute"} kind   everything in a note is `note`
 * @property {string|null} source   id of the source that it names: `data-source`
 * @property {string|null} bound    the value of the `<data>` around it; text is then the literal
 * @property {{claim: string, verdicts: string[]}[]} when   conditions that must all be met for it to be shown
 * @property {boolean} code
 * @property {string} block   pieces of one block are read as one text; the texts of a verdict group are one block
 *
 * @typedef {import("../check/chapters.js").Slide & {body: import("./tree.js").Element,
 *           note: import("./tree.js").Element|null, segments: Segment[]}} ReadSlide
 */

const NOTE = /^<!-- Note -->/m;
const UNSEEN = new Set(["script", "style", "template"]);
const PROSE_ATTRIBUTE =
  /^(?:alt|title|aria-label|aria-description|aria-roledescription|aria-valuetext|data-chart-(?:\w+-)?(?:title|label))$/;
// Every other element is a block: its text is not read together with the text around it.
const INLINE = new Set(
  "a abbr b bdi bdo cite code data del dfn em i ins kbd mark q s samp span strong sub sup time tspan u var wbr".split(
    " ",
  ),
);

/**
 * Reads a slide: its body, its note, and their pieces.
 * @param {import("../check/chapters.js").Slide} slide
 * @returns {ReadSlide}
 */
export function readSlide(slide) {
  const mark = NOTE.exec(slide.text);
  const body = parseTree(slide.text.slice(0, mark?.index));
  const after = mark && mark.index + mark[0].length;
  const note = mark && parseTree(slide.text.slice(after), after);
  const read = { ...slide, body, note };
  const reader = new Reader(read);
  reader.read(body, "body");
  if (note) reader.read(note, "note");
  return { ...read, segments: reader.segments };
}

/** Every node of a slide, body and note. */
export function* nodesOf({ body, note }) {
  yield* everything(body);
  if (note) yield* everything(note);
}

/** Every element of a slide with an attribute. */
export function* elementsWith(slide, attribute) {
  for (const node of nodesOf(slide)) if (isElement(node) && attribute in node.attributes) yield node;
}

/** Every `<data>` of a slide. */
export function* dataElements(slide) {
  for (const node of nodesOf(slide)) if (isElement(node) && node.name === "data") yield node;
}

/** Every `<data value>` of a slide. */
export function* boundElements(slide) {
  for (const node of dataElements(slide)) if ("value" in node.attributes) yield node;
}

/** The place of an element's attribute in the slide's text; that of the element if the attribute is not in its tag. */
export function placeOf(slide, element, attribute) {
  const tag = slide.text.slice(element.start, element.innerStart);
  const match = new RegExp(`[\\s"']${attribute}\\s*=`, "i").exec(tag);
  return element.start + (match ? match.index + 1 : 0);
}

/**
 * The problems of every element with an attribute, each at the place of that attribute.
 * @param {ReadSlide[]} slides
 * @param {string} attribute
 * @param {(attributes: Record<string, string>, element: import("./tree.js").Element) => string[]} messagesOf
 * @returns {import("../check/chapters.js").Problem[]}
 */
export function problemsWith(slides, attribute, messagesOf) {
  return slides.flatMap((slide) =>
    [...elementsWith(slide, attribute)].flatMap((element) =>
      messagesOf(element.attributes, element).map((message) =>
        problemIn(slide, message, placeOf(slide, element, attribute)),
      ),
    ),
  );
}

/** The groups of adjacent texts of which a claim's verdict chooses one. */
export function verdictGroups(slide) {
  const claimOf = ({ attributes }) => attributes["data-when"]?.trim().split(/\s+/)[0] || null;
  return [slide.body, slide.note].filter(Boolean).flatMap((root) => groupsOf(root, claimOf));
}

class Reader {
  segments = [];
  #slide;
  #block = 0;
  #empty = true;
  #continued;
  #followed;

  constructor(slide) {
    this.#slide = slide;
    const groups = verdictGroups(slide);
    this.#continued = new Set(groups.flatMap((members) => members.slice(1)));
    this.#followed = new Set(groups.flatMap((members) => members.slice(0, -1)));
  }

  read(root, kind) {
    this.#walk(root, { kind, source: null, when: [], code: false });
  }

  #walk(node, around) {
    if (!isElement(node)) {
      this.#add(node.text, node.at, { ...around, code: around.code || node.code });
      return;
    }
    if (UNSEEN.has(node.name)) return;
    const inside = inherited(node, around);
    this.#addAttributes(node, inside);
    if (node.name === "data" && "value" in node.attributes) {
      this.#add(textOf(node), node.innerStart, { ...inside, bound: node.attributes.value });
      return;
    }
    // The question of a title stands where its finding will be: they are not read together.
    const stands = !INLINE.has(node.name) || isQuestion(node);
    // The texts of a verdict group are one block, so that the one that is shown can be compared with another. A term and
    // its description are one block, too, because a figure alone says nothing.
    const whole = around.when.length > 0;
    const goesOn = this.#continued.has(node) || node.name === "dd";
    const isFollowed = this.#followed.has(node) || node.name === "dt";
    if (stands) this.#part(whole || goesOn, node.start, inside);
    for (const child of node.children) this.#walk(child, inside);
    if (stands) this.#part(whole || isFollowed, node.end, inside);
  }

  #addAttributes(node, inside) {
    for (const [name, value] of Object.entries(node.attributes)) {
      if (!PROSE_ATTRIBUTE.test(name) || value.trim() === "") continue;
      const at = placeOf(this.#slide, node, name);
      const kind = inside.kind === "note" ? "note" : "attribute";
      // An attribute is a separate block, and does not split the one around it.
      this.#push(value, at, { ...inside, kind }, `${at}@${name}`);
    }
  }

  #add(text, at, around) {
    const blank = text.trim() === "";
    if (blank && this.#empty) return;
    this.#push(text, at, around, String(this.#block));
    if (!blank) this.#empty = false;
  }

  #push(text, at, { kind, source, when, code, bound = null }, block) {
    this.segments.push({ text, at, line: lineIn(this.#slide, at), kind, source, bound, when, code, block });
  }

  /** Ends the block, or only separates two of its words. */
  #part(sameBlock, at, around) {
    if (this.#empty) return;
    if (sameBlock) return this.#push(" ", at, around, String(this.#block));
    this.#block += 1;
    this.#empty = true;
  }
}

/** Whether an element is the question of a title that asks before it says what was found. */
export function isQuestion({ attributes }) {
  return /\bquestion\b/.test(attributes.class ?? "");
}

/** What holds within an element, given what holds around it. */
function inherited({ name, attributes }, around) {
  const when = parseWhen(attributes["data-when"] ?? "");
  return {
    kind: /^h[1-6]$/.test(name) && around.kind === "body" ? "heading" : around.kind,
    source: attributes["data-source"] ?? around.source,
    when: when ? [...around.when, when] : around.when,
    code: around.code || name === "code" || name === "pre",
  };
}
