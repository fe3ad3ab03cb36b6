/** How verdicts change the talk: titles, text, notes and tables, on screen, in print and live. */
import assert from "node:assert/strict";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { VERDICTS, groupProblems, judged, judgedAlike } from "../support/claims.js";
import { lookAtEachSlide, openSpeakerView, startDeck } from "../support/deck.js";
import { layoutProblems } from "../../../scripts/deck/check/layout.js";
import { CHART, CLAIM, LITERALS, SAID, withChapter, withChapterAlone } from "../support/chapters.js";

let deck;
let claims;

before(async () => {
  deck = await startDeck();
  claims = JSON.parse(await readFile(path.join(deck.benchmarks, "fixture/claims.json"), "utf8"));
  claims.claims[CLAIM].chart = CHART;
});
after(() => deck?.close());

/** The fixture's claims, with this verdict for the claim of the chapter. */
function saying(verdict) {
  return { ...claims, claims: { ...claims.claims, [CLAIM]: judged(claims.claims[CLAIM], verdict) } };
}

/** Adds a data set: the fixture's files, with other claims. */
async function addDataSet(name, document, change = () => {}) {
  const folder = path.join(deck.benchmarks, name);
  await cp(path.join(deck.benchmarks, "fixture"), folder, { recursive: true });
  await writeFile(path.join(folder, "claims.json"), JSON.stringify({ ...document, data_set: name }));
  const manifest = JSON.parse(await readFile(path.join(folder, "manifest.json"), "utf8"));
  change(manifest);
  await writeFile(path.join(folder, "manifest.json"), JSON.stringify({ ...manifest, data_set: name }));
  return name;
}

const open = (query, options) =>
  deck.openDeck(query, { prepare: withChapter, hash: "#/verdicts", ...options });

/** What a reader of the slide sees. */
function seen(page) {
  return page.evaluate(() => {
    const slide = document.getElementById("verdicts");
    const text = (selector) => slide.querySelector(selector)?.innerText.replace(/\s+/g, " ").trim();
    const notes = slide.querySelector("aside.notes").cloneNode(true);
    for (const part of notes.querySelectorAll("[hidden]")) part.remove();
    return {
      title: text("h2"),
      between: text("p data"),
      drawn: [...slide.querySelectorAll("svg > text")].some((one) => one.getBoundingClientRect().width > 0),
      verdict: text("table.claims tbody tr:first-child .verdict"),
      found: text("table.claims tbody tr:first-child td:nth-child(3)"),
      region: text("table.claims tbody tr:first-child td:nth-child(4)"),
      note: notes.textContent.replace(/\s+/g, " ").trim(),
    };
  });
}

for (const [verdict, { title, between, found, note }] of Object.entries(SAID)) {
  test(`a claim that is ${verdict} says so in title, text, drawing, table and notes alike`, async () => {
    const name = await addDataSet(`mine-${verdict.replaceAll(" ", "-")}`, saying(verdict));
    const page = await open(`?data=${name}`, { prepare: withChapterAlone });
    const measured = verdict !== "not measured";
    const facts = await seen(page);
    assert.equal(facts.title, title);
    assert.equal(facts.between, between);
    assert.equal(facts.drawn, verdict === "held");
    assert.match(facts.verdict, new RegExp(`^\\S ${verdict}`));
    if (measured) assert.match(facts.region, /^(?:above|below|exactly|\d).*×/);
    assert.equal(facts.found, found);
    assert.equal(await page.title(), `${title} – What does your RPO cost?`);
    assert.equal(await page.getByRole("heading", { name: title, exact: true }).count(), 1);
    assert.doesNotMatch(await page.evaluate(() => document.getElementById("verdicts").innerText), LITERALS);
    assert.equal(facts.note, `Look at it. ${note}`);
  });
}

test("on paper, too, a claim says what was found of it", async () => {
  const name = await addDataSet("printed", saying("held"));
  const page = await open(`?data=${name}&print-pdf`, { prepare: withChapterAlone });
  await page.emulateMedia({ media: "print" });
  const { title, between, drawn } = await seen(page);
  assert.deepEqual([title, between, drawn], [SAID.held.title, SAID.held.between, true]);
  assert.equal(await page.locator(".pdf-page #verdicts").count(), 1);
});

