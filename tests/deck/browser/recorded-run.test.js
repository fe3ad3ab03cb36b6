/** `?run` in a real browser: charts fill only with the runs that had arrived, and end as their files. */
import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "node:test";

import { axeProblems, loadAxe } from "../support/axe.js";
import { readChart, readRuns } from "../support/csv-file.js";
import { withClients, withHalfHidden } from "../support/chapters.js";
import { chartsOf, goTo, startDeck } from "../support/deck.js";

const SLIDE = "throughput-write-seq";
const FILE = "fixture/rbd-journaling/aggregate/throughput-write-seq.csv";

const deck = await startDeck();
after(() => deck.close());

const badge = (page) => page.locator(".recorded-run");
const press = (page, key) => page.keyboard.press(key);

/** Every state of a slide's chart from now on: its series and the counts behind their points. */
function watch(page, id) {
  return page.evaluate((slideId) => {
    const canvas = document.querySelector(`#${slideId} canvas`);
    window.frames_ = [];
    canvas.addEventListener("chart-csv:updated", () => {
      const { model } = window.replay.charts.charts.get(canvas);
      window.frames_.push(
        model.series.map(({ name, points }) => ({
          name,
          points: points.map(({ x, y, low, high, n }) => ({ x, y, low, high, n })),
        })),
      );
    });
  }, id);
}

async function open(query, { slide = SLIDE, ...options } = {}) {
  const page = await deck.openDeck(`?data=fixture&${query}`, { reducedMotion: "no-preference", ...options });
  await goTo(page, slide);
  return page;
}

test("each frame is computed from the runs that had arrived, and the last is the file", async () => {
  const page = await open("run=5");
  await watch(page, SLIDE);
  assert.match(await badge(page).textContent(), /^Recorded run: 1 January 2026, .+ in 5 s/);
  await badge(page).getByText("Recorded run over").waitFor();
  const frames = await page.evaluate(() => window.frames_);
  assert.ok(frames.length > 5, `${frames.length} frames`);
  const runs = await readRuns(path.join(deck.benchmarks, FILE));
  let growing = 0;
  for (const frame of frames) {
    let counted = 0;
    for (const { name, points } of frame) {
      for (const { x, y, low, high, n } of points) {
        if (y === null) continue;
        counted += n;
        // Blocks arrive in their order, so that the first n runs of a point are those that had arrived.
        const arrived = runs
          .filter((run) => run.series === name && run.x === x)
          .map((run) => run.y)
          .slice(0, n);
        assert.equal(arrived.length, n, "more runs than there are");
        const ordered = [...arrived].sort((a, b) => a - b);
        const median = (ordered[(n - 1) >> 1] + ordered[n >> 1]) / 2;
        assert.ok(
          Math.abs(y - median) < 1e-6 * median,
          `${name} ${x}: ${y}, not the median ${median} of ${n} runs`,
        );
        if (frame === frames.at(-1)) continue;
        assert.deepEqual(
          [low, high].map((bound) => bound.toPrecision(6)),
          [ordered[0], ordered.at(-1)].map((run) => run.toPrecision(6)),
        );
      }
    }
    assert.ok(counted >= growing, "runs that had arrived are gone again");
    growing = counted;
  }
  const [chart] = await chartsOf(page, SLIDE);
  const file = await readChart(path.join(deck.benchmarks, FILE));
  assert.deepEqual(chart.series, file.series);
  assert.deepEqual(chart.bounds, file.bounds);
});

test("the axis does not move while the chart fills", async () => {
  const page = await open("run=20");
  const range = () =>
    page.evaluate((id) => {
      const { min, max } = window.replay.charts.charts.get(document.querySelector(`#${id} canvas`)).chart
        .scales.y;
      return [min, max];
    }, SLIDE);
  await page.waitForFunction(() => document.querySelector(".recorded-run progress").value > 0.03);
  const early = await range();
  await page.waitForFunction(() => document.querySelector(".recorded-run progress").value > 0.1);
  assert.deepEqual(await range(), early);
  await press(page, "q");
  await badge(page).getByText("Recorded run over").waitFor();
  const finished = await range();
  assert.ok(finished[1] <= early[1] * 1.001, `${finished} needs more room than ${early}`);
});

