/** Errors, and changes while a deck is open, in a real Chromium. */
import assert from "node:assert/strict";
import { canvas, chartData, csv, goTo, openDeck, origin, requests, routes, test } from "./support/deck.js";

const WIDE = `"I/O size",4096,8192,16384
Without journal,30658995.65,60612439.23,114581905.32
With journal,5943684.21,,31419250.76
`;

const alertText = (page) => page.locator("section.present [role=alert]").innerText();

test("an error in a CSV is shown in the chart's place, and no chart is drawn", async () => {
  routes.set("/d/html.csv", { type: "text/html", body: "<!doctype html><p>the app" });
  csv("/d/markup.csv", "<!doctype html>\n");
  csv("/d/ragged.csv", "x,1,2\na,1\n");
  csv("/d/word.csv", "x,1,2\na,1,<b id=injected>two</b>\n");
  const sources = ["missing", "html", "markup", "ragged", "word"].map((name) => canvas(`/d/${name}.csv`));
  const page = await openDeck({
    sections: [
      ...sources,
      canvas("/d/word.csv", "pie"),
      canvas("/d/word.csv", "line", "<!-- {not json} -->"),
      `<canvas data-chart="line"></canvas>`,
    ],
  });
  const expected = [
    /\/d\/missing\.csv: the server answered 404/,
    /\/d\/html\.csv: the server answered with a web page/,
    /\/d\/markup\.csv: the content is markup/,
    /\/d\/ragged\.csv: row 2, column 3: 2 fields where the header has 3/,
    /\/d\/word\.csv: row 2, column 3: "<b id=injected>two<\/b>" is not a number/,
    /\/d\/word\.csv: there is no chart “pie”; there are bar, chain, dumbbell/,
    /\/d\/word\.csv: the options in the comment are not JSON/,
    /neither data-chart-src nor CSV text/,
  ];
  for (const [i, pattern] of expected.entries()) {
    await goTo(page, i);
    assert.match(await alertText(page), pattern);
    assert.equal(await page.locator("section.present canvas").isVisible(), false);
    assert.deepEqual((await chartData(page, i))?.datasets ?? [], []);
  }
  assert.equal(await page.locator("#injected").count(), 0);
});

test("after a corrected file, a refresh brings the chart back with its old colours", async () => {
  csv("/d/a.csv", WIDE);
  const page = await openDeck({ sections: [canvas("/d/a.csv")] });
  const colours = (await chartData(page)).datasets.map(({ borderColor }) => borderColor);
  csv("/d/a.csv", "I/O size,4096\nWithout journal,oops\n");
  await page.evaluate(() => window.plugin.refresh());
  assert.match(await alertText(page), /"oops" is not a number/);
  assert.deepEqual((await chartData(page)).datasets, []);
  csv("/d/a.csv", WIDE);
  await page.evaluate(() => window.plugin.refresh());
  assert.equal(await page.locator("[role=alert]").count(), 0);
  assert.equal(await page.locator("canvas").isVisible(), true);
  assert.deepEqual(
    (await chartData(page)).datasets.map(({ borderColor }) => borderColor),
    colours,
  );
});

test("a refresh changes the chart in place: same chart, same colours, one event, nothing when nothing changed", async () => {
  csv("/d/a.csv", WIDE);
  const page = await openDeck({ sections: [canvas("/d/a.csv"), canvas("/d/b.csv")] });
  await page.evaluate(() => {
    window.first = window.Chart.getChart(document.querySelector("canvas"));
    window.events = [];
    for (const type of ["ready", "updated", "error"]) {
      document.querySelector("canvas").addEventListener(`chart-csv:${type}`, ({ detail }) => {
        window.events.push([type, detail.src, detail.model.series.length, detail.chart === window.first]);
      });
    }
  });
  const earlier = await chartData(page);
  requests.length = 0;
  const refresh = () => page.evaluate(() => window.plugin.refresh((slot) => slot.reads("/d/a.spread.csv")));
  await refresh();
  assert.ok(
    requests.includes("/d/a.csv") && !requests.includes("/d/b.csv"),
    "only the chosen chart reads again",
  );
  assert.deepEqual(await page.evaluate(() => window.events), []);
  csv("/d/a.csv", "I/O size,4096,8192,16384\nNew,1,2,3\nWithout journal,31000000,61000000,\n");
  await refresh();
  const later = await chartData(page);
  assert.deepEqual(
    later.datasets.map(({ label, data }) => [label, data]),
    [
      ["New", [1, 2, 3]],
      ["Without journal", [31000000, 61000000, null]],
    ],
  );
  assert.equal(later.datasets[1].borderColor, earlier.datasets[0].borderColor);
  assert.notEqual(later.datasets[0].borderColor, earlier.datasets[0].borderColor);
  assert.deepEqual(await page.evaluate(() => window.events), [["updated", "/d/a.csv", 2, true]]);
});