test("a chart in a hidden text is not read, labelled or counted, and appears with its verdict", async () => {
  const name = await addDataSet("waiting", saying("not measured"));
  const page = await open(`?data=${name}`, { hash: "#/waiting" });
  await page.evaluate(() => window.replay.charts.ready());
  assert.deepEqual(
    page.asked.filter((url) => url.includes("/client-sweep/")),
    [],
  );
  assert.equal(await page.locator("#waiting .provenance").count(), 0);
  assert.equal(await page.locator("#waiting p[data-when]").isVisible(), true);
  await deck.replaceFile(`${name}/claims.json`, JSON.stringify(saying("held")));
  await page.waitForFunction(() => {
    const canvas = document.querySelector("#waiting canvas");
    return window.replay.charts.charts.get(canvas)?.drawn;
  });
  assert.match(await page.locator("#waiting .provenance").innerText(), /n = 10/);
  assert.equal(await page.locator("#waiting p[data-when]").isVisible(), false);
  // And disappears with it again, with its label.
  await deck.replaceFile(`${name}/claims.json`, JSON.stringify(saying("not measured")));
  await page.waitForFunction(() => document.querySelector("#waiting .provenance") === null);
});

test("a verdict that changes on disk changes title, notes and table in place, and never shows two titles or none", async () => {
  const name = await addDataSet("live", saying("held"));
  const page = await open(`?data=${name}`);
  const { speaker } = await openSpeakerView(page);
  await speaker.waitForFunction(() =>
    /Say that it falls/.test(document.querySelector(".speaker-controls-notes .value")?.innerText),
  );
  await page.bringToFront();
  await page.evaluate(() => {
    const slide = document.getElementById("verdicts");
    const link = slide.querySelector("table.claims a");
    link.focus();
    window.kept = { heading: slide.querySelector("h2"), table: slide.querySelector("table"), link };
    window.titles = [];
    const look = () => {
      window.titles.push(slide.querySelector("h2").innerText.trim());
      requestAnimationFrame(look);
    };
    look();
  });
  await deck.replaceFile(`${name}/claims.json`, JSON.stringify(saying("refuted")));
  await page.waitForFunction(() => document.querySelector("#verdicts h2").innerText.includes("does not"));
  await speaker.waitForFunction(() =>
    /Say that it does not/.test(document.querySelector(".speaker-controls-notes .value")?.innerText),
  );
  const notes = await speaker.innerText(".speaker-controls-notes .value");
  assert.equal(notes.replace(/\s+/g, " ").trim(), `Look at it. ${SAID.refuted.note}`);
  assert.equal((await seen(page)).title, SAID.refuted.title);
  assert.match((await seen(page)).verdict, /refuted/);
  assert.equal(await page.title(), `${SAID.refuted.title} – What does your RPO cost?`);
  const facts = await page.evaluate(() => {
    const slide = document.getElementById("verdicts");
    return {
      titles: [...new Set(window.titles)],
      same: [
        slide.querySelector("h2") === window.kept.heading,
        slide.querySelector("table") === window.kept.table,
        slide.querySelector("table.claims a") === window.kept.link,
        document.activeElement === window.kept.link,
      ],
    };
  });
  assert.deepEqual(facts.titles, [SAID.held.title, SAID.refuted.title]);
  assert.deepEqual(facts.same, [true, true, true, true]);
});

test("while a data set is measured, its claims say how many blocks there are, and no longer when it is complete", async () => {
  const withBlocks = (manifest) => {
    manifest.experiments[claims.claims[CLAIM].experiment].parameters = { blocks: 12 };
  };
  const after = (n) => ({
    ...claims,
    data_set: "arriving",
    claims: {
      ...claims.claims,
      [CLAIM]: judged(claims.claims[CLAIM], n < 12 ? "inconclusive" : "held", { n }),
    },
  });
  const name = await addDataSet("arriving", after(1), withBlocks);
  const page = await open(`?data=${name}`);
  await page.evaluate(() => {
    window.kept = document.querySelector("#verdicts table.claims");
  });
  const said = () => page.locator("#verdicts table.claims tbody tr").first().locator(".of-blocks");
  const arrives = (text) =>
    page.waitForFunction(
      (wanted) =>
        (document.querySelector("#verdicts table.claims tbody tr:first-child .of-blocks")?.textContent ??
          null) === wanted,
      text,
    );
  assert.equal(await said().innerText(), "1 of 12 blocks");
  assert.match((await seen(page)).region, /×/);
  await deck.replaceFile(`${name}/claims.json`, JSON.stringify(after(11)));
  await arrives("11 of 12 blocks");
  assert.match((await seen(page)).verdict, /inconclusive/);
  await deck.replaceFile(`${name}/claims.json`, JSON.stringify(after(12)));
  await arrives(null);
  assert.match((await seen(page)).verdict, /held/);
  assert.equal(
    await page.evaluate(() => document.querySelector("#verdicts table.claims") === window.kept),
    true,
    "the page was not loaded again",
  );
});

