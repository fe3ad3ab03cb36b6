import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { JSDOM } from "jsdom";
import { namesSlide, slidesAddress } from "../../../deck/front-page/addresses.js";
import { startCommand } from "../../../deck/front-page/command.js";
import { conditionsOf } from "../../../deck/front-page/conditions.js";
import { fillPlaces, parseTaken } from "../../../deck/front-page/taken.js";
import { slidesOf } from "../../../scripts/deck/check/chapters.js";
import { listedConditions, takenParts } from "../../../scripts/deck/check/front-page.js";
import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { pinnedTalk } from "../../../scripts/deck/freeze.js";
import { readSlide } from "../../../scripts/deck/text/segments.js";
import { FIXTURE } from "../support/fixture.js";
import {
  projectAddress,
  repositoryAddress,
  siteAddress,
  withQuery,
} from "../../../scripts/deck/addresses.js";

const read = (file, text) => slidesOf(text, { file }).map(readSlide);

test("a page names a part of a slide by file, id, and tags or classes", () => {
  assert.deepEqual(parseTaken("slides/rpo/91-journal.md#journal-ratio", "h2 .measure  .panels"), {
    file: "slides/rpo/91-journal.md",
    id: "journal-ratio",
    selectors: ["h2", ".measure", ".panels"],
  });
  for (const [slide, part] of [
    ["#journal-ratio", "h2"],
    ["40-journal.md#journal-ratio", "h2"],
    ["slides/../config/a.md.yaml#a", "h2"],
    ["slides/40-journal.md", "h2"],
    ["slides/40-journal.md#a", ""],
    ["slides/40-journal.md#a", "h2 > a"],
    ["slides/40-journal.md#a", "[onclick]"],
    [null, undefined],
  ])
    assert.equal(parseTaken(slide, part), null, `${slide} ${part}`);
});

test("a part of a slide that compares data sets compares them on the page, too", () => {
  const { body } = new JSDOM(
    `<main><div data-slide="slides/talk/a.md#one" data-part=".panels"></div></main>
    <section id="one" data-compare="old new"><div class="panels"><canvas></canvas></div></section>`,
  ).window.document;
  const page = body.querySelector("main");
  fillPlaces(page, body);
  assert.equal(page.querySelector("canvas").closest("[data-compare]").dataset.compare, "old new");
});

test("the check names a page's part that no slide has, with its line", () => {
  const slides = [
    ...read("slides/talk/a.md", '<!-- .slide: id="lead" -->\n## Title\n\n<div class="panels four"></div>'),
    ...read(
      "slides/talk/reader.md",
      [
        '<div data-slide="slides/talk/a.md#lead" data-part="h2 .panels"></div>',
        '<div data-slide="slides/talk/a.md#lead" data-part="table"></div>',
        '<div data-slide="slides/talk/a.md#gone" data-part="h2"></div>',
        '<div data-slide="a.md" data-part="h2"></div>',
        '<ul data-applies="known"></ul><ul data-applies="answer"></ul><ul data-applies="unknown"></ul>',
      ].join("\n\n"),
    ),
  ];
  assert.deepEqual(
    takenParts({ slides }).map(({ file, line, message }) => `${file}:${line}: ${message}`),
    [
      'slides/talk/reader.md:3: the slide "lead" has no table',
      'slides/talk/reader.md:5: slides/talk/a.md has no slide "gone"',
      'slides/talk/reader.md:7: data-slide="a.md" data-part="h2": write slides/TALK/FILE.md#ID, and as parts tags or .classes',
    ],
  );
  assert.deepEqual(
    listedConditions({ slides, experiments: new Set(["known"]) }).map(({ line, message }) => [line, message]),
    [[9, 'data-applies: no experiment "unknown"']],
  );
});