test("W pauses and continues, Z starts again, and Q shows everything that was measured", async () => {
  const page = await open("run=300");
  const share = () => page.evaluate(() => document.querySelector(".recorded-run progress").value);
  await page.waitForFunction(() => document.querySelector(".recorded-run progress").value > 0.002);
  await press(page, "w");
  await badge(page).getByText("paused").waitFor();
  const stopped = await share();
  await page.waitForTimeout(200);
  assert.equal(await share(), stopped);
  await press(page, "w");
  await page.waitForFunction((was) => document.querySelector(".recorded-run progress").value > was, stopped);
  await press(page, "z");
  await page.waitForFunction((was) => document.querySelector(".recorded-run progress").value < was, stopped);
  await press(page, "q");
  await badge(page).getByText("Recorded run over").waitFor();
  await page.evaluate(() => window.replay.charts.ready());
  const [chart] = await chartsOf(page, SLIDE);
  assert.deepEqual(chart.series, (await readChart(path.join(deck.benchmarks, FILE))).series);
});

test("without ?run, Z plays the slide on show, and on a slide without recorded charts it does nothing", async () => {
  const page = await open("", { slide: "setup" });
  await page.evaluate(() => {
    const { charts } = window.replay;
    const { readWith } = charts;
    window.armed = new Promise((resolve) => {
      charts.readWith = (read) => resolve(readWith.call(charts, read));
    });
  });
  await press(page, "z");
  await page.evaluate(() => window.armed);
  await goTo(page, SLIDE);
  const [chart] = await chartsOf(page, SLIDE);
  assert.deepEqual(chart.series, (await readChart(path.join(deck.benchmarks, FILE))).series);
  assert.equal(await badge(page).count(), 0);
  await press(page, "z");
  await badge(page).waitFor();
});

test("numbers that are taken while a recorded run is armed are drawn, wherever they are", async () => {
  const page = await open("run=300");
  await badge(page).waitFor();
  await page.evaluate(async () => {
    const { data, stage } = window.replay;
    const name = "others.bundle";
    // As a bundle's files are read: no server has them.
    const readerOf = (fetchFile) => async (address, options) => {
      const response = await fetchFile(String(address).replace(`/${name}/`, "/fixture/"), options);
      if (!String(address).endsWith("benchmarks/index.json")) return response;
      const index = await response.json();
      index.files[name] = index.files.fixture;
      return new Response(JSON.stringify(index));
    };
    data.take({ name, files: new Map() }, readerOf);
    await data.load();
    await stage.update(() => true);
  });
  await goTo(page, SLIDE);
  const [chart] = await chartsOf(page, SLIDE);
  assert.equal(chart.error, undefined);
  assert.match(chart.url, /others\.bundle/);
  assert.deepEqual(chart.series, (await readChart(path.join(deck.benchmarks, FILE))).series);
  await press(page, "z");
  await badge(page)
    .getByText(/a bundle does not say when its runs arrived/)
    .waitFor();
});

test("a recording that comes while the deck is open is played", async () => {
  let isThere = false;
  const page = await open("", {
    prepare: (one) =>
      one.route("**/recording.json", (route) =>
        isThere ? route.fallback() : route.fulfill({ status: 404, body: "none" }),
      ),
  });
  await press(page, "z");
  await badge(page)
    .getByText(/No recorded run: there is no/)
    .waitFor();
  isThere = true;
  await page.evaluate(() => window.replay.stage.update(() => false));
  await press(page, "z");
  await badge(page)
    .getByText(/^Recorded run: /)
    .waitFor();
});

test("on a phone the line of the run is above a reader's bar", async () => {
  const page = await deck.openDeck("?data=fixture&explore&run=600", {
    hash: `#/${SLIDE}`,
    viewport: { width: 390, height: 844 },
  });
  const bottom = await badge(page).evaluate((line) => line.getBoundingClientRect().bottom);
  const top = await page.locator(".reader-bar").evaluate((bar) => bar.getBoundingClientRect().top);
  assert.ok(bottom <= top, `${bottom} px, and the bar is at ${top} px`);
});

test("the title settles nothing until all runs have arrived", async () => {
  const page = await open("run=600", { slide: "journal-ratio" });
  const shown = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("#journal-ratio h2 > span")]
        .filter((part) => !part.hidden)
        .map((part) => part.dataset.when),
    );
  await page.waitForFunction(() => document.querySelector(".recorded-run progress").value > 0);
  assert.deepEqual(await shown(), ["journal-4k-seq-write inconclusive"]);
  await press(page, "q");
  await badge(page).getByText("Recorded run over").waitFor();
  const verdict = await page.evaluate(
    () => window.replay.data.about().claims.claims["journal-4k-seq-write"].verdict,
  );
  assert.notEqual(verdict, "inconclusive", "a fixture whose title has something to say");
  assert.deepEqual(await shown(), [`journal-4k-seq-write ${verdict}`]);
});

