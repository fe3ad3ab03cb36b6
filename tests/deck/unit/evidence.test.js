/** Each sentence of a talk rests on something that a person has looked at; what moves since is red until somebody looks again. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, test } from "node:test";

import { parse } from "yaml";

import { kindOf, sentencesOf } from "../../../scripts/deck/check/sentences.js";
import { slidesOf } from "../../../scripts/deck/check/chapters.js";
import { readSlide } from "../../../scripts/deck/text/segments.js";
import { CHART, MANIFEST, claimsWith, makeTalk, slideWith } from "../support/talk.js";

let talk;
beforeEach(async (t) => {
  talk = await makeTalk(t);
  await talk.saveData({ claims: claimsWith({ small: {} }) });
});

const FILE = "slides/talk/evidence.yaml";
const BOUND = 'Writes take <data value="small.ratio">2.1×</data> as long.';
const TEXTS =
  '<span data-when="small held">It slows writes.</span><span data-when="small refuted">It does not slow writes.</span>' +
  '<span data-when="small inconclusive not-testable-here not-measured">Does it slow writes?</span>';
const sentences = (body, note) =>
  slidesOf(slideWith(body, note), { file: "slides/talk/a.md" }).map(readSlide).flatMap(sentencesOf);

async function acceptAll(chapter) {
  await talk.save("slides/talk/a.md", chapter);
  return (await talk.check()).accept(["all"]);
}
async function red(chapter) {
  return (await talk.problemsOf(chapter)).filter((line) =>
    /nobody has read|was not looked at|, and is |what it is|names nothing/.test(line),
  );
}
const kept = () => readFile(path.join(talk.root, FILE), "utf8");
/** What a person does who has read a sentence that is bound to nothing. */
async function write(from, to) {
  const text = await kept();
  assert.ok(text.includes(from), text);
  await talk.save(FILE, text.replace(from, to));
}

test("a sentence has its place, its values by name, and the verdict that chooses it", () => {
  const found = sentences(`## ${BOUND}\n\n${TEXTS}`, "**Cue**\n\nYou see it. And <b>this</b> too.");
  assert.deepEqual(
    found.map(({ place, words, when }) => [place, words, when]),
    [
      ["title", "Writes take {small.ratio} as long.", ""],
      ["text", "It slows writes.", "small held"],
      ["text", "It does not slow writes.", "small refuted"],
      ["text", "Does it slow writes?", "small inconclusive not-testable-here not-measured"],
      ["note", "Cue", ""],
      ["note", "You see it.", ""],
      ["note", "And this too.", ""],
    ],
  );
  assert.equal(new Set(found.map(({ id }) => id)).size, found.length);
});

test("a picture is everything in its tag and options that decides what is drawn", () => {
  const tag = (more, options = "") =>
    `## ${BOUND}\n\n<canvas class="wide" data-chart="line" data-chart-src="${CHART}" ${more}>${options}</canvas>`;
  const id = (...parts) => sentences(tag(...parts)).find(({ place }) => place === "picture").id;
  assert.equal(id(""), id('style="width: 1px"'), "what no reader is told by");
  assert.notEqual(id(""), id('data-chart-series="A"'), "a series left out");
  assert.notEqual(id(""), id("", '<!-- {"options": {"scales": {"x": {"max": 20}}}} -->'), "a cropped axis");
  assert.notEqual(id(""), id('data-chart-x-title="Hours"'));
  const canvas = tag("").split("\n\n")[1];
  const pictures = (body) => sentences(body).filter(({ place }) => place === "picture");
  const panel = (title) => `<div><h3>${title}</h3>${canvas}</div>`;
  const panels = pictures([panel("Few writes"), panel("Many writes")].join("\n"));
  assert.equal(new Set(panels.map(({ id: own }) => own)).size, 2, "each with the heading above it");
  const [shown] = pictures(`<div data-when="small held refuted">\n${canvas}\n</div>`);
  assert.deepEqual([shown.when, shown.claims], ["small held refuted", ["small"]]);
});

