import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, test } from "node:test";

import { fixProblems } from "../../../scripts/deck/check/fix.js";
import { numeralsIn } from "../../../scripts/deck/check/numerals.js";
import { CHART, GOOD, MANIFEST, claimsWith, makeTalk, slideWith } from "../support/talk.js";

const FIVE = ["held", "refuted", "inconclusive", "not-testable-here", "not-measured"];
let talk;
const problemsOf = (chapter) => talk.problemsOf(chapter);
/** The problems of a slide with this body; one text, to be matched. */
const told = async (body, note) => (await problemsOf(slideWith(body, note))).join("\n");

beforeEach(async (t) => {
  talk = await makeTalk(t);
});

test("a literal that agrees with the shipped data is fine, in body and note", async () => {
  await talk.saveData({ claims: claimsWith({ small: {} }) });
  const bound = (value, text) => `<data value="${value}">${text}</data>`;
  const values = {
    "manifest.setup.osds": "3",
    "design.rbd-journaling.io_threads": "16",
    "design.rbd-journaling.image_size_bytes": "1 GiB",
    "method.confidence": "95 %",
    "small.ratio": "2.1×",
    "small.ratio.interval": "1.9× to 2.3×",
    "small.ratio.n": "6",
    "small.verdict": "held",
  };
  const text = Object.entries(values)
    .map(([value, literal]) => bound(value, literal))
    .join(", ");
  assert.equal(await told(text, text), "");
});

test("a stale literal is a problem that gives the right text", async () => {
  await talk.saveData({ claims: claimsWith({ small: {} }) });
  assert.equal(
    await told('It is\n<data value="small.ratio">15.6×</data>.'),
    'slides/talk/a.md:3: "small.ratio" says "15.6×", but the data of "reference" say "2.1×"',
  );
  assert.match(
    await told("x", 'Has <data value="manifest.setup.osds">four</data> OSDs'),
    /a\.md:5: "manifest\.setup\.osds" says "four", but .* say "3"/,
  );
});

test("a value that is empty in the data is written as absent, never as a figure", async () => {
  await talk.saveData({
    claims: claimsWith({
      small: {
        verdict: "not measured",
        conditions: { ratio: { estimate: null, low: null, high: null, n: 0 } },
      },
    }),
  });
  assert.match(await told('<data value="small.ratio">2.1×</data>'), /say "not measured"/);
  assert.match(
    await told('<data value="manifest.setup.object_store">BlueStore</data>'),
    /say "not recorded"/,
  );
});

test("a count is written as a plain number, and has no part that only a ratio has", async () => {
  const left = { kind: "count", estimate: 2, low: 0, high: 2, n: 6, verdict: "refuted" };
  await talk.saveData({ claims: claimsWith({ small: { conditions: { left } } }) });
  assert.match(await told('<data value="small.left">2.0×</data>'), /says "2\.0×", but .* say "2"$/);
  assert.match(await told('<data value="small.left.interval">0</data>'), /say "0 to 2"$/);
  assert.match(
    await told('<data value="small.left.percent">200 %</data>'),
    /a count has no "percent"; there are estimate, low, high, interval, n, region/,
  );
});

test("a value that names nothing is a problem that lists what exists", async () => {
  await talk.saveData({ claims: claimsWith({ small: {} }) });
  const about = (value) => told(`<data value="${value}">x</data> <data value="small.verdict">held</data>`);
  assert.match(
    await about("manifest.setup.hosts"),
    /a\.md:2: .*has no setup\.hosts; there are osds, object_store/,
  );
  assert.match(await about("manifest.setup"), /setup is no single value; there are osds/);
  assert.match(await about("design.rdb.io_threads"), /no experiment "rdb"; there is rbd-journaling/);
  assert.match(await about("design.rbd-journaling.threads"), /has no threads; there are io_threads/);
  assert.match(await about("method.sureness"), /has no sureness; there are confidence/);
  assert.match(await about("big.ratio"), /no claim "big"/);
  assert.match(
    await about("small.ration"),
    /claim "small" has no condition "ration"; there are ratio, verdict/,
  );
  assert.match(await about("small.ratio.loudness"), /no "loudness"; there are estimate/);
  assert.match(await about("small.verdict.low"), /"verdict" has no part "low"/);
  assert.match(await about("small"), /name a part of claim "small"/);
  assert.match(await about("small..low"), /write it as/);
});