test("release, machine, limiter, media, load and layout decide to whom a measurement applies", () => {
  const media = {
    unit: "operations_per_second",
    point: "media-4096-16",
    median_operations_per_second: 243_210,
  };
  const manifest = (limiters, more = {}) => ({
    setup: { replicas: 3, clusters: 2, cores: 2, ceph_release: "16 (pacific)", ceph_version: "16.2.15" },
    site: "sandbox",
    machines: ["a"],
    ceilings: { media_write_operations_per_second: media },
    experiments: { e: { limiters, parameters: { io_threads: 16 } }, f: { limiters: { none: 1 } } },
    ...more,
  });
  assert.deepEqual(conditionsOf(manifest({ cpu: 3, none: 1 }), ["e"]), [
    "you run Ceph 16 (pacific)",
    "one machine with 2 cores holds both sites, the second with one OSD; on more, mirroring may cost less",
    "processors run out before disks and network, as in 75 % of these runs",
    "your media are as fast: up to 240k ops/s for writes of 4 KiB",
    "a client keeps about as many operations in flight: here 16",
    "your pools keep as many replicas: here 3",
  ]);
  // Several experiments: their runs together.
  assert.match(conditionsOf(manifest({ cpu: 3, none: 1 }), ["f", "e"])[2], /as in 60 %/);
  const limit = (limiters) => conditionsOf({ experiments: { e: { limiters } } }, ["e"]);
  assert.match(limit({ disk: 2, cpu: 1 })[0], /wait for the disks, .* 67 %/);
  assert.match(limit({ none: 5 })[0], /^nothing on your cluster reaches its limit, .* 100 %/);
  assert.match(limit({ "io-cap": 5 })[0], /^your cluster is limited by io-cap/);
  assert.match(limit({ unknown: 3, disk: 1 })[0], /wait for the disks, as in 25 %/);
  assert.deepEqual(limit({ unknown: 5, cpu: 0 }), []);
  // Only a sandbox is known to hold both sites on one machine, wherever its blocks were measured; what was not recorded is
  // not said.
  assert.match(
    conditionsOf(manifest({ cpu: 1 }, { machines: ["a", "b"] }), ["e"])[1],
    /^one machine with 2 cores/,
  );
  const two = conditionsOf(manifest({ cpu: 1 }, { site: "mine", ceilings: undefined }), ["e"]);
  assert.equal(two[1], "your machines are of this size: 2 cores each");
  assert.equal(two.length, 5);
  assert.deepEqual(conditionsOf({ experiments: { e: {} } }, ["e"]), []);
  // Without such an experiment, the data set's own facts remain.
  assert.equal(conditionsOf(manifest({ cpu: 1 }), ["other"]).length, 4);
  assert.deepEqual(conditionsOf(null, ["e"]), []);
});

test("the shipped data say to whom they apply", async () => {
  const file = path.join(PROJECT, "benchmarks/tentacle/manifest.json");
  const conditions = conditionsOf(JSON.parse(await readFile(file, "utf8")), ["rbd-journaling"]);
  assert.ok(conditions.length >= 5, conditions.join("\n"));
});

test("the command clones a plain public address, and nothing that a shell would read as more", () => {
  assert.equal(
    startCommand("https://example.org/people/replay"),
    "git clone https://example.org/people/replay replay && cd replay && npm start",
  );
  for (const odd of [
    "",
    "https://example.org/$(id)",
    "https://example.org/a b",
    "git@example.org:a",
    "https://a;b",
  ])
    assert.equal(startCommand(odd), "npm start", odd);
});

