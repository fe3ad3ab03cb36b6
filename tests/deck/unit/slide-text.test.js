import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { slidesOf } from "../../../scripts/deck/check/chapters.js";
import { applyEdits, escapeText } from "../../../scripts/deck/text/escape.js";
import { proseOf } from "../../../scripts/deck/text/prose.js";
import { wordsOf } from "../../../scripts/deck/text/data-set-words.js";
import { boundElements, readSlide, verdictGroups } from "../../../scripts/deck/text/segments.js";
import { elements, parseTree, textOf } from "../../../scripts/deck/text/tree.js";

const read = (text, file = "a.md") => slidesOf(text, { file }).map(readSlide);
const only = (text) => read(text)[0];
const words = (slide) =>
  slide.segments.filter(({ text }) => text.trim() !== "").map(({ text, kind }) => `${kind}: ${text.trim()}`);
const named = (root, name) => [...elements(root)].filter((element) => element.name === name);
const nobody = wordsOf({ manifest: null, claims: null }, { shipped: true });
const prose = (slide, data = nobody) => proseOf(slide, data).map(({ text }) => text);

test("a slide is split into title, body, note and described drawings, each with its line", () => {
  const slide = only(`<!-- .slide: id="x" -->
## A *title*

Body with **words**.

<svg aria-label="a drawing"><text x="1">inside</text></svg>

<!-- Note -->
What I say.`);
  const seen = slide.segments
    .filter(({ text }) => text.trim() !== "")
    .map(({ text, kind, line }) => [kind, text.trim(), line]);
  assert.deepEqual(seen, [
    ["heading", "A", 2],
    ["heading", "title", 2],
    ["body", "Body with", 4],
    ["body", "words", 4],
    ["body", ".", 4],
    ["attribute", "a drawing", 6],
    ["body", "inside", 6],
    ["note", "What I say.", 9],
  ]);
  assert.deepEqual(prose(slide), ["A title", "Body with words.", "a drawing", "inside", "What I say."]);
});

test("Markdown's markup is not text: headings, lists, tables, links, emphasis, escapes", () => {
  const slide = only(`## Title ##

1. first *item*
2. second
- bullet

| a | b |
|:--|--:|
| c \\| d | __e__ |

See [the docs](https://example.org/15) and <https://example.org/16>, 2 * 3, snake_case, \\*star.

> quoted
`);
  assert.deepEqual(prose(slide), [
    "Title",
    "first item",
    "second",
    "bullet",
    ...["a", "b", "c | d", "e"],
    "See the docs and , 2 * 3, snake_case, *star.",
    "quoted",
  ]);
});

test("blocks may be indented, by blanks or in a list by a tab", () => {
  const html = "<div>c</div>";
  assert.deepEqual(prose(only(`x\n\n  a **b**\n\n  ${html}\n\n   **d**\n`)), ["x", "a b", "c", "d"]);
  assert.deepEqual(prose(only(`- a\n\n\tb\n\n\t${html}\n`)), ["a", "b", "c"]);
  const list = only('- a\n\t<!-- .element: class="fragment" -->\n- b\n  ```\n  \tc\n  ```\n');
  assert.deepEqual(
    named(list.body, "li").map(({ attributes }) => attributes),
    [{ class: "fragment" }, {}],
  );
  const code = list.segments.filter((segment) => segment.code && segment.text.trim());
  assert.deepEqual(
    code.map(({ text }) => text.trim()),
    ["c"],
  );
});

test("a line that is broken by blanks or a backslash ends a word", () => {
  assert.deepEqual(prose(only("One  \ntwo\\\nthree")), ["One two three"]);
});

test("a slide's comment says what stands on one line of it, as in reveal", () => {
  const { id, timing } = only('<!-- .slide: id="one"\n  data-timing="30" -->\n# One');
  assert.deepEqual([id, timing], ["one", null]);
});

test("a number at the beginning of a line of a paragraph is text, not a list", () => {
  assert.deepEqual(prose(only("We measured in\n2026. Then\n1. item")), ["We measured in 2026. Then", "item"]);
  assert.deepEqual(prose(only("<div>\n15. in HTML\n</div>")), ["15. in HTML"]);
});

