/** A talk is apart from the program: another one, on other data, is checked, built and shown. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";

import { startPresentServer } from "../../../scripts/deck/server.js";
import { serveFolder } from "../../../scripts/deck/static-server.js";
import { temporaryFolder } from "../../support/folders.mjs";
import { assertEnds } from "../../support/programs.mjs";
import { READY, launchPatiently } from "../support/browser.js";
import { chartsOf, goTo, slideIds } from "../support/deck.js";
import { makeTalkOfFive } from "../support/talk-of-five.js";

let talk;
let browser;
let server;

const open = (query, url = server.url) => browser.open(`${url}${query}`);

/** Edits a file of the talk until a test ends; resolves to what it was. */
async function edit(t, name, change) {
  const file = path.join(talk.root, name);
  const whole = await readFile(file, "utf8");
  t.after(() => writeFile(file, whole));
  await writeFile(file, change(whole));
  return whole;
}

async function assertNotBuilt(reason) {
  const site = path.join(talk.root, "refused");
  await assertEnds(talk.run("scripts/build.mjs", "--out", site, "--no-preview"), 1, reason);
  assert.ok(!(await readdir(talk.root)).includes("refused"));
}

const folder = temporaryFolder({ after });

before(async () => {
  talk = await makeTalkOfFive(folder);
  browser = await launchPatiently();
});
after(async () => {
  await server?.close();
  await browser?.close();
});

test("the check holds it to its own chapters, length and claims, and finds no problem", async () => {
  const { stdout, stderr } = await talk.run("scripts/check.mjs");
  assert.equal(stderr, "");
  assert.match(
    stdout,
    /^This talk keeps no evidence\.yaml: .*\n +5 min\nslides\/five\/queue\.md +3 slides +2:30\nslides\/five\/end\.md +3 slides +1:30\nThe talk takes 4:00\.\n$/,
  );
});

test("a key that its file misspells is refused, with the line and the likely word", async (t) => {
  const whole = await edit(t, "slides/five/talk.yaml", (text) => `${text}speakr: B\n`);
  const line = whole.split("\n").length;
  await assertEnds(
    talk.run("scripts/check.mjs", "--no-layout"),
    1,
    new RegExp(`slides/five/talk\\.yaml:${line}: speakr: unknown key`),
    /expected one of .*\bspeaker\b/,
  );
});

test("a slide whose text leaves the stage is an error, with its file and line", async (t) => {
  const words = "All the words that I know.\n\n".repeat(16);
  await edit(t, "slides/five/end.md", (text) => text.replace("<!-- Note -->", `${words}<!-- Note -->`));
  await assertEnds(talk.run("scripts/check.mjs"), 1, /^slides\/five\/end\.md:1: the slide is \d+ px high$/m);
});

test("it is built, and opens with its first slide: title, speaker, event, repository and its own colour", async () => {
  const site = path.join(talk.root, "dist");
  const { stderr } = await talk.run("scripts/build.mjs", "--out", site, "--no-preview");
  assert.equal(
    stderr
      .split("\n")
      .filter((line) => /not published|ALTERED/.test(line))
      .join("\n"),
    "",
  );
  assert.deepEqual((await readdir(path.join(site, "slides/five"))).sort(), [
    ...["charts", "end.html", "look", "queue.html"],
  ]);
  server = await serveFolder(site);
  const page = await open("");
  assert.equal(await page.title(), "How deep is your queue?");
  assert.deepEqual(await slideIds(page), ["question", "reads", "writes", "verdicts", "handbook", "end"]);
  assert.equal(
    (await page.textContent("#question .credits")).trim(),
    "A. Speaker An evening of storage people.example/queue",
  );
  const accent = (theme) =>
    page.evaluate((wanted) => {
      document.documentElement.dataset.theme = wanted;
      const mark = document.querySelector("#question .credits a");
      return getComputedStyle(mark).textDecorationColor;
    }, theme);
  assert.deepEqual([await accent("light"), await accent("dark")], ["rgb(0, 95, 153)", "rgb(124, 196, 245)"]);
  assert.ok(await page.isVisible(".reader-bar"));
  assert.equal(await page.locator(".reader-bar a").count(), 0, "it has no first page for readers");
});

test("it has its own fonts, colours and logo, and of the deck's fonts it asks for none", async () => {
  const page = await open("?theme=light");
  await page.waitForFunction(() =>
    [...document.querySelectorAll("#question img")].every((one) => one.complete),
  );
  const look = (theme) =>
    page.evaluate((wanted) => {
      document.documentElement.dataset.theme = wanted;
      const title = getComputedStyle(document.querySelector("#question h1"));
      const shown = [...document.querySelectorAll("#question img")].filter((one) => one.checkVisibility());
      return {
        font: title.fontFamily,
        colour: title.color,
        logo: shown.map(({ src, alt, naturalWidth }) => [src.split("/").at(-1), alt, naturalWidth > 0]),
      };
    }, theme);
  const font = "Acme, sans-serif";
  assert.deepEqual(await look("light"), {
    ...{ font, colour: "rgb(16, 36, 62)", logo: [["logo-light.svg", "Acme", true]] },
  });
  assert.deepEqual(await look("dark"), {
    ...{ font, colour: "rgb(238, 243, 250)", logo: [["logo-dark.svg", "Acme", true]] },
  });
  await goTo(page, "reads");
  const loaded = await page.evaluate(() =>
    [...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family),
  );
  assert.deepEqual(
    [...new Set(loaded)].map((name) => name.replaceAll('"', "")),
    ["Acme"],
  );
  assert.equal(
    await page.evaluate(() => {
      const canvas = document.querySelector("#reads canvas");
      return window.replay.charts.charts.get(canvas).chart.options.scales.x.ticks.font.family;
    }),
    font,
    "charts are written in it, too",
  );
});

