import assert from "node:assert/strict";
import { test } from "node:test";

import { renderChapters } from "../../../scripts/deck/text/rendered.js";

const htmlOf = async (text, options = {}) => {
  const file = options.readerPage ?? "slides/talk/a.md";
  const rendered = await renderChapters(new Map([[file, text]]), options);
  assert.deepEqual([...rendered.keys()], [file.replace(".md", ".html")]);
  return rendered.get(file.replace(".md", ".html"));
};
const count = (html, pattern) => [...html.matchAll(pattern)].length;

test("a chapter becomes a stack of slides, with their attributes and notes", async () => {
  const html = await htmlOf(
    '<!-- .slide: id="one" data-timing="10" -->\n## One\n\n- a <!-- .element: class="fragment" -->\n\n<!-- Note -->\n**Cue**\n\n\n## Two\n',
  );
  assert.match(html, /^<section>\s*<section [^>]*id="one" data-timing="10"/);
  assert.equal(count(html, /<section/g), 3);
  assert.match(html, /<h2>One<\/h2>/);
  assert.match(html, /<li class="fragment">a/);
  assert.match(html, /<aside class="notes"><p><strong>Cue<\/strong>/);
});

test("the reader's page is parted into sections, one below another", async () => {
  const text = "## One\n\n\n## Two\n\n\n## Three\n";
  assert.equal(count(await htmlOf(text, { readerPage: "slides/talk/reader.md" }), /<section/g), 3);
  assert.equal(count(await htmlOf(text), /<section/g), 4);
});

test("an empty chapter stays empty, so that the page can say so", async () => {
  assert.equal(await htmlOf("\n \r\n"), "");
});

test("a slide that would run or load something is refused, with its file and what it is", async () => {
  for (const [text, what] of [
    ["## One\n\n<script>alert(1)</script>", /slides\/talk\/a\.md: .*<script>/],
    ['## One\n\n<img src="x.png" onerror="alert(1)">', /slides\/talk\/a\.md: .*onerror of <img>/],
    ["## One\n\n<iframe></iframe>", /slides\/talk\/a\.md: .*<iframe>/],
    ['<!-- .slide: onclick="alert(1)" -->\n## One', /slides\/talk\/a\.md: .*onclick of <section>/],
    ['<!-- .slide: data-background-iframe="x" -->\n## One', /data-background-iframe of <section>/],
  ]) {
    await assert.rejects(htmlOf(text), { message: what });
  }
});

test("rendering leaves no name of a browser's behind", async () => {
  await htmlOf("## One");
  assert.equal(globalThis.Node, undefined);
});