test("code is recognised in backticks, fences and HTML, and may contain tags", () => {
  const slide = only('Use `<data value="x">` now\n\n```\n<p>15\n```\n\n<pre><code>npm 5</code></pre>\n');
  const code = slide.segments.filter((segment) => segment.code && segment.text.trim());
  assert.deepEqual(
    code.map(({ text }) => text.trim()),
    ['<data value="x">', "<p>15", "npm 5"],
  );
  assert.deepEqual([...boundElements(slide)], []);
});

test("comments are not text, and entities are decoded", () => {
  assert.deepEqual(prose(only('A &amp; B &times; C <!-- 15 --><canvas><!-- {"a": 3} --></canvas>')), [
    "A & B × C",
  ]);
});

test("the text in <data> is bound to its value, as one piece", () => {
  const [segment] = only('It is <data value="a.ratio">2.<b>1</b>×</data>.').segments.filter(
    ({ bound }) => bound !== null,
  );
  assert.deepEqual([segment.text, segment.bound], ["2.1×", "a.ratio"]);
});

test("a source is inherited: from a tag, from the comment after a block, from the slide, not into the note", () => {
  const source = (text) =>
    Object.fromEntries(
      only(text)
        .segments.filter((segment) => segment.text.trim())
        .map((segment) => [segment.text.trim(), segment.source]),
    );
  assert.deepEqual(source('<p>a <span data-source="S0">b <i>c</i></span> d</p>'), {
    ...{ a: null, b: "S0", c: "S0", d: null },
  });
  assert.deepEqual(source('one\n\ntwo <!-- .element: class="x" data-source="S1" -->\n\nthree'), {
    ...{ one: null, two: "S1", three: null },
  });
  assert.deepEqual(source('| a |\n|---|\n| b |\n\n<!-- .element: data-source="S2" -->\n'), {
    a: "S2",
    b: "S2",
  });
  assert.deepEqual(source('- a\n- b\n<!-- .element: data-source="S2" -->'), { a: null, b: "S2" });
  assert.deepEqual(source('- a\n- b\n\n<!-- .element: data-source="S2" -->'), { a: "S2", b: "S2" });
  assert.deepEqual(source('- a <!-- .element: data-source="S3" -->\n- b'), { a: "S3", b: null });
  assert.deepEqual(source('<!-- .slide: id="x" data-source="S0" -->\n# a\n\nb\n\n<!-- Note -->\nc'), {
    a: "S0",
    b: "S0",
    c: null,
  });
});

test("a comment after a tag in the same paragraph decorates that tag, as in reveal", () => {
  const slide = only('five <b>six</b> <!-- .element: data-source="S0" -->');
  const sources = slide.segments.map(({ text, source }) => [text.trim(), source]);
  assert.deepEqual(
    sources.filter(([text]) => text),
    [
      ["five", null],
      ["six", "S0"],
    ],
  );
});

test("adjacent texts on one claim are a group; words or another claim end it", () => {
  const groups = (text) => verdictGroups(only(text)).map((members) => members.map(textOf).join("|"));
  assert.deepEqual(
    groups(
      '## <span data-when="a held">A</span><span data-when="a refuted">B</span> <i data-when="b held">C</i>',
    ),
    ["A|B", "C"],
  );
  assert.deepEqual(
    groups(
      '<p data-when="a held">A</p>\n\n<p data-when="a refuted">B</p>\n\nwords\n\n<p data-when="a held">C</p>',
    ),
    ["A|B", "C"],
  );
  assert.deepEqual(groups('x\n\n<!-- Note -->\n<p data-when="a held">A</p>'), ["A"]);
});

test("with a data set, values are filled in and texts that were not chosen are left out", () => {
  const claims = { claims: { a: { verdict: "held", conditions: { ratio: { estimate: 4.5, n: 6 } } } } };
  const slide =
    only(`## <span data-when="a held">Falls to <data value="a.ratio">2×</data></span><span data-when="a refuted">Stays</span>

It is <data value="manifest.label">Sandbox</data>, always.

<!-- Note -->
<p data-when="a held">Yes.</p>
<p data-when="a refuted inconclusive not-testable-here not-measured">No.</p>`);
  const mine = wordsOf({ manifest: { label: "My cluster" }, claims });
  assert.deepEqual(prose(slide, mine), ["Falls to 4.5×", "It is My cluster, always.", "Yes."]);
  assert.deepEqual(prose(slide, wordsOf({ manifest: null, claims: null })), [
    "It is not recorded, always.",
    "No.",
  ]);
  assert.deepEqual(prose(slide), ["It is Sandbox, always.", "No."]);
});

