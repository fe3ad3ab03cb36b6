import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { countWords } from "../../../deck/reader/contents.js";
import { chaptersOf, minutes } from "../../../deck/reader/outline.js";
import { wordsOf } from "../../../deck/reader/position.js";
import { excerptOf, partsOf, searchIn } from "../../../deck/reader/search.js";
import { slideInSight } from "../../../deck/stage/phone.js";
import { STAGE, revealOptions } from "../../../deck/stage/reveal-options.js";
import { normaliseChapter } from "../../../deck/text/chapters.js";

const slide = (id, more = {}) => ({
  id,
  title: id,
  chapter: "Journal",
  seconds: 60,
  appendix: false,
  text: "",
  notes: "",
  charts: [],
  ...more,
});

test("slides are grouped by chapter, in order, and the appendix takes no time", () => {
  const slides = [
    slide("a", { chapter: "One", seconds: 30 }),
    slide("b", { chapter: "One", seconds: 90 }),
    slide("c", { chapter: "Two", seconds: 45 }),
    slide("d", { chapter: "Appendix", appendix: true, seconds: 600 }),
  ];
  assert.deepEqual(
    chaptersOf(slides).map(({ title, seconds, appendix, slides: own }) => [
      title,
      seconds,
      appendix,
      own.length,
    ]),
    [
      ["One", 120, false, 2],
      ["Two", 45, false, 1],
      ["Appendix", 0, true, 1],
    ],
  );
  assert.equal(minutes(120), "2 min");
  assert.equal(minutes(45), "45 s");
  assert.equal(minutes(0), "");
});

test("a search finds titles before texts, beginnings of words, typos, and notes", () => {
  const find = searchIn([
    slide("text", { text: "Here the replication is measured." }),
    slide("title", { title: "Replication", text: "Elsewhere." }),
    slide("notes", { notes: "Tell them of the thunderstorm." }),
    slide("chart", { charts: ["Random reads"] }),
  ]);
  const ids = (query) => find(query).map(({ slide: { id } }) => id);
  assert.deepEqual(ids("replication"), ["title", "text"]);
  assert.deepEqual(ids("replic"), ["title", "text"]);
  assert.deepEqual(ids("replicatoin"), ["title", "text"]);
  assert.deepEqual(ids("thunder"), ["notes"]);
  assert.deepEqual(ids("random reads"), ["chart"]);
  assert.deepEqual(ids("replication thunderstorm"), []);
  assert.deepEqual(ids("((("), []);
});

test("an excerpt shows what was found, and nothing of the text is lost between its parts", () => {
  const long = `${"word ".repeat(40)}needle ${"more ".repeat(60)}`.trim();
  const parts = excerptOf({ text: long, notes: "" }, ["needle"]);
  assert.deepEqual(
    parts.filter(({ found }) => found).map(({ text }) => text),
    ["needle"],
  );
  const whole = parts.map(({ text }) => text).join("");
  assert.ok(whole.length < 220 && whole.startsWith("… ") && whole.endsWith(" …"), whole);
  assert.equal(
    excerptOf({ text: "Nothing.", notes: "A needle." }, ["needle"])
      .map(({ text }) => text)
      .join(""),
    "A needle.",
  );
  fc.assert(
    fc.property(
      fc.string(),
      fc.array(fc.string(), { maxLength: 4 }),
      (text, terms) =>
        partsOf(text, terms)
          .map((part) => part.text)
          .join("") === text,
    ),
  );
});

test("counts and places are written in words", () => {
  assert.equal(countWords(0, "x"), "No slide mentions “x”.");
  assert.equal(countWords(1, "x"), "One slide mentions “x”.");
  assert.equal(countWords(3, "x"), "3 slides mention “x”.");
  assert.equal(wordsOf({ chapter: "Journal", number: 3, of: 40, appendix: false }), "Journal · 3 of 40");
  assert.equal(
    wordsOf({ chapter: "Appendix: disks", number: 41, of: 40, appendix: true }),
    "Appendix: disks",
  );
  assert.equal(wordsOf({ chapter: "Spare", number: 41, of: 40, appendix: true }), "Spare · Appendix");
  assert.equal(wordsOf({ chapter: "", number: 1, of: 40, appendix: false }), "1 of 40");
});

test("the slide in sight is the last that begins above the middle of the screen", () => {
  assert.equal(slideInSight([-900, -100, 300, 900], 400), 2);
  assert.equal(slideInSight([10, 900], 400), 0);
  assert.equal(slideInSight([500, 900], 400), 0);
  assert.equal(slideInSight([-900, -500], 400), 1);
});

test("a phone's slides are as wide as its screen and show all steps; the previews of the speaker view never are", () => {
  const parts = { keyboardCondition: () => true, plugins: [] };
  const stage = revealOptions({ explore: false, receiver: false }, { ...parts, narrow: false });
  assert.deepEqual({ width: stage.width, height: stage.height }, STAGE);
  assert.equal(stage.fragments, true);
  assert.equal(stage.slideNumber, "c");
  const phone = revealOptions({ explore: true, receiver: false }, { ...parts, narrow: true });
  assert.equal(phone.width, "100%");
  assert.equal(phone.fragments, false);
  assert.equal(phone.slideNumber, false);
  const preview = revealOptions({ explore: false, receiver: true }, { ...parts, narrow: true });
  assert.deepEqual({ width: preview.width, height: preview.height }, STAGE);
  assert.equal(preview.scrollActivationWidth, null);
  for (const options of [stage, phone, preview]) {
    assert.equal(options.navigationMode, "linear");
    assert.equal(options.jumpToSlide, false);
    assert.equal(options.controls, false);
    assert.equal(options.progress, false);
  }
});

test("every spelling of a script's end becomes the one that the Markdown plugin expects", () => {
  for (const end of ["</script>", "</SCRIPT>", "</script >", "</Script\n x='1'>", "</script/>"])
    assert.equal(normaliseChapter(`a ${end} b`), "a </script> b");
  assert.equal(normaliseChapter("a </script "), "a </script>");
  assert.equal(normaliseChapter('a </script x="<img src=x onerror=1'), "a </script>");
  assert.equal(normaliseChapter("a </scripting> b"), "a </scripting> b");
});