test("on the talk's own slides every claim that is still being measured fits, with its number of blocks", async () => {
  const document = judgedAlike(claims, "inconclusive");
  const name = await addDataSet("half-way", document, (manifest) => {
    for (const entry of Object.values(manifest.experiments)) entry.parameters = { blocks: 12 };
  });
  const page = await deck.openDeck(`?data=${name}`, { hash: "#/claims" });
  await page.waitForFunction(() => document.querySelector("#claims .of-blocks") !== null);
  assert.ok((await page.locator("#claims .of-blocks").count()) > 4);
  assert.deepEqual(await page.evaluate(layoutProblems, "claims"), []);
});

test("an empty data set never shows a figure of the shipped one", async () => {
  await mkdir(path.join(deck.benchmarks, "bare"), { recursive: true });
  await writeFile(
    path.join(deck.benchmarks, "bare/manifest.json"),
    '{"schema_version": 1, "experiments": {}}',
  );
  const page = await open("?data=bare");
  const { text, note } = await page.evaluate(() => ({
    text: document.getElementById("verdicts").innerText,
    note: document.querySelector("#verdicts aside.notes").textContent,
  }));
  assert.match(text, /It is open/);
  assert.match(
    text.replace(/\s+/g, " "),
    /Between not measured, on not recorded OSDs with not recorded threads, at not recorded\./,
  );
  assert.match(text, /no claims\.json/);
  assert.doesNotMatch(text, LITERALS);
  assert.doesNotMatch(note, LITERALS);
  await page.close();

  const talk = await deck.openDeck("?data=bare");
  const shown = await talk.$$eval("data[value]", (all) =>
    all
      .filter((one) => one.dataset.fallback === one.textContent.replaceAll("\u00a0", " "))
      .map((one) => `${one.value}: ${one.textContent}`),
  );
  assert.deepEqual(
    shown.filter((one) => !/: not (?:measured|recorded)$/.test(one)),
    [],
  );
});

test("without data the shipped talk shows the figures that are written on its slides", async () => {
  const page = await open("");
  const text = await page.evaluate(() => document.getElementById("verdicts").innerText.replace(/\s+/g, " "));
  assert.match(text, /Between 4710× to 4712×, on 4713 OSDs with 4714 threads, at 4715 %\./);
});

test("a count is a plain number in the table, beside the required one", async () => {
  const condition = { says: "what is left", kind: "count", metric: "left", region: { low: 0, high: 0 } };
  const document = saying("refuted");
  const counted = { ...document.claims[CLAIM], conditions: { ratio: condition } };
  document.claims[CLAIM] = judged(counted, "refuted");
  const page = await open(`?data=${await addDataSet("counted", document)}`);
  const cells = page.locator("#verdicts table.claims tbody tr:first-child td");
  assert.deepEqual((await cells.allInnerTexts()).slice(2, 4), ["2", "exactly 0"]);
  const { title, between } = await seen(page);
  assert.deepEqual([title, between], ["It does not: 2", "0 to 2"]);
});

test("hidden texts take no click", async () => {
  const routes = async (name) => {
    const page = await open(`?data=${name}`);
    const found = await page.evaluate(() => window.replay.deck.availableFragments());
    await page.close();
    return found;
  };
  assert.equal((await routes(await addDataSet("steps-held", saying("held")))).next, true);
  assert.equal((await routes(await addDataSet("steps-refuted", saying("refuted")))).next, false);
});