test("a term is read with its description", () => {
  const facts =
    "<dl><div><dt>OSDs</dt><dd>3<small>on disks</small></dd></div><div><dt>Tool</dt><dd>fio</dd></div></dl>";
  assert.deepEqual(prose(only(facts)), ["OSDs 3", "on disks", "Tool fio"]);
});

test("sentences have the line in which they begin", () => {
  const [block] = proseOf(only("One here.\nTwo is\nlonger. Three at 4.5 here."), nobody);
  assert.deepEqual(block.sentences, [
    { text: "One here.", line: 1 },
    { text: "Two is longer.", line: 2 },
    { text: "Three at 4.5 here.", line: 3 },
  ]);
});

test("an underlined line is a heading", () => {
  assert.deepEqual(words(only("Underlined\n---\n")), ["heading: Underlined"]);
});

test("elements know their place, self-closing and unclosed ones too", () => {
  const text = '<svg><path d="M0" /><text>a</text></svg><p>b<br>c<p>d';
  const root = parseTree(text);
  const outer = (name) => named(root, name).map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(outer("path"), ['<path d="M0" />']);
  assert.deepEqual(outer("text"), ["<text>a</text>"]);
  assert.deepEqual(outer("br"), ["<br>"]);
  assert.deepEqual(
    named(root, "p")
      .filter(({ isTag }) => isTag)
      .map(({ innerStart, innerEnd }) => text.slice(innerStart, innerEnd)),
    ["b<br>c", "d"],
  );
});

test("any text can be written to a slide and is read back unchanged", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (any) => {
      const text = any.replace(/\s+/g, " ").trim() || "x";
      for (const around of [
        (inner) => `Is ${inner} so.`,
        (inner) => `<div>${inner}</div>`,
        (inner) => `| ${inner} |\n|---|\n`,
      ]) {
        const slide = only(around(`<data value="a.b">${escapeText(text)}</data>`));
        const [element] = boundElements(slide);
        assert.equal(textOf(element), text);
      }
    }),
  );
});

test("reading never fails, and every piece of text is at its stated place", () => {
  const bit = fc.constantFrom(
    ...[
      "<p>",
      "</p>",
      "<b>",
      "</b>",
      "`",
      "``",
      "*",
      "_x_",
      "| a ",
      "\n",
      "\n\n",
      "- ",
      "1. ",
      "# ",
      "```\n",
      "15",
    ],
    ...[
      '<!-- .element: a="b" -->',
      "<!--",
      "[a](b)",
      "](",
      "&amp;",
      '<data value="m.n">',
      "</data>",
      "|--|\n",
      "---\n",
      "<br>",
    ],
  );
  fc.assert(
    fc.property(fc.array(bit, { maxLength: 25 }), (bits) => {
      const slide = only(bits.join(""));
      for (const { text, at, bound } of slide.segments) {
        // Decoded entities are shorter than they are written, a bound text may hold tags.
        if (bound === null && !/[&]/.test(text) && text !== " ")
          assert.equal(slide.text.slice(at, at + text.length), text);
      }
      for (const element of elements(slide.body)) {
        assert.ok(element.start <= element.innerStart && element.innerStart <= element.innerEnd);
        assert.ok(element.innerEnd <= element.end && element.end <= slide.text.length);
      }
      assert.ok(proseOf(slide, nobody).every(({ text }) => text === text.trim()));
    }),
  );
});

test("edits are applied in any order, and one within a larger one is left out", () => {
  assert.equal(
    applyEdits("abcdef", [
      { from: 4, to: 5, text: "E" },
      { from: 1, to: 2, text: "x" },
      { from: 0, to: 3, text: "-" },
    ]),
    "-dEf",
  );
});

test("pieces of a slide read like the slide", () => {
  assert.deepEqual(words(only("## A\n\nb <b>c</b>")), ["heading: A", "body: b", "body: c"]);
});