test("an unrecorded design is distinguished from an unknown experiment", async () => {
  const { parameters, ...experiment } = MANIFEST.experiments["rbd-journaling"];
  assert.ok(parameters);
  await talk.saveData({ manifest: { ...MANIFEST, experiments: { "rbd-journaling": experiment } } });
  assert.match(
    await told('<data value="design.rbd-journaling.io_threads">16</data>'),
    /does not record the design of rbd-journaling; derive it again/,
  );
});

test("<data> needs a value and a text", async () => {
  assert.match(await told("<data>3</data>"), /<data> without a value/);
  assert.match(await told('<data value="">3</data>'), /<data> without a value/);
  assert.match(await told('<data value="manifest.setup.osds"> </data>'), /no text to fall back on/);
});

test("a shipped data set without manifest, claims or sources is a problem of its own", async () => {
  await talk.saveData({ claims: null });
  assert.deepEqual(await problemsOf(slideWith('<data value="any.ratio">2×</data>')), [
    "benchmarks/reference/claims.json:1: the data set that ships has no claims.json; write it with: ./replay derive --data reference",
  ]);
  await talk.saveData({ manifest: null });
  assert.match(
    (await problemsOf(GOOD))[0],
    /^benchmarks\/reference\/manifest\.json:1: .* has no manifest\.json/,
  );
  const { sources, ...old } = claimsWith();
  assert.ok(sources);
  await talk.saveData({ claims: old });
  assert.match(
    (await problemsOf(slideWith('<p data-source="S0">15</p>')))[0],
    /claims\.json:1: names no sources/,
  );
});

test("--fix rewrites stale literals, and nothing else", async () => {
  await talk.saveData({ claims: claimsWith({ small: { reason: "a < b & c" } }) });
  const chapter = slideWith(
    'It is <data value="small.ratio">15.6×</data> and 15 of <data value="small.nothing">7</data>.',
    'Since <data value="small.reason">old</data>, <data value="small.verdict">held</data>.',
  );
  await talk.save("slides/talk/a.md", chapter);
  const before = (await talk.check()).problems;
  assert.deepEqual(await fixProblems(talk.root, before), [{ file: "slides/talk/a.md", count: 2 }]);
  const fixed = await readFile(path.join(talk.root, "slides/talk/a.md"), "utf8");
  assert.equal(fixed, chapter.replace("15.6×", "2.1×").replace(">old<", ">a &lt; b &amp; c<"));
  const after = (await talk.check()).problems;
  assert.deepEqual(
    after,
    before.filter(({ fix }) => !fix),
  );
  assert.deepEqual(await fixProblems(talk.root, after), []);
});

test("--fix leaves a file alone that was saved since it was checked", async () => {
  await talk.saveData({ claims: claimsWith({ small: {} }) });
  const chapter = slideWith('It is <data value="small.ratio">15.6×</data>.');
  await talk.save("slides/talk/a.md", chapter);
  const { problems } = await talk.check();
  const saved = chapter.replace("It is", "And so it is");
  await talk.save("slides/talk/a.md", saved);
  assert.deepEqual(await fixProblems(talk.root, problems), []);
  assert.equal(await readFile(path.join(talk.root, "slides/talk/a.md"), "utf8"), saved);
});

test("an altered file of the shipped data is a problem, and --fix spreads nothing of it", async () => {
  const written = JSON.stringify(claimsWith({ small: {} }));
  const manifest = JSON.stringify(MANIFEST);
  const describes = (claims) =>
    talk.save(
      "benchmarks/reference/datapackage.json",
      JSON.stringify({
        resources: Object.entries({
          "claims.json": claims,
          "manifest.json": manifest,
          [CHART.replace("benchmarks/reference/", "")]: "I/O size,4096\nA,1\n",
        }).map(([file, text]) => ({
          path: file,
          hash: `sha256:${createHash("sha256").update(text).digest("hex")}`,
        })),
      }),
    );
  await talk.saveData({ claims: claimsWith({ small: {} }) });
  await describes(written);
  const stale = slideWith('It is <data value="small.ratio">15.6×</data>.');
  assert.equal((await problemsOf(stale)).length, 1);
  await talk.save("benchmarks/reference/claims.json", written.replace("2.084", "3.084"));
  const { problems } = await talk.check();
  assert.deepEqual(
    problems.map(({ file, message, fix }) => [file, /3\.1×|is not what derive wrote/.test(message), fix]),
    [
      ["benchmarks/reference/claims.json", true, undefined],
      ["slides/talk/a.md", true, undefined],
    ],
  );
  assert.deepEqual(await fixProblems(talk.root, problems), []);
  assert.match(await readFile(path.join(talk.root, "slides/talk/a.md"), "utf8"), /15\.6×/);
});

