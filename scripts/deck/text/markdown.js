/**
 * Finds where Markdown's blocks begin and end in a slide's text, and which characters are markup. Pure.
 *
 * Positions are kept, so that checks can name the line. This is enough of Markdown to read a slide, not a renderer:
 * unknown syntax stays prose, which the checks read.
 */

/** The kinds of characters in the text. */
export const PROSE = 0;
export const MARK = 1;
export const CODE = 2;

// The tags that begin a block of HTML anywhere in Markdown (CommonMark 0.31, section 4.6, kind 6).
const BLOCK_TAGS = new Set(
  (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt " +
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li " +
    "link main menu menuitem nav noframes ol optgroup option p param pre script search section style summary table " +
    "tbody td textarea tfoot th thead title tr track ul"
  ).split(" "),
);
const DELIMITER_ROW = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])(?:[ \t]+|$)/;
const INLINE = new RegExp(
  [
    String.raw`\\[!-/:-@[-\x60{-~]`, // an escaped character
    String.raw`<!--[\s\S]*?-->|</?[a-zA-Z](?:[^>"']|"[^"]*"|'[^']*')*>`, // HTML, read elsewhere
    String.raw`<[a-zA-Z][a-zA-Z0-9+.-]*:[^\s<>]*>`, // an address in angle brackets
    "(?<ticks>`+)(?!`)(?<code>[\\s\\S]*?[^`])\\k<ticks>(?!`)",
    String.raw`(?<opening>!?\[)(?=[^\[\]]*\]\()`,
    String.raw`(?<target>\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\))`,
    String.raw`(?<emphasis>\*+|_+|~~)`,
  ].join("|"),
  "g",
);
// An address in angle brackets comes before tags: `<https:…>` is not a tag named https.
const ADDRESS = /^<[a-zA-Z][a-zA-Z0-9+.-]*:[^\s<>]*>$/;

/**
 * @param {string} text   Markdown with HTML
 * @returns {{events: {at: number, open: boolean, name: string}[], marks: Uint8Array}}
 *   events: Markdown's own blocks (`p`, `h1`…`h6`, `ul`, `ol`, `li`, `table`, `tr`, `td`, `pre`) in the order of
 *   the text, without those of HTML; marks: PROSE, MARK or CODE for each character
 */
export function scanMarkdown(text) {
  const scan = new Scan(text);
  scan.run();
  return { events: scan.events, marks: scan.marks };
}

class Scan {
  events = [];
  #text;
  #lines = [];
  /** The open block that contains text: `{name, start, end, event}`. */
  #leaf = null;
  #list = null;
  /** Where the last block of text ended: a list ends there, not after the blank lines that follow it. */
  #end = 0;
  #table = false;
  /** Inside HTML or code: `{until, code}`; its last line matches `until`. */
  #raw = null;

  constructor(text) {
    this.#text = text;
    this.marks = new Uint8Array(text.length);
    let start = 0;
    for (const line of text.split("\n")) {
      this.#lines.push({ start, line });
      start += line.length + 1;
    }
  }

  run() {
    this.#lines.forEach(({ start, line }, number) => this.#read(line, start, number));
    this.#closeAll(this.#text.length);
  }

  #read(line, start, number) {
    if (this.#raw) return this.#readRaw(line, start);
    if (/^\s*$/.test(line)) {
      this.#closeLeaf();
      this.#closeTable(start);
      return;
    }
    const quote = /^ {0,3}> ?/.exec(line);
    if (quote) {
      this.#mark(start, start + quote[0].length);
      return this.#read(line.slice(quote[0].length), start + quote[0].length, number);
    }
    if (!this.#begins(line, start, number)) this.#continue(line, start);
  }

  /** Reads a line that begins a block; @returns {boolean} false if it begins none */
  #begins(line, start, number) {
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line);
    if (fence) {
      this.#closeAll(start);
      this.#event(start, true, "pre");
      this.#mark(start, start + line.length);
      const until = new RegExp(`^ {0,3}${fence[1][0]}{${fence[1].length},}[ \\t]*$`);
      this.#raw = { until, code: true };
      return true;
    }
    const html = this.#htmlEnd(line);
    if (html) {
      this.#closeAll(start);
      if (!html.test(line)) this.#raw = { until: html, code: false };
      return true;
    }
    if (this.#heading(line, start) || this.#rule(line, start)) return true;
    return this.#row(line, start, number) || this.#item(line, start);
  }

  /** The pattern that ends the block of HTML that this line begins; null if it begins none. */
  #htmlEnd(line) {
    if (/^ {0,3}<!--/.test(line)) return /-->/;
    const tag = /^ {0,3}<\/?([a-zA-Z][a-zA-Z0-9-]*)(?=[\s/>]|$)/.exec(line)?.[1].toLowerCase();
    if (tag === undefined) return null;
    const alone = /^ {0,3}<\/?[a-zA-Z](?:[^>"']|"[^"]*"|'[^']*')*>\s*$/.test(line) && !this.#leaf;
    return BLOCK_TAGS.has(tag) || alone ? /^\s*$/ : null;
  }

  #readRaw(line, start) {
    const { until, code } = this.#raw;
    const last = until.test(line);
    if (code) {
      this.marks.fill(last ? MARK : CODE, start, start + line.length);
      if (last) this.#event(start + line.length, false, "pre");
    }
    if (!last) return;
    this.#raw = null;
  }

