/** Errors are shown where they occur: missing, malformed and hostile files, and missing chapters. */
import assert from "node:assert/strict";
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";

import { onlyMarkdown, withClients } from "../support/chapters.js";
import { chartsOf, goTo, startDeck } from "../support/deck.js";

const deck = await startDeck();
after(() => deck.close());

test("a missing and a malformed CSV file show an error in the chart's place, until the file is corrected", async () => {
  const page = await deck.openDeck();
  const name = "fixture/rbd-journaling/aggregate/throughput-write-seq.csv";
  const text = await readFile(path.join(deck.benchmarks, name), "utf8");
  await goTo(page, "throughput-write-seq");
  const alert = page.locator('#throughput-write-seq [role="alert"]');
  await deck.replaceFile(name, text.replace(/\d+\.\d+/, "twelve"));
  await alert.waitFor();
  assert.match(await alert.textContent(), /throughput-write-seq\.csv.*row 2, column 2/);
  // An audience sees that there is no chart; why is for the speaker, who points at it.
  const reason = alert.locator(".chart-csv-reason");
  const width = async () => (await reason.boundingBox()).width;
  assert.ok((await width()) <= 1, "the reason is on the screen");
  await alert.hover();
  assert.ok((await width()) > 100, "nobody can read the reason");
  await page.mouse.move(0, 0);
  await rm(path.join(deck.benchmarks, name));
  await page.waitForFunction(() =>
    /404/.test(document.querySelector("#throughput-write-seq [role=alert]")?.textContent),
  );
  await deck.replaceFile(name, text);
  await alert.waitFor({ state: "detached" });
});

test("a chapter that cannot be fetched is an error on its slide, and the others are shown", async () => {
  const page = await deck.openDeck("?data=fixture", {
    prepare: (one) =>
      one.route("**/slides/rpo/91-journal.md", (route) => route.fulfill({ status: 404, body: "" })),
  });
  assert.match(
    await page.textContent(".chapter-error"),
    /slides\/rpo\/91-journal\.md: the server answered 404/,
  );
  assert.ok((await page.locator(".slides section[id]").count()) > 20);
});

const BROKEN = {
  "a web page where the file should be": [
    { contentType: "text/html", body: "<!doctype html><title>Talk</title>" },
    /web page, not .*CSV/,
  ],
  "markup that calls itself CSV": [{ body: "<html></html>" }, /markup/],
  "nothing at all": [{ body: "" }, /empty/],
  "a header and no data": [{ body: "I/O size,4096,8192\n" }, /no data row/],
  "a row that is too short": [{ body: "I/O size,4096,8192\nA,1\n" }, /row 2/],
  "a quote that is never closed": [{ body: 'I/O size,4096\n"A,1\n' }, /never closed/],
  "a word for a number": [{ body: "I/O size,4096\nA,many\n" }, /row 2, column 2.*many/],
  "not a number": [{ body: "I/O size,4096\nA,NaN\n" }, /row 2, column 2.*NaN/],
  "a series twice": [{ body: "I/O size,4096\nA,1\nA,2\n" }, /row 3.*twice/],
  "bytes that are no text": [{ body: Buffer.from([0x41, 0xff, 0xfe, 0x0a]) }, /UTF-8/],
  "an error of the server": [{ status: 500, body: "" }, /500/],
};

/** A chapter: a slide for each kind of wrong file, then one with a file of the data set. */
const FOLDER = "benchmarks/reference/rbd-journaling/aggregate";
const slideOf = (id, file) =>
  `<!-- .slide: id="${id}" data-timing="10" -->\n## ${id}\n\n` +
  `<canvas data-chart="line" data-chart-src="${FOLDER}/${file}.csv"></canvas>\n`;
const KINDS = Object.entries(BROKEN).map(([what, [answer, expected]], at) => ({
  ...{ what, answer, expected },
  ...{ id: `slide-${at}`, file: `wrong-${at}` },
}));

test("each kind of wrong CSV file is named in the chart's place, and does not affect other charts", async () => {
  const chapter = [
    ...KINDS.map(({ id, file }) => slideOf(id, file)),
    slideOf("right", "throughput-read-seq"),
  ];
  // On stage a slide without any file that the server lists would have left.
  const page = await deck.openDeck("?data=fixture&explore", {
    hash: `#/${KINDS[0].id}`,
    prepare: async (opened) => {
      await onlyMarkdown(opened, chapter.join("\n\n\n"));
      for (const { file, answer } of KINDS)
        await opened.route(`**/${file}.csv`, (route) =>
          route.fulfill({ contentType: "text/csv", ...answer }),
        );
    },
  });
  const wrong = [];
  for (const { what, expected, id, file } of KINDS) {
    await goTo(page, id);
    const alert = page.locator(`#${id} [role="alert"]`);
    const text = (await alert.count()) === 1 ? await alert.innerText() : "no alert";
    if (!expected.test(text) || !text.includes(`${file}.csv`)) wrong.push(`${what}: ${text}`);
  }
  assert.deepEqual(wrong, []);
  await goTo(page, "right");
  const [other] = await chartsOf(page, "right");
  assert.equal(other.error, undefined);
  assert.ok(other.shown.length > 0);
  assert.match(page.complaints.splice(0).join("\n"), /status of 500/);
});

test("names in a CSV file are text wherever they are shown, and never markup or script", async () => {
  const name = '<img src=x onerror="window.hacked = 1">';
  const body = `"<script>window.hacked = 2</script> size",4096,8192\n"${name.replaceAll('"', '""')}",1,2\n=cmd|x!A1,3,4\n`;
  // A slide that names no series shows all of the file's, whatever their names.
  const slide = "clients";
  const page = await deck.openDeck("?data=fixture", {
    prepare: async (opened) => {
      await withClients(opened);
      await opened.route("**/fixture/client-sweep/aggregate/iops-randwrite-4096.csv", (route) =>
        route.fulfill({ contentType: "text/csv", body }),
      );
    },
  });
  await goTo(page, slide);
  const [chart] = await chartsOf(page, slide);
  assert.equal(chart.error, undefined);
  assert.deepEqual(Object.keys(chart.series), [name, "=cmd|x!A1"]);
  await page.keyboard.press("t");
  await page.waitForSelector(`#${slide} .chart-table-view`);
  const found = await page.evaluate((id) => {
    const shown = document.getElementById(id);
    return {
      hacked: window.hacked,
      elements: shown.querySelectorAll("img, script, iframe").length,
      label: shown.querySelector("canvas").getAttribute("aria-label"),
      table: shown.querySelector(".chart-table-view")?.innerText,
    };
  }, slide);
  assert.equal(found.hacked, undefined);
  assert.equal(found.elements, 0);
  assert.match(found.label, /<img src=x/, "the summary reads the name as it is");
  assert.match(found.table, /<img src=x/, "so does the table");
});

test("a script that gets into the page does not run", async () => {
  const page = await deck.openDeck();
  const ran = await page.evaluate(async () => {
    const blocked = [];
    document.addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
    const script = document.createElement("script");
    script.textContent = "window.hacked = 1";
    document.body.append(script);
    const image = document.createElement("img");
    image.setAttribute("onerror", "window.hacked = 2");
    image.src = "data:,";
    document.body.append(image);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { hacked: window.hacked ?? null, blocked };
  });
  assert.equal(ran.hacked, null);
  assert.ok(ran.blocked.length >= 2, String(ran.blocked));
  assert.match(page.complaints.splice(0).join("\n"), /Content Security Policy/);
});
