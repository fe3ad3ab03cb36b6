import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { access, appendFile, cp, mkdir, readFile, readdir, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { slidesOf } from "../../../scripts/deck/check/chapters.js";
import { commitOf, pinnedTalk } from "../../../scripts/deck/freeze.js";
import { wordsOf } from "../../../scripts/deck/text/data-set-words.js";
import { pinChapter } from "../../../scripts/deck/text/pin.js";
import { readSlide } from "../../../scripts/deck/text/segments.js";
import { temporaryFolder } from "../../support/folders.mjs";
import { assertEnds, runNode } from "../../support/programs.mjs";
import { FIXTURE } from "../support/fixture.js";
import { CHART, MANIFEST, claimsWith, makeTalk } from "../support/talk.js";

const PLACE = { file: "a.md" };
const CHAPTER = `<!-- .slide: id="one" -->
## <span data-when="small held">Falls to <data value="small.ratio">9×</data></span><span data-when="small refuted">Stays</span>

<p data-when="small refuted">gone</p>

<p data-when="small held">kept</p>

<canvas data-chart="line" data-chart-src="benchmarks/reference/x/aggregate/a-b.csv"></canvas>

<!-- Note -->
Words.

<p data-when="small refuted">gone at the end</p>


<!-- .slide: id="two" -->
# On <data value="manifest.label">Sandbox</data>, <data value="manifest.setup.hosts">3</data>



<!-- .slide: id="three" -->
# Three
`;
const COMPARED = "headline-16";
const folder = temporaryFolder({ after });
const site = path.join(folder, "site");
let said;

/** Runs the program; its benchmarks are the fixture's, with claims. */
function freeze(...args) {
  const addresses = { REPLAY_HOMEPAGE: "", REPLAY_REPOSITORY: "" };
  const environment = { ...addresses, REPLAY_BENCHMARKS: path.join(folder, "benchmarks") };
  return runNode("scripts/freeze.mjs", args, environment);
}

before(async () => {
  const benchmarks = path.join(folder, "benchmarks");
  await cp(FIXTURE, benchmarks, { recursive: true });
  await writeFile(path.join(benchmarks, "fixture/claims.json"), JSON.stringify(claimsWith({ small: {} })));
  await cp(path.join(benchmarks, "fixture"), path.join(benchmarks, COMPARED), { recursive: true });
  await rm(path.join(benchmarks, "fixture-small/claims.json"), { force: true });
  said = (await freeze("--data", "fixture", "--out", site, "--no-address")).stderr;
});

function pinned(
  text,
  data = { manifest: { ...MANIFEST, label: "a < *b*" }, claims: claimsWith({ small: {} }) },
) {
  const slides = slidesOf(text, PLACE).map(readSlide);
  return pinChapter(text, slides, () => ({ data: { name: "mine" }, words: wordsOf(data) }));
}

test("pinned slides contain the data set's figures, chosen texts and charts", () => {
  const text = pinned(CHAPTER);
  assert.match(text, /Falls to <data value="small\.ratio">2\.1×<\/data>/);
  assert.match(text, /<p data-when="small held">kept<\/p>/);
  assert.doesNotMatch(text, /Stays|gone/);
  assert.match(text, /data-chart-src="benchmarks\/mine\/x\/aggregate\/a-b\.csv"/);
  assert.match(text, /On <data value="manifest\.label">a &lt; &#42;b&#42;<\/data>/);
});

test("a value that the data set lacks is absent, never the shipped figure", () => {
  assert.match(pinned(CHAPTER), /<data value="manifest\.setup\.hosts">not recorded<\/data>/);
  assert.match(
    pinned('<data value="small.ratio">9×</data>', { manifest: null, claims: null }),
    /<data value="small\.ratio">not measured<\/data>/,
  );
});

test("removing a text neither splits nor joins slides", () => {
  const parts = (text) => [...text.matchAll(/^\n\n\n|^\n\n/gm)].map(([found]) => found.length);
  const text = pinned(CHAPTER);
  assert.deepEqual(parts(text), parts(CHAPTER));
  assert.deepEqual(
    slidesOf(text, PLACE).map(({ id }) => id),
    ["one", "two", "three"],
  );
  assert.ok(text.endsWith("# Three\n"));
});

test("a block whose comment names a verdict is removed with its markup", () => {
  const when = (verdicts) => `<!-- .element: data-when="small ${verdicts}" -->`;
  const text = `## Here ${when("held")}\n\n## Gone ${when("refuted")}\n\n- a\n- b ${when("refuted")}\n- c\n`;
  assert.equal(pinned(text), `## Here ${when("held")}\n\n- a\n\n- c\n`);
  // A comment that stays would decorate the title.
  assert.equal(pinned(`## Here\n\n- a\n\n${when("refuted")}\n\nLast.\n`), "## Here\n\nLast.\n");
});

test("a chart is pinned however its attributes are quoted", () => {
  const src = (name) => `benchmarks/${name}/x/aggregate/a-b.csv`;
  const chart = (written) => `<canvas data-chart=line data-chart-src=${written}></canvas>`;
  assert.equal(pinned(chart(`'${src("reference")}'`)), chart(`'${src("mine")}'`));
  assert.equal(pinned(chart(src("reference"))), chart(`"${src("mine")}"`));
});

test("a slide that compares data sets keeps its files, whose names are written on it", () => {
  const slide = `<!-- .slide: id="one" data-compare="old reference" -->\n# One\n\n<canvas data-chart="forest" data-chart-src="${CHART.replace("reference", "old")}" data-chart-more="${CHART}" data-chart-names="Ceph 16 | Ceph 20"></canvas>\n`;
  assert.equal(pinned(slide), slide);
});

test("a chapter that depends on no data stays as it is", () => {
  const plain = "# One\n\nWords & *marks*.\n\n<!-- Note -->\nWords.\n\n\n# Two\n";
  assert.equal(pinned(plain), plain);
});

test("a data set that is missing, or has no claims, is refused with what to do", async (t) => {
  const talk = await makeTalk(t);
  await talk.save("slides/talk/a.md", "# One\n\n<!-- Note -->\nWords.\n");
  const places = { root: talk.root, benchmarks: talk.benchmarks };
  await assert.rejects(pinnedTalk({ ...places, name: "mine" }), /no data set “mine”. Available: reference/);
  await talk.saveData({ claims: null }, "mine");
  await assert.rejects(
    pinnedTalk({ ...places, name: "mine" }),
    /has no claims\.json; .*\.\/replay derive --data mine/,
  );
  const { chapters, dataSets } = await pinnedTalk({ ...places, name: "reference" });
  assert.deepEqual([...chapters.keys()], ["slides/talk/a.md"]);
  assert.deepEqual(dataSets, ["reference"]);
});

test("a talk that is frozen to its own data keeps the slides of another data set; frozen to others, it has none", async (t) => {
  const talk = await makeTalk(t);
  const slide = (id, attribute) =>
    `<!-- .slide: id="${id}"${attribute} -->\n# <data value="manifest.label">Sandbox</data>\n\n<canvas data-chart="line" data-chart-src="${CHART.replace("reference", attribute ? "old" : "reference")}"></canvas>\n\n<!-- Note -->\nWords.\n`;
  await talk.state({ other_data_sets: ["old"] });
  await talk.save("slides/talk/a.md", `${slide("one", "")}\n\n${slide("two", ' data-set="old"')}`);
  const places = { root: talk.root, benchmarks: talk.benchmarks };
  await assert.rejects(pinnedTalk({ ...places, name: "reference" }), /no data set “old”/);
  for (const name of ["old", "mine"])
    await talk.saveData({ manifest: { ...MANIFEST, label: `A ${name} one` } }, name);
  const read = async (name) => {
    const { chapters, dataSets } = await pinnedTalk({ ...places, name });
    const text = chapters.get("slides/talk/a.md");
    return { dataSets, text, labels: [...text.matchAll(/">(.*)<\/data>/g)].map(([, label]) => label) };
  };
  const own = await read("reference");
  assert.deepEqual(
    [own.dataSets, own.labels],
    [
      ["reference", "old"],
      ["Sandbox", "A old one"],
    ],
  );
  assert.match(own.text, /id="two" data-set="old" -->[^]*benchmarks\/old\//);
  const mine = await read("mine");
  assert.deepEqual([mine.dataSets, mine.labels], [["mine"], ["A mine one", "A mine one"]]);
  assert.doesNotMatch(mine.text, /data-set|benchmarks\/(?!mine\/)/);
  assert.match(mine.text, /id="two" -->/);
});

test("the site gets the data sets that a slide compares, as far as they are here", async (t) => {
  const talk = await makeTalk(t);
  const chart = (name) => CHART.replace("reference", name);
  await talk.save(
    "slides/talk/a.md",
    `<!-- .slide: id="one" data-compare="old gone reference" -->\n# One\n\n<canvas data-chart="forest" data-chart-src='${chart("old")}' data-chart-more="${chart("gone")} | ${CHART}" data-chart-absolute=${chart("under")}></canvas>\n\n<!-- Note -->\nWords.\n`,
  );
  for (const name of ["old", "under", "mine", "not-shown"]) await talk.saveData({}, name);
  const dataSets = async (name) =>
    (await pinnedTalk({ root: talk.root, benchmarks: talk.benchmarks, name })).dataSets;
  assert.deepEqual(await dataSets("reference"), ["reference", "old", "under"]);
  assert.deepEqual(await dataSets("mine"), ["mine", "old", "reference", "under"]);
});

test("a frozen site holds its data set, those that slides compare, its wording, and the record of all", async () => {
  const index = JSON.parse(await readFile(path.join(site, "benchmarks/index.json"), "utf8"));
  assert.deepEqual(index.data_sets, ["fixture", COMPARED]);
  assert.deepEqual((await readdir(path.join(site, "benchmarks"))).sort(), [...index.data_sets, "index.json"]);
  const missing = "benchmarks/headline-18/rbd-journaling/aggregate/ratio-throughput-write-seq.csv";
  assert.ok(said.includes(`File missing, so its chart will show an error: ${missing}\n`), said);
  await assert.rejects(access(path.join(site, "matrix.html")), "its links would need ?data=");
  const page = await readFile(path.join(site, "index.html"), "utf8");
  assert.match(page, /<meta name="replay:frozen" content="fixture"/);
  assert.match(page, /<meta name="replay:data-set" content="fixture"/);
  const names = await readdir(path.join(site, "slides/rpo"));
  const text = (
    await Promise.all(names.map((name) => readFile(path.join(site, "slides/rpo", name), "utf8")))
  ).join("");
  const others = text.replace(/<section[^>]* data-compare=[^]*?<\/section>/g, "");
  assert.ok(!/data-chart-src="benchmarks\/(?!fixture\/)/.test(others), "every other chart is the data set's");
  assert.match(text, /made-up numbers for tests/);

  const record = JSON.parse(await readFile(path.join(site, "frozen.json"), "utf8"));
  assert.equal(record.data_set, "fixture");
  assert.match(record.git_commit, /^[0-9a-f]{40}$/);
  assert.equal(record.claims_sha256, record.files["benchmarks/fixture/claims.json"]);
  assert.ok(Object.keys(record.files).length > 10);
  assert.deepEqual(Object.keys(record.slides).sort(), names.map((name) => `slides/rpo/${name}`).sort());
});

test("the record says that the commit has everything only if it has all files that are frozen", async (t) => {
  const root = temporaryFolder(t);
  const benchmarks = path.join(root, "benchmarks");
  const settings = ["user.name=a", "user.email=a@b.example", "commit.gpgsign=false"];
  const git = (...args) =>
    promisify(execFile)("git", [...settings.flatMap((one) => ["-c", one]), ...args], { cwd: root });
  const save = (name) => writeFile(path.join(benchmarks, "mine", name), "{}");
  const isDirty = async (names, where = benchmarks) => {
    const sources = names.map((name) => path.join(where, "mine", name));
    return (await commitOf(root, sources)).git_dirty;
  };
  await mkdir(path.join(benchmarks, "mine"), { recursive: true });
  await save("claims.json");
  await git("init", "--quiet");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "Data");
  await save("manifest.json");
  assert.equal(await isDirty(["claims.json"]), false);
  assert.equal(await isDirty(["claims.json", "manifest.json"]), true);
  assert.equal(await isDirty(["claims.json"], tmpdir()), true, "of another folder");
});

test("--verify finds what was changed, removed or added", async () => {
  assert.match(
    (await freeze("--verify", site)).stdout,
    /^The \d+ data files and slides in .* are as they were frozen of “fixture”; pages and code are not compared\.$/m,
  );
  const copy = path.join(folder, "copy");
  await cp(site, copy, { recursive: true });
  const data = path.join(copy, "benchmarks/fixture");
  await appendFile(path.join(data, "claims.json"), " ");
  await unlink(path.join(data, "manifest.json"));
  await writeFile(path.join(data, "more.json"), "{}");
  await appendFile(path.join(copy, "slides/rpo/00-loss.html"), "more");
  await assertEnds(
    freeze("--verify", copy),
    1,
    /benchmarks\/fixture\/claims\.json: differs/,
    /benchmarks\/fixture\/manifest\.json: missing/,
    /benchmarks\/fixture\/more\.json: added since/,
    /slides\/rpo\/00-loss\.html: differs/,
  );
});

test("the command refuses wrong options, and says what to do", async () => {
  const refused = (pattern, ...args) => assertEnds(freeze(...args), 2, pattern);
  await refused(/either a data set with --data, or a frozen site with --verify/);
  await refused(/either/, "--data", "fixture", "--verify", site);
  await refused(
    /no data set “other”. Available: fixture, fixture-small/,
    "--data",
    "other",
    "--out",
    path.join(folder, "x"),
  );
  await refused(/has no claims\.json/, "--data", "fixture-small", "--out", path.join(folder, "x"));
  await refused(
    /holds other files than a built site/,
    "--data",
    "fixture",
    "--out",
    path.join(folder, "benchmarks"),
  );
  await refused(/frozen\.json: there is none/, "--verify", folder);
});
