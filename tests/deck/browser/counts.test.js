/** Axes and marks of counts: clients, trials. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { chartsOf, goTo, startDeck } from "../support/deck.js";
import { withChapter, withClients } from "../support/chapters.js";

const deck = await startDeck();
after(() => deck.close());

test("an axis of clients has whole numbers, at the measured counts", async () => {
  const page = await deck.openDeck("?data=fixture", { prepare: withClients });
  await goTo(page, "clients");
  const ticks = await page.evaluate(() =>
    [...document.querySelectorAll("#clients canvas")].map((canvas) => {
      const { scales } = window.replay.charts.charts.get(canvas).chart;
      return { labels: scales.x.ticks.map(({ label }) => label), title: scales.x.options.title.text };
    }),
  );
  assert.equal(ticks.length, 3);
  for (const { labels, title } of ticks) {
    assert.deepEqual(labels, ["1", "2", "4", "8"]);
    assert.equal(title, "Clients");
  }
  await page.close();
});

test("each trial is a dot over its number, without a line between them", async () => {
  const page = await deck.openDeck("?data=fixture", { prepare: withChapter });
  await goTo(page, "dots");
  const [chart] = await chartsOf(page, "dots");
  assert.equal(chart.error, undefined);
  assert.deepEqual(chart.labels, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const facts = await page.evaluate(() => {
    const { chart: drawn } = window.replay.charts.charts.get(document.querySelector("#dots canvas"));
    const { data, dataset } = drawn.getDatasetMeta(0);
    return {
      dots: data.filter(({ options }) => options.radius >= 5).length,
      line: Boolean(dataset),
      ticks: drawn.scales.x.ticks.map(({ label }) => label),
      title: drawn.scales.x.options.title.text,
    };
  });
  assert.deepEqual(facts, {
    dots: 10,
    line: false,
    ticks: chart.labels.map(String),
    title: "Trial",
  });
  await page.close();
});
