/**
 * Finds where Markdown's blocks begin and end in a slide's text, and which characters are markup, by marked, which also
 * makes the slides. marked's tokens have their text, but not its place: that is found here, token by token, so that checks
 * can name the line. Pure.
 */

import { Lexer } from "marked";

/** The kinds of characters in the text: prose and HTML, Markdown's own marks, code. */
const PROSE = 0;
export const MARK = 1;
export const CODE = 2;

const MARKER = /^\s*(?:[-*+]|\d{1,9}[.)])\s*/;

/**
 * @param {string} text   Markdown with HTML
 * @returns {{events: {at: number, open: boolean, name: string}[], marks: Uint8Array}}
 *   events: Markdown's own blocks (`p`, `h1`…`h6`, `ul`, `ol`, `li`, `table`, `tr`, `td`, `pre`) in the order of
 *   the text, without those of HTML; marks: 0, MARK or CODE for each character
 */
export function scanMarkdown(text) {
  const scan = new Scan(text);
  scan.blocks(Lexer.lex(text));
  return { events: scan.events, marks: scan.marks };
}

class Scan {
  events = [];
  #text;
  /** Everything before it has been read. */
  #at = 0;

  constructor(text) {
    this.#text = text;
    this.marks = new Uint8Array(text.length).fill(MARK);
  }

  blocks(tokens) {
    for (const token of tokens) {
      const place = this.#place(token.raw);
      if (place === null) continue;
      this.#at = place.start;
      this.#block(token, place);
      this.#at = place.end;
    }
  }

  #block(token, place) {
    const { type, raw, tokens } = token;
    if (type === "heading")
      return this.#inside(`h${token.depth}`, place, () => {
        this.#at += /^#*\s*/.exec(raw.trimStart())[0].length;
        this.#inline(tokens);
      });
    if (type === "paragraph") return this.#inside("p", place, () => this.#inline(tokens));
    if (type === "text") return tokens ? this.#inline(tokens) : this.#fill(raw, PROSE);
    if (type === "blockquote") return this.blocks(tokens);
    if (type === "html") return this.#fill(raw, PROSE);
    if (type === "code") return this.#inside("pre", place, () => this.#code(token));
    if (type === "list") return this.#inside(token.ordered ? "ol" : "ul", place, () => this.#items(token));
    if (type === "table") return this.#inside("table", place, () => this.#rows(token));
  }

  #code({ raw, text, codeBlockStyle }) {
    // The line of a fence names a language, which is no code.
    if (codeBlockStyle !== "indented" && raw.includes("\n"))
      this.#at = this.#text.indexOf("\n", this.#at) + 1;
    this.#fill(text, CODE);
  }

  #items({ items }) {
    for (const item of items) {
      const place = this.#place(item.raw);
      this.#inside("li", place, () => {
        this.#at = place.start + MARKER.exec(item.raw.trimStart())[0].length;
        this.blocks(item.tokens);
      });
      this.#at = place.end;
    }
  }

  #rows({ raw, header, rows }) {
    const lines = raw.split("\n").filter((line) => line.trim() !== "");
    // Below the header is the line that parts it from the rows.
    for (const [number, line] of lines.entries()) {
      const place = this.#place(line);
      this.#at = place.start;
      const cells = number === 0 ? header : rows[number - 2];
      if (number !== 1)
        this.#inside("tr", place, () => {
          for (const cell of cells.filter(({ text }) => text !== "")) {
            const cellPlace = this.#place(cell.text);
            this.#inside("td", cellPlace, () => this.#inline(cell.tokens));
          }
        });
      this.#at = place.end;
    }
  }

  #inline(tokens) {
    for (const { type, raw, text, tokens: inner } of tokens) {
      if (type === "br") {
        this.#newline(PROSE);
        continue;
      }
      if (["text", "html"].includes(type)) this.#fill(raw, PROSE);
      else {
        const { start, end } = this.#place(raw) ?? { start: this.#at, end: this.#at };
        const isAddress = type === "link" && raw.startsWith("<");
        this.#at = type === "escape" ? start + 1 : start;
        if (type === "codespan") {
          const ticks = /^`+/.exec(raw)[0].length;
          this.#at = start + ticks;
          this.#fill(raw.slice(ticks, -ticks), CODE);
        } else if (type === "escape" || type === "image") this.#fill(text, PROSE);
        else if (inner && !isAddress) this.#inline(inner);
        this.#at = end;
      }
    }
  }

  /** Opens and closes an element around what `read` reads. */
  #inside(name, { start, end }, read) {
    this.events.push({ at: start, open: true, name });
    read();
    this.events.push({ at: end, open: false, name });
  }

  /**
   * Where a token's text begins and ends: line by line, because in lists and quotations marked leaves out what is before a
   * line; null of blanks.
   */
  #place(raw) {
    let [start, end] = [null, this.#at];
    for (const line of linesOf(raw)) {
      const place = this.#find(line, end);
      start ??= place.at;
      end = place.end;
    }
    return start === null ? null : { start, end };
  }

  /** Marks the characters of a token, from where the last one ended. */
  #fill(raw, kind) {
    raw.split("\n").forEach((line, number) => {
      if (number > 0) this.#newline(kind);
      const words = line.trimStart();
      // Those of a block's first words have been read; in a list, marked has blanks instead of a tab.
      const blanks = number > 0 ? "" : line.slice(0, line.length - words.length);
      if (words === "") return this.#blanks(blanks, kind);
      const { at, end } = this.#find(words, this.#at);
      const from = at - blanks.length;
      const isWhole = from >= this.#at && this.#text.startsWith(blanks, from);
      this.marks.fill(kind, isWhole ? from : at, end);
      // What is longer than its token has escaped bars.
      if (end - at > words.length)
        for (let bar = at; bar < end; bar += 1) if (this.#text[bar] === "\\") this.marks[bar] = MARK;
      this.#at = end;
    });
  }

  /** Two lines are two words, whatever stands at the beginning of the second one. */
  #newline(kind) {
    const newline = this.#text.indexOf("\n", this.#at);
    if (newline >= 0) this.marks[newline] = kind;
  }

  /** Marks blanks, if they stand here. */
  #blanks(blanks, kind) {
    if (!this.#text.startsWith(blanks, this.#at)) return;
    const end = this.#at + blanks.length;
    this.marks.fill(kind, this.#at, end);
    this.#at = end;
  }

  #find(line, from) {
    // In a cell of a table, a bar is escaped, and its token is not.
    const [first] = [line, line.replaceAll("|", "\\|")]
      .map((wanted) => ({ at: this.#text.indexOf(wanted, from), length: wanted.length }))
      .filter(({ at }) => at >= 0)
      .sort((one, other) => one.at - other.at);
    if (first) return { at: first.at, end: first.at + first.length };
    throw new Error(`marked read “${line}”, which is not in the text`);
  }
}

function linesOf(raw) {
  return raw
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