test("a slide of another data set is held to that one, and the talk names it", async () => {
  const old = CHART.replace("reference", "old");
  const figure = '<data value="small.ratio">3.0×</data>';
  const chart = `<canvas data-chart="line" data-chart-src="${old}"></canvas>`;
  const slide = slideWith(`## It takes ${figure}\n${chart}`);
  const named = slide.replace('data-timing="30"', 'data-timing="30" data-set="old"');
  await talk.saveData({ claims: claimsWith({ small: {} }) });
  assert.deepEqual(
    (await talk.problemsOf(named)).filter((line) => line.includes("data-set")),
    [
      'slides/talk/a.md:1: data-set="old": slides/talk/talk.yaml names no such data set under other_data_sets',
    ],
  );
  await talk.state({ other_data_sets: ["old"] });
  assert.match((await talk.problemsOf(named)).join("\n"), /benchmarks\/old\/manifest\.json:1: .*--data old/);
  const conditions = { ratio: { estimate: 3, low: 2.9, high: 3.1, n: 6, verdict: "held" } };
  await talk.saveData({ claims: claimsWith({ small: { conditions } }) }, "old");
  await talk.save(old, "I/O size,4096\nA,1\n");
  assert.deepEqual(await talk.problemsOf(named), []);
  const [stale] = await talk.problemsOf(named.replace("3.0×", "2.1×"));
  assert.match(stale, /slides\/talk\/a\.md:2: .* says "2\.1×", but the data of "old" say "3\.0×"/);
  // Its texts are then of another data set than its charts.
  assert.ok(
    (await talk.problemsOf(slide)).some((line) =>
      /the charts of this slide are of old, and its texts of reference; .*data-set="old"/.test(line),
    ),
  );
});

test("charts of two data sets on one slide are a problem, unless the slide says that it compares them", async () => {
  const mine = CHART.replace("reference", "mine");
  await talk.save(mine, "I/O size,4096\nA,1\n");
  await talk.saveData({ claims: null }, "mine");
  const chart = (src) => `<canvas data-chart="line" data-chart-src="${src}"></canvas>`;
  await talk.saveData({ claims: claimsWith({ small: {} }) });
  const both = `## <data value="small.ratio">2.1×</data>\n\n${chart(CHART)}\n${chart(mine)}`;
  const mixed = (text) =>
    problemsOf(text).then((all) => all.filter((one) => one.includes("charts of this slide")));
  assert.deepEqual(await mixed(slideWith(both.replace(mine, CHART))), []);
  const [problem] = await mixed(slideWith(both));
  assert.match(problem, /^slides\/talk\/a\.md:4: .* reference and mine; .*data-compare="reference mine"/);
  const compared = slideWith(both).replace(
    'data-timing="30"',
    'data-timing="30" data-compare="reference mine"',
  );
  assert.deepEqual(await mixed(compared), []);
  assert.equal((await mixed(compared.replace("reference mine", "reference other"))).length, 1);
});

test("--fix does not touch a file with CR LF, which must be corrected first", async () => {
  const chapter = slideWith('<data value="manifest.setup.osds">7</data>').replaceAll("\n", "\r\n");
  await talk.save("slides/talk/a.md", chapter);
  assert.deepEqual(await fixProblems(talk.root, (await talk.check()).problems), []);
  assert.equal(await readFile(path.join(talk.root, "slides/talk/a.md"), "utf8"), chapter);
});