test("a chart of its own file is drawn, with its digest, also in the page that others frame, whatever ?data= asks", async () => {
  const csv = await readFile(path.join(talk.root, "slides/five/charts/handbook.csv"));
  const digest = createHash("sha256").update(csv).digest("hex").slice(0, 8);
  const values = { Handbook: [900, 4200, 4900] };
  const page = await open("?data=threads#/handbook");
  await goTo(page, "handbook");
  const [drawn] = await chartsOf(page, "handbook");
  assert.deepEqual([drawn.error, drawn.series], [undefined, values]);
  const label = `own file handbook.csv, SHA-256 ${digest}`;
  const said = async () => (await page.textContent("#handbook .provenance")).slice(0, label.length);
  assert.equal(await said(), label);
  await page.goto(`${server.url}embed/five.handbook.1.html`);
  await page.waitForSelector(READY.embedded);
  await page.waitForFunction(() => [...window.replay.charts.charts.values()].some(({ model }) => model));
  assert.equal(await said(), label);
  assert.match(await page.evaluate(() => getComputedStyle(document.querySelector("h2")).fontFamily), /Acme/);
});

test("the present server shows the same look and the same chart", async () => {
  const before = process.env.REPLAY_TALK;
  process.env.REPLAY_TALK = talk.root;
  let present;
  try {
    const benchmarks = path.join(talk.root, "benchmarks");
    present = await startPresentServer({ port: 0, benchmarks, followSources: false });
  } finally {
    if (before === undefined) delete process.env.REPLAY_TALK;
    else process.env.REPLAY_TALK = before;
  }
  try {
    const page = await open("#/handbook", present.url);
    await goTo(page, "handbook");
    const [drawn] = await chartsOf(page, "handbook");
    assert.deepEqual(drawn.series, { Handbook: [900, 4200, 4900] });
    assert.match(
      await page.textContent("#handbook .provenance"),
      /^own file handbook\.csv, SHA-256 [0-9a-f]{8}/,
    );
    assert.equal(
      await page.evaluate(() => getComputedStyle(document.querySelector("#handbook h2")).fontFamily),
      "Acme, sans-serif",
    );
    await page.close();
  } finally {
    await present.close();
  }
});

test("with fonts that are too large for its look, it is not built, and the message names them", async (t) => {
  const file = path.join(talk.root, "slides/five/look/huge.woff2");
  await writeFile(file, Buffer.alloc(200_000));
  t.after(() => rm(file));
  await assertNotBuilt(/The site was not built: .*is more than 150\.0 KB \(.*huge\.woff2 195\.3 KB\)/s);
});

test("a slide that would run a script is refused, with its file, and no site is written", async (t) => {
  const script = "\n<script>alert(1)</script>\n\n## ";
  await edit(t, "slides/five/end.md", (text) => text.replace("\n## ", script));
  await assertNotBuilt(/The site was not built: .*slides\/five\/end\.md: .*<script>.*build again\./);
});

test("its charts are drawn from its data, in words that its verdicts choose, and a cut of another talk is none of its own", async () => {
  const page = await open("?cut=20#/reads");
  assert.match(await page.textContent(".notice"), /no “20”-minute cut of the talk\. Available: 5 minutes/);
  const drawn = {};
  for (const id of ["reads", "writes"]) {
    await goTo(page, id);
    drawn[id] = await chartsOf(page, id);
  }
  const shown = Object.values(drawn).flat();
  assert.deepEqual(
    shown.map(({ error, labels }) => [error, labels]),
    shown.map(() => [undefined, [1, 4, 16, 64]]),
  );
  assert.equal(drawn.writes.length, 2);
  assert.ok(drawn.reads[0].series["3 replicas"][2] > 3 * drawn.reads[0].series["3 replicas"][0]);
  assert.equal(
    await page.evaluate(() => document.querySelector("#reads h2").innerText),
    "A deep queue pays: reads are 4.6× as fast",
  );
  const colour = await page.evaluate(() => {
    const canvas = document.querySelector("#reads canvas");
    return window.replay.charts.charts.get(canvas).chart.data.datasets[0].borderColor;
  });
  assert.equal(colour, "rgb(31, 78, 156)", "the look that its file gives this series");
  await goTo(page, "end");
  await page.waitForSelector(".qr svg");
  assert.equal(await page.getAttribute(".qr svg", "aria-label"), "QR code: https://people.example/queue");
});