test("what a sentence is, its own markup tells or a person has to say", () => {
  const kinds = (body) => sentences(body, "Just words.").map(kindOf);
  assert.deepEqual(kinds(`## ${BOUND}`), ["measured", null]);
  assert.deepEqual(kinds('## One\n\n<span data-source="S0">Ten times.</span>'), [null, "source", null]);
  assert.deepEqual(kinds('## One\n\n<span data-source="definition">One is free.</span>'), [
    null,
    "definition",
    null,
  ]);
});

test("a talk without the file is held to nothing", async () => {
  assert.deepEqual(await red(slideWith(`## ${BOUND}`)), []);
});

test("what was accepted is quiet; a new or edited sentence is red, with its id, until it is accepted", async () => {
  const chapter = slideWith(`## ${BOUND}`, "You see it.");
  const first = await acceptAll(chapter);
  assert.deepEqual([first.accepted, first.unread], [2, 1]);
  const [untold, ...others] = await red(chapter);
  assert.match(untold, /write instead of “unread” what it is: “You see it\.”/);
  assert.deepEqual(others, []);
  await write("unread: You see it.", "judgement: You see it.");
  assert.deepEqual(await red(chapter), []);
  const edited = chapter.replace("as long", "as long, always");
  const [problem, ...rest] = await red(edited);
  assert.deepEqual(rest, []);
  assert.match(
    problem,
    /a\.md:2: [0-9a-f]{8} \(title of one\): nobody has read it: “Writes .* always\.” \(small\.ratio: 2\.084 \(1\.9 /,
  );
  const id = /: ([0-9a-f]{8}) /.exec(problem)[1];
  const outcome = await (await talk.check()).accept([id, "nothing"]);
  assert.deepEqual([outcome.accepted, outcome.unknown], [1, ["nothing"]]);
  assert.deepEqual(await red(edited), []);
  const { one } = parse(await kept());
  assert.deepEqual(
    one.map(({ measured, judgement }) => ({ measured, judgement })),
    [
      { measured: "Writes take {small.ratio} as long, always.", judgement: undefined },
      { measured: undefined, judgement: "You see it." },
    ],
    "what is no longer said is no longer kept",
  );
});

test("an estimate that leaves its former interval is red, and one that stays inside is not", async () => {
  const chapter = slideWith(`## ${BOUND}`, `${BOUND}`);
  await acceptAll(chapter);
  const measured = (estimate, low, high) =>
    claimsWith({ small: { conditions: { ratio: { estimate, low, high, n: 6, verdict: "held" } } } });
  await talk.saveData({ claims: measured(2.2, 2.1, 2.3) });
  assert.deepEqual(await red(chapter), []);
  await talk.saveData({ claims: measured(2.4, 2.3, 2.5) });
  const problems = await red(chapter);
  assert.equal(problems.length, 2, "title and note");
  assert.match(problems[0], /small\.ratio was 2\.084 \(1\.9 to 2\.26\), and is 2\.4 \(2\.3 to 2\.5\)/);
});

test("a changed verdict is red for every sentence that it chooses or that somebody rested on it", async () => {
  const chapter = slideWith(`## ${BOUND}\n\n${TEXTS}`, "And that is that.");
  await acceptAll(chapter);
  await write("unread: And that is that.", "measured: And that is that.");
  assert.match((await red(chapter)).join("\n"), /measured, and names nothing that it rests on/);
  const rests = "measured: And that is that.\n    scope: one writer\n    rests_on:\n      small:";
  await write("measured: And that is that.", rests);
  assert.match((await red(chapter)).join("\n"), /small was not looked at/);
  await (await talk.check()).accept(["one"]);
  assert.deepEqual(await red(chapter), []);
  assert.match(
    await kept(),
    /And that is that\.\n {4}scope: one writer\n {4}rests_on:\n {6}small: \{ verdict: held \}/,
  );
  const claims = claimsWith({ small: { verdict: "inconclusive" } });
  await talk.saveData({ claims });
  const problems = await red(chapter);
  assert.ok(
    problems.every((line) => /small was held, and is inconclusive/.test(line)),
    problems.join("\n"),
  );
  assert.ok(
    problems.some((line) => /And that is that/.test(line)),
    "which is bound to nothing, and rests on it",
  );
});

test("a slide of another data set rests on what that one says", async () => {
  const old = (estimate, low, high) =>
    talk.saveData(
      {
        claims: claimsWith({
          small: { conditions: { ratio: { estimate, low, high, n: 6, verdict: "held" } } },
        }),
      },
      "old",
    );
  await old(3, 2.9, 3.1);
  await talk.state({ other_data_sets: ["old"] });
  const chapter = slideWith(`## ${BOUND.replace("2.1×", "3.0×")}`).replace(
    "data-timing",
    'data-set="old" data-timing',
  );
  await acceptAll(chapter);
  assert.match(await kept(), /small\.ratio: \{ estimate: 3, low: 2\.9, high: 3\.1 \}/);
  const rests = async () => (await red(chapter)).filter((line) => line.includes("small.ratio"));
  assert.deepEqual(await rests(), []);
  await old(4, 3.9, 4.1);
  assert.match((await rests()).join("\n"), /small\.ratio was 3 \(2\.9 to 3\.1\), and is 4 \(3\.9 to 4\.1\)/);
});

test("a slide may be called as a field of an entry is", async () => {
  const chapter = slideWith(`## ${BOUND}`).replace('id="one"', 'id="verdict"');
  await acceptAll(chapter);
  assert.match(await kept(), /^verdict:\n {2}- id: /m, "a line for each field");
});

test("an entry of another kind is refused by name, and so is evidence that the data do not have", async () => {
  const chapter = slideWith(`## ${BOUND}`, "You see it.");
  await acceptAll(chapter);
  await write("unread: You see it.", "guess: You see it.");
  await assert.rejects(talk.problemsOf(chapter), /slide one, [0-9a-f]{8}: say as one of measured, source/);
  await write("guess: You see it.", "judgement:\n    scope: here");
  await assert.rejects(talk.problemsOf(chapter), /slide one, [0-9a-f]{8}: say as one of measured, source/);
  await write("judgement:\n    scope: here", "measured: You see it.\n    rests_on:\n      smal:");
  await assert.rejects((await talk.check()).accept(["one"]), /rests on smal, which the data do not have/);
});

test("an edited sentence stays what it was: accepting it once is enough", async () => {
  const chapter = slideWith(`## ${BOUND}`, "Writes wait for it, and that is that.");
  await acceptAll(chapter);
  const rests =
    "measured: Writes wait for it, and that is that.\n    scope: one writer\n    rests_on:\n      small:";
  await write("unread: Writes wait for it, and that is that.", rests);
  await (await talk.check()).accept(["one"]);
  assert.deepEqual(await red(chapter), []);
  const edited = chapter.replace("wait for it, and", "wait for it; and");
  const again = edited.replace("; and that is that", " and that's it");
  for (const [text, before] of [
    [edited, "for it, and that is that."],
    [again, "for it; and that is that."],
  ]) {
    const [problem, ...others] = await red(text);
    assert.deepEqual(others, []);
    assert.ok(problem.endsWith(` instead of “Writes wait ${before}”`), problem);
    const { accepted, unread } = await (await talk.check()).accept([/: ([0-9a-f]{8}) /.exec(problem)[1]]);
    assert.deepEqual([accepted, unread], [1, 0]);
    assert.deepEqual(await red(text), []);
  }
  assert.match(
    await kept(),
    /that's it\.\n {4}scope: one writer\n {4}rests_on:\n {6}small: \{ verdict: held \}/,
  );
});

test("while one of several edited sentences is accepted, the others keep what they were", async () => {
  const chapter = slideWith(`## ${BOUND}`, "You see it. You hear it, too.");
  await acceptAll(chapter);
  await write("unread: You see it.", "judgement: You see it.");
  await write("unread: You hear it, too.", "judgement: You hear it, too.");
  const edited = chapter.replace("You see it.", "You see it!").replace("it, too", "it as well, too");
  for (let left = 2; left > 0; left -= 1) {
    const problems = await red(edited);
    assert.equal(problems.length, left);
    const id = /: ([0-9a-f]{8}) /.exec(problems[0])[1];
    const outcome = await (await talk.check()).accept([id]);
    assert.deepEqual([outcome.accepted, outcome.unread], [1, 0]);
  }
  assert.deepEqual(await red(edited), []);
  assert.equal(parse(await kept()).one.length, 3, "and nothing is kept that nobody says");
});

test("an edited sentence no longer rests on a value that it no longer says; another sentence is new", async () => {
  await talk.saveData({ claims: claimsWith({ small: {}, large: {} }) });
  await acceptAll(slideWith(`## ${BOUND}`));
  const edited = slideWith(`## ${BOUND.replace("small", "large")}`);
  const [problem] = await red(edited);
  assert.match(problem, /instead of “Writes take \{small\.ratio\} as long\.”/);
  await (await talk.check()).accept(["one"]);
  const { one } = parse(await kept());
  assert.deepEqual(Object.keys(one[0].rests_on), ["large.ratio"]);
  const [other] = await red(slideWith("## Nothing of this was ever there before"));
  assert.doesNotMatch(other, /instead of/);
});

/** The same figures, measured with this release of Ceph. */
function measuredWith(release, dataSet) {
  const experiments = structuredClone(MANIFEST.experiments);
  experiments["rbd-journaling"].provenance = { ceph_versions: [release] };
  const claims = claimsWith({ small: { experiment: "rbd-journaling" } });
  return talk.saveData({ manifest: { ...MANIFEST, experiments }, claims }, dataSet);
}
const PICTURE = `\n\n<canvas data-chart="line" data-chart-src="${CHART}"></canvas>`;

test("the same figures of another release or data set are red for each sentence and picture that rests on them", async () => {
  const chapter = slideWith(`## ${BOUND}${PICTURE}`, "You see it.");
  await measuredWith("20.2.4");
  await acceptAll(chapter);
  await write("unread: You see it.", "judgement: You see it.");
  assert.equal((await kept()).match(/^ {4}of: reference, Ceph 20\.2\.4$/gm).length, 2);
  assert.deepEqual(await red(chapter), []);
  await measuredWith("20.2.5");
  const problems = await red(chapter);
  assert.equal(problems.length, 2, "the title and the picture, and not the judgement");
  for (const problem of problems)
    assert.match(problem, /it was of reference, Ceph 20\.2\.4, and is of reference, Ceph 20\.2\.5/);
  await (await talk.check()).accept(["one"]);
  assert.deepEqual(await red(chapter), []);
  await measuredWith("20.2.5", "another");
  await talk.state({ data_set: "another" });
  const [title] = await red(chapter);
  assert.match(title, /it was of reference, Ceph 20\.2\.5, and is of another, Ceph 20\.2\.5/);
});

test("an entry of an older form gets its data set when any sentence is accepted, and is quiet until then", async () => {
  const chapter = slideWith(`## ${BOUND}${PICTURE}`, "You see it.");
  await measuredWith("20.2.4");
  await acceptAll(chapter);
  const whole = await kept();
  await talk.save(FILE, whole.replace(/^ {4}of: .*\n/gm, ""));
  const [note, ...others] = await red(chapter);
  assert.match(note, /“You see it\.”/);
  assert.deepEqual(others, []);
  await (await talk.check()).accept([parse(whole).one.find(({ unread }) => unread).id]);
  assert.equal(await kept(), whole);
});

test("a file that cannot be read as it is is named, and a slide without entries is none", async () => {
  await acceptAll(slideWith(BOUND));
  await talk.save(FILE, `trials:\n${await kept()}`);
  await talk.check();
  for (const wrong of ["one: measured\n", "one:\n  - measured\n", "one: {id: a}\n"]) {
    await talk.save(FILE, wrong);
    await assert.rejects(talk.check(), /^Error: slides\/talk\/evidence\.yaml: slide one: expected a list/);
  }
  await talk.save(FILE, "one: [\n");
  await assert.rejects(talk.check(), /^Error: slides\/talk\/evidence\.yaml: /);
  await talk.save(FILE, "");
  await talk.save("config/claims.yaml", "claims: [\n");
  await assert.rejects(talk.check(), /^Error: config\/claims\.yaml: /);
});
