/** slides/talk/talk.yaml: what it says of a talk, and how a wrong one is refused. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import fc from "fast-check";

import { InvalidFile } from "../../../scripts/deck/checked-yaml.js";
import { PROJECT, benchmarksRoot, talkRoot } from "../../../scripts/deck/data-sets.js";
import { readTalkFile, talkName, talkNames } from "../../../scripts/deck/talk-file.js";
import { makeTalk } from "../support/talk.js";

const LEAST = `title: A talk
description: Of something.
data_set: mine
cuts:
  - minutes: 10
chapters:
  - a.md
accent: { light: "#c4500a", dark: "#e69f00" }
`;
let talk;
beforeEach(async (t) => {
  talk = await makeTalk(t);
});

async function read(text) {
  await talk.save("slides/talk/talk.yaml", text);
  return readTalkFile(talk.root);
}

async function refusal(text) {
  try {
    await read(text);
  } catch (error) {
    assert.ok(error instanceof InvalidFile, error.stack);
    return error.message;
  }
  throw new assert.AssertionError({ message: `accepted:\n${text}` });
}

test("the shipped talk names its chapters, cuts and data", () => {
  const shipped = readTalkFile(PROJECT);
  assert.ok(shipped.chapters.length > 5);
  assert.ok(shipped.cuts.every(({ minutes, seconds }) => seconds > 0 && seconds <= minutes * 60));
  assert.notEqual(shipped.dataSet, "");
});

test("what a talk does not say is empty, and it discusses all claims", async () => {
  const { lineOf, ...stated } = await read(LEAST);
  assert.deepEqual(stated, {
    name: "talk",
    file: "slides/talk/talk.yaml",
    title: "A talk",
    description: "Of something.",
    speaker: "",
    event: "",
    date: "",
    contact: "",
    repository: "",
    dataSet: "mine",
    otherDataSets: [],
    claims: null,
    cuts: [{ minutes: 10, seconds: 600 }],
    chapters: ["slides/talk/a.md"],
    readerPage: null,
    picture: null,
    accent: { light: "#c4500a", dark: "#e69f00", inverse: "#e69f00" },
    series: {},
    look: { style: null, logo: null },
  });
  assert.deepEqual([lineOf("chapters", 0), lineOf("speaker"), lineOf("cuts", 0, "minutes")], [7, 1, 5]);
  const more = await read(`${LEAST}speaker:\nevent: " "\ndate: 2026-02-03\nclaims: [a-b, c]\n`);
  assert.deepEqual([more.speaker, more.event, more.date, more.claims], ["", "", "2026-02-03", ["a-b", "c"]]);
  const timed = await read(LEAST.replace("minutes: 10", "minutes: 10\n    timed_for_minutes: 8.5"));
  assert.deepEqual(timed.cuts, [{ minutes: 10, seconds: 510 }]);
});

test("a wrong file is refused with its line, its key, and what was expected", async () => {
  const changed = (from, to) => refusal(LEAST.replace(from, to));
  assert.match(
    await changed("title:", "titel:"),
    /^slides\/talk\/talk\.yaml:1: title: this key is missing\n/,
  );
  assert.match(
    await changed("title:", "titel:"),
    /slides\/talk\/talk\.yaml:1: titel: unknown key; expected one of title, /,
  );
  assert.equal(
    await changed("minutes: 10", "minutes: ten"),
    'slides/talk/talk.yaml:5: cuts[0].minutes: expected a whole number, found "ten"',
  );
  assert.match(await changed("minutes: 10", "minutes: 0"), /:5: cuts\[0\]\.minutes: 0: expected how long/);
  assert.match(
    await changed("- a.md", "- other/a.md"),
    /:7: chapters\[0\]: "other\/a\.md": expected a Markdown file beside talk\.yaml/,
  );
  assert.match(
    await changed('"#c4500a"', "orange"),
    /:8: accent\.light: "orange": expected a colour such as/,
  );
  assert.match(
    await refusal(`${LEAST}series:\n  mauve: [A]\n`),
    /:10: series\.mauve: "mauve" is not one of reference, accent/,
  );
  assert.match(await refusal(`${LEAST}claims: some\n`), /:9: claims: "some": expected the claims/);
  assert.match(
    await refusal(`${LEAST}repository: git@a.b:c\n`),
    /:9: repository: .*expected the web address/,
  );
  assert.match(
    await refusal(`${LEAST}title: B\n`),
    /^slides\/talk\/talk\.yaml:9: is not valid YAML: Map keys must/,
  );
  assert.match(await refusal("[\n"), /^slides\/talk\/talk\.yaml:\d: is not valid YAML/);
  assert.match(
    await refusal(""),
    /^slides\/talk\/talk\.yaml:1: the file: expected a mapping, found nothing$/,
  );
  assert.match(
    await refusal(LEAST.replace("  - minutes: 10", "  - minutes: 10\n  - minutes: 10")),
    /:6: cuts\[1\]: there are two cuts of 10 minutes/,
  );
  assert.match(
    await changed("minutes: 10", "minutes: 10\n    timed_for_minutes: 11"),
    /:5: cuts\[0\]: timed for 11 minutes, which is more than its 10 minutes/,
  );
});

test("single slides may be of other data sets, and the talk's own is none of them", async () => {
  assert.deepEqual((await read(`${LEAST}other_data_sets: [old]\n`)).otherDataSets, ["old"]);
  assert.match(
    await refusal(`${LEAST}other_data_sets: [old, mine]\n`),
    /:9: other_data_sets\[1\]: "mine" is the talk's own data set/,
  );
});

test("a folder without a talk is refused by name", () => {
  assert.throws(() => readTalkFile("/nowhere"), {
    name: "Error",
    message: "/nowhere holds no talk: write slides/NAME/talk.yaml (docs/your-own-talk.md)",
  });
});

test("of several talks the one that is asked for is meant, else the lead", async () => {
  await read(LEAST);
  await talk.save("slides/other/talk.yaml", LEAST);
  assert.deepEqual(talkNames(talk.root), ["other", "talk"]);
  assert.throws(
    () => talkName(talk.root, {}),
    /write "lead: true" into the talk\.yaml of one talk; there are other, talk/,
  );
  await talk.save("slides/other/talk.yaml", `${LEAST}lead: true\n`);
  assert.equal(talkName(talk.root, {}), "other");
  assert.equal(talkName(talk.root, { REPLAY_TALK_NAME: "talk" }), "talk");
  assert.throws(
    () => talkName(talk.root, { REPLAY_TALK_NAME: "tolk" }),
    /no talk "tolk"; in slides\/: other, talk/,
  );
});

test("whatever stands in the file, it is read or refused with its name", async () => {
  const keys = ["title", "cuts", "chapters", "accent", "claims", "series", "repository", "other"];
  const values = fc.oneof(fc.jsonValue(), fc.string(), fc.constantFrom("all", "a.md", "*a", "!!x y", "|"));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...keys), values, async (key, value) => {
      const text = `${LEAST.replace(new RegExp(`^${key}:.*(\\n +.*)*\\n`, "m"), "")}${key}: ${
        typeof value === "string" ? value : JSON.stringify(value)
      }\n`;
      try {
        assert.deepEqual((await read(text)).cuts.length > 0, true);
      } catch (error) {
        assert.ok(error instanceof InvalidFile, `${text}\n${error.stack}`);
        assert.match(error.message, /^slides\/talk\/talk\.yaml:\d+: /);
      }
    }),
  );
});

test("REPLAY_TALK names the folder of another talk, whose data sets lie in it unless they are named apart", () => {
  assert.equal(talkRoot({}), PROJECT);
  assert.equal(talkRoot({ REPLAY_TALK: "/a/talk" }), "/a/talk");
  assert.equal(benchmarksRoot({ REPLAY_TALK: "/a/talk" }), "/a/talk/benchmarks");
  assert.equal(benchmarksRoot({ REPLAY_TALK: "/a/talk", REPLAY_BENCHMARKS: "/data" }), "/data");
});