test("data-when names a claim and verdicts that exist", async () => {
  await talk.saveData({ claims: claimsWith({ small: {} }) });
  const group = (text) => `<p>${text}</p>`;
  const all = `<span data-when="small ${FIVE.join(" ")}">x</span>`;
  assert.equal(await told(group(all)), "");
  const unknown = group(all.replace("small", "big"));
  assert.match(await told(unknown), /a\.md:2: data-when: there is no claim "big"$/m);
  await talk.save("config/claims.yaml", "claims:\n  - id: big\n");
  assert.match(await told(unknown), /no claim "big"; write it with: \.\/replay derive --data reference$/m);
  assert.match(await told(group(all.replace("held", "proved"))), /no verdict "proved"; there are held/);
  assert.match(
    await told(group('<span data-when="small">x</span>')),
    /write a claim and one or more of held/,
  );
});

test("the texts of a group cover each verdict exactly once", async () => {
  await talk.saveData({ claims: claimsWith({ small: {}, other: {} }) });
  const group = (...parts) => parts.map((part) => `<p data-when="small ${part}">x</p>`).join("\n");
  const said = '<data value="other.verdict">held</data>';
  assert.equal(await told(`${group("held", FIVE.slice(1).join(" "))}\n\n${said}`), "");
  assert.match(
    await told(`${group("held", "refuted")}\n\n${said}`),
    /a\.md:2: the texts on claim "small" have none for: inconclusive, not-testable-here, not-measured/,
  );
  assert.match(
    await told(`${group("held", FIVE.join(" "))}\n\n${said}`),
    /texts on claim "small" have more than one for: held/,
  );
  // Words between them make two groups, and neither covers all verdicts.
  const parted = `${group("held")}\n\nwords\n\n${group(FIVE.slice(1).join(" "))}\n\n${said}`;
  assert.equal((await told(parted)).match(/have none for/g).length, 2);
});

test("a numeral without an origin is a problem, wherever it is read or heard", async () => {
  const message = (numeral) => new RegExp(`the numeral "${numeral}" comes from no data`);
  assert.match(await told("It takes 10× as long"), /slides\/talk\/a\.md:2: the numeral "10×"/);
  assert.match(await told("# Fifteen"), message("Fifteen"));
  assert.match(await told("x", "About\nten times."), /a\.md:6: the numeral "ten"/);
  assert.match(await told('<svg aria-label="5 boxes"><text>x</text></svg>'), message("5"));
  assert.match(await told("<svg><text>OSD 7</text></svg>"), message("7"));
  assert.match(await told("| a | **15.6** |\n|---|---|\n"), message("15.6"));
  assert.match(await told("in\n2026. Then"), message("2026"));
  assert.match(await told("<div>\n15. in HTML\n</div>"), message("15"));
  assert.match(await told("It&#50;s"), message("2"));
});

test("a numeral is fine if its origin is written beside it, and in code, addresses and comments", async () => {
  for (const body of [
    '<data value="manifest.setup.osds">3</data> OSDs',
    'About <span data-source="S0">10×</span>',
    'The published figure is 15.6 <!-- .element: data-source="S0" -->',
    '| a | 15.6 |\n|---|---|\n| b | 7 |\n\n<!-- .element: data-source="S1" -->',
    '1 is free <!-- .element: class="measure" data-source="definition" -->',
    '<p data-source="slide">The four panels</p>',
    "Run `npm test 5` or\n\n```\nsleep 15\n```\n\n<pre><code>n=3</code></pre>",
    "[there](https://example.org/2026) and https://example.org/15 <!-- 99 -->",
    "1. first\n2. second",
    "zero, one, two, both, first, second and third",
  ])
    assert.equal(await told(body), "", body);
  const whole = slideWith("# 15.6").replace("-->", 'data-source="S0" -->');
  assert.deepEqual(await problemsOf(whole), []);
  assert.match((await problemsOf(whole.replace("Words.", "15.6")))[0], /a\.md:5: the numeral "15\.6"/);
});

test("an I/O size may be named if it is a level of an experiment", async () => {
  for (const body of ["4K", "4 KiB writes", "from 4K to 4M", "4K…4M", "4096 B, 4 MiB, 4-KiB"])
    assert.equal(await told(body), "", body);
  for (const body of ["8K", "4 MiB/s", "4 MiB per second", "4MB", "14K", "1.4K", "4Kx"])
    assert.match(await told(body), /the numeral/, body);
});