test("a link to the slides keeps the address' parameters, and changes only the cut", () => {
  const home = "http://localhost/some/where/";
  const to = (address, cut) => slidesAddress(address, cut, { usual: "40", hash: "#/title" });
  assert.equal(to(home, "40"), `${home}#/title`);
  assert.equal(to(home, "20"), `${home}?cut=20#/title`);
  assert.equal(to(`${home}?explore&data=mine`, "40"), `${home}?explore&data=mine#/title`);
  assert.equal(to(`${home}?cut=20&explore`, "20"), `${home}?cut=20&explore#/title`);
  assert.equal(to(`${home}?cut=20&data=mine`, "40"), `${home}?data=mine#/title`);
  fc.assert(
    fc.property(fc.webQueryParameters(), fc.constantFrom("20", "40"), (query, cut) => {
      const others = (address) =>
        [...new URL(address).searchParams].filter(([name]) => name !== "cut").join("&");
      const from = `${home}?${query}`;
      const address = to(from, cut);
      assert.equal(others(address), others(from));
      assert.equal(new URL(address).searchParams.get("cut") ?? "40", cut);
      assert.equal(new URL(address).hash, "#/title");
    }),
    // A query of nothing but "=" holds one word, whose name and value are empty.
    { examples: [["=", "20"]] },
  );
});

test("a frozen talk pins the page's text like that of the slides, and keeps the parts that it takes from them", async () => {
  const benchmarks = FIXTURE;
  const [before, after] = await Promise.all(
    ["fixture", "fixture-small"].map(async (name) => {
      const { chapters } = await pinnedTalk({ root: PROJECT, benchmarks, name });
      return chapters.get("slides/rpo/reader.md");
    }),
  );
  // One block gives no interval, and so no verdict but that.
  assert.match(before, /data-when="journal-4k-seq-write held refuted"/);
  assert.doesNotMatch(before, /journal-4k-seq-write inconclusive/);
  assert.match(after, /data-when="journal-4k-seq-write inconclusive"/);
  assert.doesNotMatch(after, /journal-4k-seq-write held/);
  for (const text of [before, after])
    assert.match(text, /data-slide="slides\/rpo\/91-journal\.md#journal-ratio"/);
});

test("only an address with a slide leaves the page", () => {
  assert.ok(namesSlide("#/title"));
  for (const hash of ["", "#", "#reader-chart"]) assert.ok(!namesSlide(hash), hash);
});

test("the site's address comes from the environment or package.json, never from the repository", () => {
  assert.equal(siteAddress({}, {}), "");
  assert.equal(siteAddress({}, { repository: "https://example.org/replay" }), "");
  const stated = { homepage: "https://b.example/talk" };
  assert.equal(siteAddress({}, stated), "https://b.example/talk");
  assert.equal(siteAddress({ REPLAY_HOMEPAGE: "https://a.example" }, stated), "https://a.example");
  for (const wrong of ["talk", "ftp://a.example", "javascript:alert(1)", "https://"])
    assert.equal(siteAddress({ REPLAY_HOMEPAGE: wrong }, {}), "", wrong);
});

test("the repository's address is one that a browser opens and git clones", () => {
  assert.equal(repositoryAddress({ repository: "" }, {}), "");
  const repository = "https://example.org/replay.git";
  assert.equal(repositoryAddress({ repository }, {}), "https://example.org/replay");
  assert.equal(
    repositoryAddress({ repository }, { REPLAY_REPOSITORY: "https://example.org/fork" }),
    "https://example.org/fork",
  );
  assert.equal(repositoryAddress({ repository: "git@example.org:replay.git" }, {}), "");
});

test("the QR code leads to the repository, else to the site", () => {
  const repository = "https://example.org/replay";
  const homepage = "https://b.example";
  assert.equal(projectAddress({ repository: "" }, {}, {}), "");
  assert.equal(projectAddress({ repository }, {}, { homepage }), repository);
  assert.equal(projectAddress({ repository: "" }, {}, { homepage }), homepage);
});

test("a parameter is added to an address as a person would type it", () => {
  assert.equal(withQuery("http://127.0.0.1:8000/", "explore"), "http://127.0.0.1:8000/?explore");
  assert.equal(withQuery("http://127.0.0.1:8000/?data=a", "cut=20"), "http://127.0.0.1:8000/?data=a&cut=20");
});
