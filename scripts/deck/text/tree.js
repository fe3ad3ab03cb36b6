/**
 * A slide's text as a tree of elements, each with its place in that text. htmlparser2 reads HTML, markdown.js reads
 * Markdown's blocks; attributes from reveal's `<!-- .element: … -->` are added to the element that they decorate.
 */

import { Parser } from "htmlparser2";

import { CODE, MARK, scanMarkdown } from "./markdown.js";

/**
 * @typedef {object} Element
 * @property {string} name   in lower case; "" for the root
 * @property {Record<string, string>} attributes
 * @property {Element|null} parent
 * @property {(Element|Text)[]} children
 * @property {number} start        where it begins; the opening tag of HTML
 * @property {number} innerStart   where its content begins
 * @property {number} innerEnd     where its content ends
 * @property {number} end          where it ends, closing tag included
 * @property {{start: number, end: number}[]} decorations   the comments that decorate it, in it or after it
 *
 * @typedef {{text: string, at: number, code: boolean, parent: Element}} Text
 *   entities decoded, Markdown's marks left out; code: within backticks or a fence
 */

const PLACES = ["start", "innerStart", "innerEnd", "end"];
const DECORATION = /\.(element|slide):\s*(\S.*)$/m;
// `<` and `&` in code are text, but the parser does not know code, so these replace them.
const STAND_INS = { "<": "\uE000", "&": "\uE001" };

/**
 * @param {string} text
 * @param {number} [base]   added to every position
 * @returns {Element} the root
 */
export function parseTree(text, base = 0) {
  const { events, marks } = scanMarkdown(text);
  const builder = new Builder(text, events, marks);
  const parser = new Parser({
    onopentag: (name, attributes) =>
      builder.open(name, attributes, parser.startIndex, parser.endIndex + 1, true),
    onclosetag: (name, implied) => builder.closeTag(name, parser.startIndex, parser.endIndex + 1, implied),
    ontext: (data) => builder.words(data, parser.startIndex, parser.endIndex + 1),
    oncomment: (data) => builder.comment(data, parser.startIndex, parser.endIndex + 1),
  });
  parser.end(builder.readable);
  return builder.finish(base);
}

class Builder {
  #text;
  #events;
  #marks;
  #here;
  #root;

  constructor(text, events, marks) {
    this.#text = text;
    this.#events = [...events];
    this.#marks = marks;
    this.#root = element("", {}, 0, 0, null);
    this.#here = this.#root;
    this.readable = [...text.matchAll(/[<&]/g)]
      .filter(({ index }) => marks[index] !== 0)
      .reduce(
        (result, { 0: sign, index }) => result.slice(0, index) + STAND_INS[sign] + result.slice(index + 1),
        text,
      );
  }