test("numerals are digits of every kind and the words from three on", () => {
  const found = (text) => numeralsIn(text).map(({ numeral }) => numeral);
  assert.deepEqual(found("10× 95 % 99th p99 ½ 15.6. 2–3"), [
    "10×",
    "95",
    "99th",
    "p99",
    "½",
    "15.6",
    "2",
    "3",
  ]);
  assert.deepEqual(found("Three, twelve, nineteen, ninety-five, nine-tenths"), [
    ...["Three", "twelve", "nineteen", "ninety-five", "nine-tenths"],
  ]);
  for (const word of "hundreds million dozen half halves halved quarter doubled doubling twice tenfold sevenths".split(
    " ",
  ))
    assert.deepEqual(found(`a ${word}.`), [word]);
  assert.deepEqual(found("often attend weight someone behalf tension freight zero one two third alone"), []);
});

test("a chart is of a kind that somebody draws", async () => {
  const chart = (kind) => `<canvas ${kind} data-chart-src="${CHART}"></canvas>`;
  assert.equal(
    await told(chart('data-chart="lien"')),
    "slides/talk/a.md:2: there is no chart “lien”; did you mean “line”?",
  );
  assert.match(await told(chart('data-chart="sankey"')), /no chart “sankey”; there are bar, chain, .*strip/);
  assert.match(await told(chart("")), /a\.md:2: a chart without data-chart/);
  for (const kind of ["bar", "strip"]) assert.equal(await told(chart(`data-chart="${kind}"`)), "", kind);
});

test("an unknown source is a problem", async () => {
  assert.match(
    await told('<p data-source="S9">15</p>'),
    /a\.md:2: data-source: no source "S9"; there are S0, S1, slide, definition/,
  );
});

test("a claim that no slide mentions is a problem of the talk that discusses it", async () => {
  await talk.saveData({ claims: claimsWith({ small: {} }) });
  assert.match((await problemsOf(GOOD))[0], /^slides\/talk\/talk\.yaml:1: no slide speaks of claim "small"/);
  for (const body of [
    '<data value="small.verdict">held</data>',
    `<p data-when="small ${FIVE.join(" ")}">x</p>`,
    '<div data-claims="other small"></div>',
    '<div data-claims=""></div>',
  ])
    assert.equal(await told(body), "", body);
});

test("the chart that a claim names must be drawn", async () => {
  await talk.saveData({ claims: claimsWith({ small: { chart: "rbd-journaling/iops-read-seq" } }) });
  const title = '## <data value="small.verdict">held</data>';
  assert.match(
    await told(title),
    /claim "small" names the chart rbd-journaling\/iops-read-seq, which no slide draws/,
  );
  assert.equal(await told(`${title}\n<canvas data-chart="line" data-chart-src="${CHART}"></canvas>`), "");
});

test("a chart has a source", async () => {
  await talk.saveData({ claims: claimsWith({ small: {} }) });
  const chart = `<canvas data-chart="line" data-chart-src="${CHART}"></canvas><data value="small.verdict">held</data>`;
  const chosen = `## <span data-when="small ${FIVE.join(" ")}">It falls</span>`;
  assert.equal(await told(`${chosen}\n${chart}`), "");
  await talk.saveData({ manifest: { experiments: {} }, claims: claimsWith({ small: {} }) });
  assert.match(
    await told(`${chosen}\n${chart}`),
    /a\.md:3: the manifest of "reference" does not list the chart rbd-journaling\/iops-read-seq/,
  );
});

test("a talk discusses the claims that its file names, and no others", async () => {
  await talk.saveData({
    claims: claimsWith({ small: {}, large: { chart: "rbd-journaling/iops-read-seq" } }),
  });
  const spoken = '<data value="small.ratio">2.1×</data>';
  const all = await told(spoken);
  assert.match(all, /no slide speaks of claim "large"/);
  assert.match(all, /claim "large" names the chart rbd-journaling\/iops-read-seq, which no slide draws/);
  await talk.state({ claims: ["small"] });
  assert.equal(await told(spoken), "");
  await talk.state({ claims: ["small", "huge"] });
  assert.equal(
    await told(spoken),
    'slides/talk/talk.yaml:14: claims.json of "reference" has no claim "huge"',
    "each claim of the list is in a line of its own",
  );
});