test("charts of other experiments are complete, and those of the same experiment play along", async () => {
  const page = await open("run=600", {
    prepare: (opened) => withClients(opened, ["slides/rpo/90-appendix.md", "slides/rpo/91-journal.md"]),
  });
  const empty = (series) =>
    Object.values(series)
      .flat()
      .every((value) => value === null);
  await goTo(page, "journal-ratio");
  const [ratio] = await chartsOf(page, "journal-ratio");
  assert.ok(Object.values(ratio.series).flat().includes(null), "ten minutes' run is complete at once");
  const other = await page.evaluate(
    () => document.querySelector('canvas[data-chart-src*="/client-sweep/"]').closest("section").id,
  );
  await goTo(page, other);
  const [sweep] = await chartsOf(page, other);
  assert.ok(!empty(sweep.series));
  assert.deepEqual(
    sweep.series,
    (await readChart(path.join(deck.benchmarks, sweep.url.replace("benchmarks/", "")))).series,
  );
});

test("what a verdict hides on the slide does not play", async () => {
  const page = await open("run=600", { slide: "half-hidden", prepare: withHalfHidden });
  const complete = async (slide) => {
    await goTo(page, slide);
    const [{ series, url }] = await chartsOf(page, slide);
    const file = await readChart(path.join(deck.benchmarks, url.replace("benchmarks/", "")));
    return JSON.stringify(series) === JSON.stringify(file.series);
  };
  assert.deepEqual([await complete("half-hidden"), await complete("clients")], [false, true]);
});

test("with reduced motion the chart changes only at the end of a block", async () => {
  const page = await open("run=5", { reducedMotion: "reduce" });
  await watch(page, SLIDE);
  await badge(page).getByText("Recorded run over").waitFor();
  const frames = await page.evaluate(() => window.frames_);
  for (const frame of frames) {
    const counts = new Set(
      frame.flatMap(({ points }) => points.filter(({ y }) => y !== null).map(({ n }) => n)),
    );
    assert.ok(counts.size <= 1, `a frame within a block: ${[...counts]} runs`);
  }
  assert.ok(frames.length >= 3, `${frames.length} frames`);
});

test("without a recording the deck says what to do, and the charts are complete", async () => {
  const page = await deck.openDeck("?data=fixture&run", {
    prepare: (one) => one.route("**/recording.json", (route) => route.fulfill({ status: 404, body: "none" })),
  });
  await badge(page)
    .getByText(/\.\/replay derive --data fixture/)
    .waitFor();
  await goTo(page, SLIDE);
  const [chart] = await chartsOf(page, SLIDE);
  assert.deepEqual(chart.series, (await readChart(path.join(deck.benchmarks, FILE))).series);
});

test("a chart whose runs cannot be read is shown complete, and the line says so", async () => {
  const page = await deck.openDeck("?data=fixture&run=60", {
    prepare: (one) =>
      one.route("**/rbd-journaling/aggregate/runs.csv", (route) =>
        route.fulfill({ status: 404, body: "none" }),
      ),
  });
  await goTo(page, SLIDE);
  await badge(page)
    .getByText(/shown complete/)
    .waitFor();
  const [chart] = await chartsOf(page, SLIDE);
  assert.deepEqual(chart.series, (await readChart(path.join(deck.benchmarks, FILE))).series);
  assert.match(page.complaints.splice(0).join("\n"), /runs\.csv: the server answered 404/);
});

test("the line of the run is free of axe's complaints, in light and dark, and stays within the margin above the slide", async () => {
  const page = await open("run=60");
  await badge(page).waitFor();
  await loadAxe(page);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await axeProblems(page, { include: [".recorded-run"] }), [], colorScheme);
    const { bottom, size } = await badge(page).evaluate((line) => ({
      bottom: line.getBoundingClientRect().bottom,
      size: parseFloat(getComputedStyle(line).fontSize),
    }));
    const top = await page.evaluate(
      (id) => document.querySelector(`#${id} h2`).getBoundingClientRect().top,
      SLIDE,
    );
    assert.ok(bottom <= top, `${bottom} px, over the title at ${top} px`);
    assert.ok(size >= 20, `${size} px`);
  }
});