  open(name, attributes, start, innerStart, isTag) {
    if (isTag) this.#flush(start);
    const made = element(name, attributes, start, innerStart, this.#here);
    made.isTag = isTag;
    this.#here.children.push(made);
    this.#here = made;
  }

  closeTag(name, start, end, implied) {
    let closing = this.#here;
    while (closing !== this.#root && !(closing.isTag && closing.name === name)) closing = closing.parent;
    // It was closed by the end of a Markdown block, or never open.
    if (closing === this.#root) return;
    // An element without content (`<br>`, `<path />`) is closed at the end of its tag.
    // An unfinished comment ends the text, but the parser's position runs on.
    const at = Math.min(start, this.#text.length);
    if (implied && end === closing.innerStart) this.#close(closing, end, end);
    else if (implied) this.#close(closing, at, at);
    else {
      this.#flush(start);
      this.#close(closing, start, end);
    }
  }

  words(data, start, end) {
    this.#flush(start);
    if (this.readable.slice(start, end) !== data) {
      // A decoded entity.
      this.#add(data, start, false);
      return;
    }
    let from = start;
    while (from < end) {
      this.#flush(from);
      const kind = this.#marks[from];
      const stop = Math.min(end, this.#events[0]?.at ?? end);
      let to = from + 1;
      while (to < stop && this.#marks[to] === kind) to += 1;
      if (kind !== MARK) this.#add(this.#text.slice(from, to), from, kind === CODE);
      from = to;
    }
  }

  comment(data, start, end) {
    this.#flush(start);
    const [, kind, list] = DECORATION.exec(data) ?? [];
    if (list === undefined) return;
    const decorated = kind === "slide" ? this.#root : this.#decorated(start);
    for (const [, name, value] of list.matchAll(/([^"=\s]+)="([^"]*)"/g)) decorated.attributes[name] = value;
    if (kind === "element") decorated.decorations.push({ start, end });
  }

  finish(base) {
    this.#flush(Infinity);
    this.#close(this.#root, this.#text.length, this.#text.length);
    for (const node of everything(this.#root)) {
      if ("at" in node) node.at += base;
      else
        for (const place of [node, ...node.decorations])
          for (const key of PLACES) if (key in place) place[key] += base;
    }
    return this.#root;
  }

  /** The element that a comment decorates: as in reveal, the one before it, else the one around it. */
  #decorated(at) {
    const before = this.#here.children.filter((child) => isElement(child) && child.name !== "br").at(-1);
    if (!before) return this.#here;
    const apart = /\n[ \t]*\n/.test(this.#text.slice(before.end, at));
    const items = before.children.filter((child) => child.name === "li");
    return ["ul", "ol"].includes(before.name) && !apart && items.length ? items.at(-1) : before;
  }

  /** Opens and closes Markdown's blocks up to a position. */
  #flush(at) {
    while (this.#events.length && this.#events[0].at <= at) {
      const event = this.#events.shift();
      if (event.open) {
        this.open(event.name, {}, event.at, event.at, false);
        continue;
      }
      let closing = this.#here;
      while (closing !== this.#root && (closing.isTag || closing.name !== event.name))
        closing = closing.parent;
      if (closing !== this.#root) this.#close(closing, event.at, event.at);
    }
  }

  /** Closes an element and everything that is still open in it. */
  #close(closing, innerEnd, end) {
    for (let inner = this.#here; inner !== closing; inner = inner.parent)
      Object.assign(inner, { innerEnd, end: innerEnd });
    // A closing tag without an opening one (`</p>`) makes an empty element.
    Object.assign(closing, { innerEnd: Math.max(innerEnd, closing.innerStart), end });
    this.#here = closing.parent ?? closing;
  }

  #add(text, at, code) {
    this.#here.children.push({ text, at, code, parent: this.#here });
  }
}

function element(name, attributes, start, innerStart, parent) {
  const ends = { innerEnd: innerStart, end: innerStart };
  const within = { parent, children: [], decorations: [] };
  return { name, attributes: { ...attributes }, start, innerStart, ...ends, ...within };
}

/** Whether a child is an element rather than text. */
export function isElement(node) {
  return "children" in node;
}

/** An element and every node below it, in the order of the text. */
export function* everything(node) {
  yield node;
  for (const child of node.children ?? []) yield* everything(child);
}

/** An element and every element below it. */
export function* elements(node) {
  for (const descendant of everything(node)) if (isElement(descendant)) yield descendant;
}

/** All text below an element. */
export function textOf(node) {
  return [...everything(node)].map((descendant) => descendant.text ?? "").join("");
}

/**
 * Groups of siblings with the same key and only blanks between them.
 * @param {Element} root
 * @param {(element: Element) => string|null} keyOf   the members of a group have the same key; null: not a member
 * @returns {Element[][]}
 */
export function groupsOf(root, keyOf) {
  const groups = [];
  for (const { children } of elements(root)) {
    let open = null;
    for (const child of children) {
      if (!isElement(child)) {
        if (child.text.trim() !== "") open = null;
        continue;
      }
      const key = keyOf(child);
      if (key !== null && open?.key === key) open.members.push(child);
      else if (key === null) open = null;
      else groups.push((open = { key, members: [child] }));
    }
  }
  return groups.map(({ members }) => members);
}