test("a talk is held to another data set: its charts, values and claims, but not to what is written for its own", async () => {
  const experiments = { ...MANIFEST.experiments, other: { charts: {} } };
  await talk.saveData({ manifest: { ...MANIFEST, experiments }, claims: claimsWith({ small: {} }) });
  const manifest = { ...MANIFEST, setup: {}, experiments: { "rbd-journaling": { charts: {} } } };
  const claims = claimsWith({ small: { verdict: "not measured", conditions: {} } });
  await talk.saveData({ manifest, claims }, "mine");
  const body = `## <span data-when="small held"><data value="small.ratio">2.1×</data> at 4K</span><span data-when="small refuted inconclusive not-testable-here not-measured">What is it?</span>

<canvas data-chart="line" data-chart-src="${CHART}"></canvas>

<data value="manifest.setup.osds">3</data>`;
  assert.deepEqual(await problemsOf(slideWith(body)), []);
  assert.deepEqual(await talk.problemsOf(slideWith(body), "mine"), [
    'slides/talk/a.md:4: data set "mine" has no rbd-journaling/aggregate/iops-read-seq.csv',
    'slides/talk/a.md:4: the manifest of "mine" does not list the chart rbd-journaling/iops-read-seq: nothing says where it comes from',
    'slides/talk/a.md:6: value "manifest.setup.osds": the manifest of "mine" has no setup.osds',
  ]);
  // A slide that compares data sets shows the same ones with any.
  const compared = slideWith(body).replace("data-timing", 'data-compare="reference" data-timing');
  assert.deepEqual(await talk.problemsOf(compared, "mine"), [
    'slides/talk/a.md:6: value "manifest.setup.osds": the manifest of "mine" has no setup.osds',
  ]);
  await talk.save(CHART.replace("reference", "mine"), "I/O size,4096\nA,1\n");
  const charts = { "iops-read-seq": { n: 2 } };
  const measured = { ...MANIFEST, experiments: { "rbd-journaling": { charts } } };
  await talk.saveData({ manifest: measured, claims }, "mine");
  assert.deepEqual(await talk.problemsOf(slideWith(body), "mine"), []);
});

test("a slide asks only for what a talk says of itself", async () => {
  assert.equal(await told('<p data-talk="speaker event"></p>'), "");
  assert.match(
    await told('<p data-talk="speaker venue"></p>'),
    /a\.md:2: data-talk: no "venue"; there are title, speaker/,
  );
});

test("a table of claims by release lists claims that exist", async () => {
  await talk.saveData({ claims: claimsWith({ small: {} }) });
  const spoken = '<data value="small.ratio">2.1×</data>';
  const table = (ids) => `${spoken} <div data-releases="r-16 r-20" data-release-claims="${ids}"></div>`;
  assert.equal(await told(table("small")), "");
  assert.match(await told(table("small other")), /a\.md:2: .*"reference" has no claim "other"$/);
});

test("what a newer release says of an older one is what both say now", async () => {
  const withEstimate = (estimate) =>
    claimsWith({
      small: { conditions: { ratio: { estimate, low: 1.9, high: 2.3, n: 6, verdict: "held" } } },
    });
  await talk.saveData({ claims: claimsWith({ small: {} }) });
  await talk.saveData({ claims: withEstimate(2) }, "r-16");
  await talk.saveData({ claims: withEstimate(4) }, "r-20");
  const ratio = { data_set: { estimate: 4 }, against: { estimate: 2 }, ratio: 2 };
  const against = { "r-16": { claims: { small: { conditions: { ratio } } } } };
  await talk.save("benchmarks/r-20/releases.json", JSON.stringify({ schema_version: 1, against }));
  const spoken = '<data value="small.ratio">2.1×</data>';
  const table = `${spoken} <div data-releases="r-16 r-20" data-release-claims="small"></div>`;
  assert.equal(await told(table), "");
  const stale =
    /benchmarks\/r-20\/releases\.json:1: compares with other figures than those of "r-16" now; .* --data r-20$/;
  await talk.saveData({ claims: withEstimate(2.5) }, "r-16");
  assert.match(await told(table), stale);
  await talk.saveData({ claims: withEstimate(2) }, "r-16");
  await talk.saveData({ claims: withEstimate(5) }, "r-20");
  assert.match(await told(table), stale);
});