test("if loads overlap, the last one wins, and a chart that is gone is left alone", async () => {
  csv("/d/a.csv", "x,1\na,1\n");
  const page = await openDeck({ sections: [canvas("/d/a.csv", "line", "", 'data-chart-bands="false"')] });
  const answers = [
    { body: "x,1\na,2\n", delay: 400 },
    { body: "x,1\na,3\n", delay: 10 },
  ];
  routes.set("/d/a.csv", () => answers.shift());
  await page.evaluate(() => {
    const [slot] = window.plugin.charts.values();
    window.slow = slot.refresh();
  });
  // Requests that are sent together may arrive in either order.
  while (answers.length > 1) await new Promise((resolve) => setTimeout(resolve, 5));
  const values = await page.evaluate(async () => {
    const [slot] = window.plugin.charts.values();
    await slot.refresh();
    const soon = slot.chart.data.datasets[0].data[0];
    await window.slow;
    await new Promise((resolve) => setTimeout(resolve, 500));
    return [soon, slot.chart.data.datasets[0].data[0]];
  });
  assert.deepEqual(values, [3, 3]);
  routes.set("/d/a.csv", { body: "x,1\na,4\n", delay: 100 });
  await page.evaluate(async () => {
    const [slot] = window.plugin.charts.values();
    const pending = slot.refresh();
    slot.release();
    await pending;
  });
});

test("hostile names in a CSV are drawn and spoken as text", async () => {
  csv("/d/a.csv", 'x,1,2\n"<img src=x onerror=""window.hacked=1"">",1,2\n__proto__,3,4\nconstructor,5,6\n');
  const page = await openDeck({
    sections: [canvas("/d/a.csv", "line", "", "data-chart-label='<script>'")],
    options: "{ labelFor: (src, model) => model.series[0].name }",
  });
  assert.equal((await chartData(page)).datasets.length, 3);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.match(await page.locator("canvas").getAttribute("aria-label"), /<img src=x/);
  assert.match(await page.locator("figcaption").innerText(), /^<img src=x/);
});

test("a strict policy is obeyed, and no request leaves the origin", async () => {
  csv("/d/a.csv", WIDE);
  const page = await openDeck({ sections: [canvas("/d/a.csv"), canvas("/d/none.csv")] });
  const foreign = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) foreign.push(request.url());
  });
  await page.evaluate(async () => {
    window.plugin.restyle();
    window.deck.slide(1);
    await window.plugin.ready();
    await window.plugin.refresh();
  });
  assert.deepEqual(foreign, []);
  assert.deepEqual(await page.evaluate(() => window.violations), []);
  assert.equal(await alertText(page), "No chart: /d/none.csv: the server answered 404 Not Found");
});

test("in a deck as in a chart: what could be read in two ways is refused by the option's name, and nothing is guessed", async () => {
  csv("/d/no-header.csv", "500, 1234, 0, 4096\n1000, 1200, 0, 4096\n1500, 1300, 0, 4096\n");
  csv("/d/words.csv", "config,IOPS,latency\nlibaio,900,1\npsync,200,5\n");
  csv("/d/thousands.csv", 'x,a\n1,"1,234"\n2,"5,678"\n');
  csv("/d/commented-header.csv", "# x,a\n1,2\n2,3\n3,4\n");
  csv("/d/words-down.csv", "bs,IOPS\n4k,900\n64k,200\n1M,50\n");
  csv("/d/usage.csv", "sep=;\r\nx;usage\r\n1;12,5 %\r\n2;1 %\r\n;\r\n");
  const utf16 = Buffer.from("\uFEFFx\ta\r\n1\t1,5\r\n", "utf16le");
  routes.set("/d/unicode.csv", { type: "text/csv", body: utf16 });
  const names = ["no-header", "words", "thousands", "commented-header", "words-down", "usage", "unicode"];
  const page = await openDeck({
    sections: [names.map((name) => canvas(`/d/${name}.csv`, "line", "", 'data-chart-height="150"')).join("")],
  });
  const alerts = await page.locator("[role=alert]").allInnerTexts();
  assert.equal(alerts.length, 3);
  assert.match(alerts[0], /no-header\.csv: row 1: the first row has only numbers.*option "orientation"/);
  assert.match(alerts[1], /words\.csv: row 1: each row or each column could be a series.*"orientation"/);
  assert.match(alerts[2], /thousands\.csv: row 2: the comma in "1,234".*option "decimal"/);
  const drawn = await Promise.all([3, 4, 5, 6].map((n) => chartData(page, n)));
  assert.deepEqual(
    drawn.map(({ labels, datasets }) => [labels, datasets.map(({ label, data }) => [label, data])]),
    [
      [[1, 2, 3], [["a", [2, 3, 4]]]],
      [[4096, 65536, 1048576], [["IOPS", [900, 200, 50]]]],
      [[1, 2], [["usage", [0.125, 0.01]]]],
      [[1], [["a", [1.5]]]],
    ],
  ); // prettier-ignore
  assert.deepEqual(drawn[1].scales.x.ticks, ["4K", "64K", "1M"]);
  assert.match(drawn[2].scales.y.ticks.at(-1), / %$/);
});