test("a row of the table leads to its chart, and gives its reason and source to eye and ear", async () => {
  const document = saying("refuted");
  document.sources = { ...document.sources, S0: { title: "a talk on mirroring" } };
  document.claims[CLAIM].source = "S0";
  for (const [id, claim] of Object.entries(document.claims))
    if (id !== CLAIM) document.claims[id] = { ...claim, chart: "nothing/draws-it" };
  const name = await addDataSet("linked", document);
  const page = await open(`?data=${name}`);
  const link = page.locator("#verdicts table.claims a");
  assert.equal(await link.count(), 1, "only a claim with a chart that a slide draws is a link");
  assert.equal(await link.innerText(), document.claims[CLAIM].sentence);
  const details = page.locator(`[id="${await link.getAttribute("aria-describedby")}"]`);
  const said = `S0: a talk on mirroring. ${document.claims[CLAIM].reason}`;
  assert.equal(await details.textContent(), said);
  assert.ok((await details.boundingBox()).width < 2);
  await link.focus();
  assert.ok((await details.boundingBox()).width > 1000, "with the focus it is on the slide");
  const plain = page.locator("#verdicts table.claims tbody tr").nth(1);
  assert.equal(
    await plain.locator("td span[tabindex]").getAttribute("tabindex"),
    "0",
    "its region takes the focus instead",
  );
  const row = page.locator("#verdicts table.claims tbody tr").nth(2);
  assert.match(await row.innerText(), /mirror-replay is not part of this data set/);
  await link.click();
  await page.waitForFunction((chart) => {
    const [experiment, chartName] = chart.split("/");
    const file = `/${experiment}/aggregate/${chartName}.csv`;
    return window.replay.deck.getCurrentSlide().querySelector(`canvas[data-chart-src$="${file}"]`);
  }, CHART);
});

test("altered data are marked on the table of claims and below every chart", async () => {
  const name = await addDataSet("what-if", { ...saying("held"), altered: true }, (manifest) => {
    manifest.altered = { copied_from: "fixture", files: 1 };
  });
  const page = await open(`?data=${name}`);
  assert.equal(await page.locator("#verdicts table.claims caption").innerText(), "ALTERED DATA");
  // A compared slide keeps its own data sets.
  const labels = await page.$$eval("section:not([data-compare]) > p.provenance", (all) =>
    all.map((one) => one.textContent),
  );
  assert.ok(labels.length > 5);
  for (const label of labels) assert.match(label, /^ALTERED DATA · what-if/);
  await page.close();
  const usual = await open("?data=fixture");
  assert.equal(await usual.locator("caption").count(), 0);
});

test("a frozen talk shows its own data set, whatever the address asks for, and says so", async () => {
  const frozen = async (page) => {
    await withChapter(page);
    await page.route(
      ({ pathname }) => pathname === "/",
      async (route) => {
        const response = await route.fetch();
        const body = (await response.text())
          .replace('name="replay:data-set" content="tentacle"', 'name="replay:data-set" content="fixture"')
          .replace("</head>", '<meta name="replay:frozen" content="fixture" /></head>')
          .replaceAll("benchmarks/tentacle/", "benchmarks/fixture/");
        await route.fulfill({ response, body });
      },
    );
  };
  const asked = await open("?data=fixture-small", { prepare: frozen });
  assert.match(
    await asked.textContent(".notice"),
    /^This talk is frozen to fixture; “fixture-small” is ignored\.$/,
  );
  assert.match(await asked.textContent("#verdicts p"), /Between \d/);
  assert.equal(await asked.evaluate(() => window.replay.data.dataSet), "fixture");
  await asked.close();
  for (const query of ["", "?data=fixture"]) {
    const page = await open(query, { prepare: frozen });
    assert.equal(await page.locator(".notice").count(), 0);
    await page.close();
  }
});

describe("if every claim had the same verdict", () => {
  const name = "all-alike";
  /** What depends on verdicts; the other slides are those of every-slide.test.js. */
  const DEPENDS = "[data-when], [data-claims], data[value]";
  let page;
  before(async () => {
    await addDataSet(name, claims);
    page = await deck.openDeck(`?data=${name}`, {
      stays: true,
      // No file of a chart ever comes: the texts are the same, and each chart's place is there before it is drawn.
      prepare: (one) => one.route(/\/aggregate\/[^/]+\.csv$/, () => {}),
    });
  });

  for (const verdict of VERDICTS) {
    test(`if every claim were ${verdict}, each slide of the talk would still have one title, and fit`, async () => {
      const document = { ...judgedAlike(claims, verdict), data_set: name };
      await deck.replaceFile(`${name}/claims.json`, JSON.stringify(document));
      await page.waitForFunction((wanted) => {
        const found = Object.values(window.replay.data.about().claims.claims).filter(
          ({ conditions }) => Object.keys(conditions).length > 0,
        );
        return found.every((one) => one.verdict === wanted);
      }, verdict);
      // The texts are written in the task that took the claims, or in the next ones.
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
      const { ids, found } = await lookAtEachSlide(page, [layoutProblems, groupProblems], { with: DEPENDS });
      assert.ok(ids.length >= 29, `only ${ids.length} slides were looked at`);
      assert.deepEqual(found, []);
    });
  }
});