  #heading(line, start) {
    const found = /^ {0,3}(#{1,6})(?:[ \t]+|$)/.exec(line);
    if (!found) return false;
    this.#closeAll(start);
    const closing = /[ \t]+#+[ \t]*$/.exec(line)?.[0].length ?? 0;
    this.#mark(start, start + found[0].length);
    this.#mark(start + line.length - closing, start + line.length);
    this.#openLeaf(`h${found[1].length}`, start);
    this.#leaf.end = start + line.length;
    this.#closeLeaf();
    return true;
  }

  /** A line of dashes or the like: it turns a paragraph above it into a heading. */
  #rule(line, start) {
    if (this.#leaf?.name === "p" && /^ {0,3}(?:=+|-+)[ \t]*$/.test(line)) {
      const name = line.includes("=") ? "h1" : "h2";
      this.#leaf.name = this.#leaf.event.name = name;
      this.#closeLeaf();
    } else if (/^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(line)) {
      this.#closeAll(start);
    } else return false;
    this.#mark(start, start + line.length);
    return true;
  }

  #row(line, start, number) {
    const next = this.#lines[number + 1]?.line ?? "";
    const first = !this.#table && line.includes("|") && next.includes("-") && DELIMITER_ROW.test(next);
    if (!first && !this.#table) return false;
    if (first) {
      this.#closeAll(start);
      this.#table = true;
      this.#event(start, true, "table");
    } else if (DELIMITER_ROW.test(line)) {
      this.#mark(start, start + line.length);
      return true;
    }
    this.#event(start, true, "tr");
    let cell = start;
    for (const { index } of [...line.matchAll(/(?<!\\)\|/g), { index: line.length }]) {
      const end = start + index;
      if (this.#text.slice(cell, end).trim() !== "") {
        this.#openLeaf("td", cell);
        this.#leaf.end = end;
        this.#closeLeaf();
      }
      if (index < line.length) this.#mark(end, end + 1);
      cell = end + 1;
    }
    this.#event(start + line.length, false, "tr");
    return true;
  }

  #item(line, start) {
    const found = ITEM.exec(line);
    if (!found) return false;
    const [marker, , bullet] = found;
    // In the middle of a paragraph, a list must begin at 1: "in\n2026. Then" is prose.
    if (this.#leaf?.name === "p" && /\d/.test(bullet) && !/^1[.)]$/.test(bullet)) return false;
    this.#closeLeaf();
    const kind = /\d/.test(bullet) ? "ol" : "ul";
    if (this.#list !== kind) {
      this.#closeAll(start);
      this.#list = kind;
      this.#event(start, true, kind);
    }
    this.#mark(start, start + marker.length);
    this.#openLeaf("li", start);
    this.#leaf.end = start + line.length;
    return true;
  }

  #continue(line, start) {
    if (!this.#leaf) {
      const belongsToList = this.#list && /^(?: {2,}|\t)/.test(line);
      if (!belongsToList) this.#closeAll(start);
      this.#openLeaf("p", start);
    }
    this.#leaf.end = start + line.length;
  }

  #openLeaf(name, start) {
    this.#leaf = { name, start, end: start, event: this.#event(start, true, name) };
  }

  #closeLeaf() {
    if (!this.#leaf) return;
    const { name, start, end } = this.#leaf;
    this.#leaf = null;
    this.#end = end;
    this.#markInline(start, end);
    this.#event(end, false, name);
  }

  #closeTable(at) {
    if (this.#table) this.#event(at, false, "table");
    this.#table = false;
  }

  #closeAll(at) {
    this.#closeLeaf();
    this.#closeTable(at);
    if (this.#list) this.#event(this.#end, false, this.#list);
    this.#list = null;
  }

  #event(at, open, name) {
    const event = { at, open, name };
    this.events.push(event);
    return event;
  }

  #mark(from, to) {
    this.marks.fill(MARK, from, to);
  }

  #markInline(start, end) {
    const text = this.#text.slice(start, end);
    let links = 0;
    for (const { 0: found, index, groups } of text.matchAll(INLINE)) {
      const from = start + index;
      const to = from + found.length;
      if (groups.ticks) {
        const ticks = groups.ticks.length;
        this.#mark(from, to);
        this.marks.fill(CODE, from + ticks, to - ticks);
      } else if (groups.opening) {
        links += 1;
        this.#mark(from, to);
      } else if (groups.target) {
        if (links > 0) this.#mark(from, to);
        links = Math.max(0, links - 1);
      } else if (groups.emphasis) {
        if (emphasises(text, index, found)) this.#mark(from, to);
      } else if (found[0] === "\\") this.#mark(from, from + 1);
      else if (ADDRESS.test(found)) this.#mark(from, to);
    }
  }
}

/** Whether a run of `*`, `_` or `~~` marks emphasis; between blanks it does not, nor does `_` within a word. */
function emphasises(text, index, run) {
  const before = text[index - 1] ?? " ";
  const after = text[index + run.length] ?? " ";
  if (/\s/.test(before) && /\s/.test(after)) return false;
  const word = /[\p{L}\p{N}]/u;
  return run[0] !== "_" || !(word.test(before) && word.test(after));
}
