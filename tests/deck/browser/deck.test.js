/** The current data: live updates, data sets by name, values and labels that follow them. */
import assert from "node:assert/strict";
import { mkdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";

import { withClients } from "../support/chapters.js";
import { readChart } from "../support/csv-file.js";
import { chartsOf, goTo, startDeck } from "../support/deck.js";

const deck = await startDeck();
after(() => deck.close());

test("a changed CSV file reaches the open chart in place, without reload", async () => {
  const page = await deck.openDeck();
  await goTo(page, "throughput-write-seq");
  const name = "fixture/rbd-journaling/aggregate/throughput-write-seq.csv";
  const before = await readChart(path.join(deck.benchmarks, name));
  await page.evaluate(() => {
    const canvas = document.querySelector("#throughput-write-seq canvas");
    window.chartBefore = window.replay.charts.charts.get(canvas).chart;
    window.updated = new Promise((resolve) =>
      canvas.addEventListener("chart-csv:updated", () => resolve(), { once: true }),
    );
  });
  const text = await readFile(path.join(deck.benchmarks, name), "utf8");
  const first = String(before.series["Without journal"][0]);
  await deck.replaceFile(name, text.replace(`Without journal,${first}`, "Without journal,99999999"));
  await page.evaluate(() => window.updated);
  const [chart] = await chartsOf(page, "throughput-write-seq");
  assert.equal(chart.series["Without journal"][0], 99999999);
  const same = await page.evaluate(() => {
    const canvas = document.querySelector("#throughput-write-seq canvas");
    return window.chartBefore === window.replay.charts.charts.get(canvas).chart;
  });
  assert.ok(same, "the chart is another one, or the page was loaded again");
  await deck.replaceFile(name, text);
});

test("a changed manifest reaches sentences, notes and labels", async () => {
  const page = await deck.openDeck();
  const text = await readFile(path.join(deck.benchmarks, "fixture/manifest.json"), "utf8");
  const changed = JSON.parse(text);
  changed.setup.ceph_version = "99.1.2";
  changed.setup.osds = 77;
  changed.label = "another label";
  await deck.replaceFile("fixture/manifest.json", JSON.stringify(changed));
  await page.waitForFunction(() => document.querySelector("#setup dd").textContent.includes("99.1.2"));
  const facts = await page.evaluate(() => ({
    notes: document.querySelector("#setup aside.notes").textContent,
    label: document.querySelector("#journal-ratio .provenance").textContent,
  }));
  assert.match(facts.notes, /\b77\b/);
  assert.match(facts.label, /^fixture: another label · n = 10 · 3 Jan 2026 · limited by the CPU(?: · |$)/);
  await deck.replaceFile("fixture/manifest.json", text);
});

test("a manifest that changes while the deck starts reaches sentences that were written before", async () => {
  const name = "fixture/manifest.json";
  const text = await readFile(path.join(deck.benchmarks, name), "utf8");
  let release;
  const held = new Promise((resolve) => (release = resolve));
  let page;
  const opening = deck.openDeck("?data=fixture", {
    prepare: async (opened) => {
      page = opened;
      await opened.route(/\/charts-[\w-]{8}\.js$/, async (route) => {
        await held;
        await route.continue();
      });
    },
  });
  while (!page) await new Promise((resolve) => setTimeout(resolve, 5));
  await page.waitForFunction(() => document.querySelector("#setup dd data.bound"));
  const read = page.waitForResponse((response) => response.url().endsWith(name));
  const changed = JSON.parse(text);
  changed.setup.ceph_version = "99.1.2";
  await deck.replaceFile(name, JSON.stringify(changed));
  await read;
  release();
  await opening;
  await page.waitForFunction(() => document.querySelector("#setup dd").textContent.includes("99.1.2"));
  await deck.replaceFile(name, text);
});

test("every bound value of slides and notes is filled from the manifest, and keeps its own text without one", async () => {
  const takeAway = await deck.lendShipped();
  const page = await deck.openDeck("?data=tentacle");
  // Beside this a short text has a class that keeps it on one line.
  const bindings = (all) =>
    all.map(({ classList }) => [...classList].filter((name) => name !== "figure-text").join(" "));
  const values = () => page.$$eval("data[value]", bindings);
  assert.ok((await values()).length > 10);
  // A claim that was not measured has no figure to give, nor has an empty field of the answer.
  const given = await page.evaluate(() => {
    const { data } = window.replay;
    const isEmpty = ([source, mode, column]) =>
      source === "answer" && data.about().answer.modes.find(({ name }) => name === mode)?.[column] === "";
    const verdictOf = (one) => {
      const named = one.closest("section[data-set]")?.getAttribute("data-set") ?? null;
      const { claims } = data.about(data.nameFor(named)).claims;
      return claims[one.getAttribute("value").split(".")[0]]?.verdict;
    };
    return [...document.querySelectorAll("data[value]")]
      .filter((one) => !isEmpty(one.getAttribute("value").split(".")))
      .filter((one) => verdictOf(one) !== "not measured")
      .map((one) => one.classList.contains("bound") || one.getAttribute("value"));
  });
  assert.deepEqual([...new Set(given)], [true]);
  await page.close();
  await takeAway();
  const without = await deck.openDeck("");
  assert.deepEqual([...new Set(await without.$$eval("data[value]", bindings))], ["unbound"]);
  // While the files go one by one, the server calls them altered.
  await without.waitForFunction(
    () => document.querySelector("#journal-ratio .provenance").textContent === "tentacle · no manifest",
  );
});

test("a slide of another data set shows that one, and ?data= shows one data set on all slides", async () => {
  const takeAway = await deck.lendShipped();
  const id = "zero";
  for (const query of ["", "?data=tentacle"]) {
    const page = await deck.openDeck(query);
    await goTo(page, id);
    const [chart] = await chartsOf(page, id);
    assert.equal(chart.url.split("/")[1], "stretch");
    assert.match(await page.textContent(`#${id} .provenance`), /^stretch\b/);
    const blocks = await page.textContent(`#${id} data[value="design.distance-price.blocks"]`);
    const manifest = JSON.parse(await readFile(path.join(deck.benchmarks, "stretch/manifest.json"), "utf8"));
    assert.equal(blocks, String(manifest.experiments["distance-price"].blocks));
    await page.close();
  }
  const page = await deck.openDeck("?data=fixture", { hash: `#/${id}` });
  assert.equal(await page.$(`#${id}`), null, "a slide without data leaves");
  await page.close();
  await takeAway();
});

test("a slide leaves where its mode or its claims were not measured, and no title has a gap", async () => {
  const takeAway = await deck.lendShipped();
  const told = () => {
    const shown = (element) => !element.closest("[data-when][hidden]");
    const cut = [...document.querySelectorAll(".slides section:not(.stack, [data-visibility=uncounted])")];
    return {
      ids: cut.map(({ id }) => id),
      gaps: cut
        .flatMap((slide) => [...slide.querySelectorAll(":is(h2, .order) data.unbound")].filter(shown))
        .map((figure) => figure.getAttribute("value")),
      admissions: cut
        .flatMap((slide) => [...slide.querySelectorAll("h2 [data-when]")].filter(shown))
        .map(({ textContent }) => textContent)
        .filter((words) => /not (measured|recorded)/i.test(words)),
    };
  };
  for (const [query, absent, present] of [
    // Fail-overs, but neither snapshots a minute nor what a write pays.
    ["?data=headline-18", ["shop", "bet", "answer"], ["trials", "hung", "yours"]],
    ["?data=headline-18&cut=20", ["shop", "bet", "kept-promise", "answer"], ["trials", "yours"]],
    ["?data=headline-18&talk=cluster", ["changes", "verdict"], ["to-do"]],
    // One cluster over both sites; `bottleneck` compares four others, whatever is on show.
    ["?data=stretch", ["shop", "trials", "hung", "distance"], ["bottleneck", "zero", "yours"]],
  ]) {
    const page = await deck.openDeck(query);
    const { ids, gaps, admissions } = await page.evaluate(told);
    assert.deepEqual(
      absent.filter((id) => ids.includes(id)),
      [],
      query,
    );
    assert.deepEqual(
      present.filter((id) => !ids.includes(id)),
      [],
      query,
    );
    assert.deepEqual(gaps, [], query);
    assert.deepEqual(admissions, [], query);
    await page.close();
  }
  await takeAway();
});

test("?data= shows another data set's charts and manifest", async () => {
  const page = await deck.openDeck("?data=fixture-small");
  await goTo(page, "throughput-write-seq");
  const [chart] = await chartsOf(page, "throughput-write-seq");
  assert.equal(chart.url, "benchmarks/fixture-small/rbd-journaling/aggregate/throughput-write-seq.csv");
  assert.deepEqual(chart.labels, [4096, 65536, 4194304]);
  assert.match(
    await page.textContent("#throughput-write-seq .provenance"),
    /^fixture-small: .* n = 1 · 1 Feb 2026/,
  );
  assert.equal(await page.locator(".notice").count(), 0);
});

test("a missing or impossible data set is answered with a message that names the existing ones", async () => {
  for (const name of ["fixture%2F..%2Ffixture-small", "<img src=x onerror=alert(1)>"]) {
    const page = await deck.openDeck(`?data=${name}`);
    const notice = await page.textContent(".notice");
    assert.ok(await page.isVisible(".notice"));
    assert.match(notice, /Available: (?:.*, )?fixture, fixture-small\b/);
    assert.match(notice, /The charts show “tentacle”/);
    assert.equal(await page.locator(".notice img").count(), 0);
    // The stage begins below the notice, which covers no title.
    await page.waitForFunction(() => {
      const { bottom } = document.querySelector(".notice").getBoundingClientRect();
      const title = document.querySelector("section.present:not(.stack) :is(h1, h2)");
      return title.getBoundingClientRect().top >= bottom;
    });
    await page.close();
  }
});

test("a chart that the awaited data set lacks shows its stand-in, and switches when it is measured", async () => {
  const page = await deck.openDeck("?data=fixture-small&meanwhile=fixture", { prepare: withClients });
  await goTo(page, "clients");
  const [before] = await chartsOf(page, "clients");
  assert.match(before.url, /^benchmarks\/fixture\/client-sweep/);
  assert.match(await page.textContent("#clients .provenance"), /^fixture: /);
  await mkdir(path.join(deck.benchmarks, "fixture-small/client-sweep/aggregate"), { recursive: true });
  await deck.replaceFile(
    "fixture-small/client-sweep/aggregate/iops-randwrite-4096.csv",
    "Clients,1,2\nWithout journal,10,20\n",
  );
  await page.waitForFunction(() => {
    const canvas = document.querySelector("#clients canvas");
    return window.replay.charts.charts.get(canvas).chart?.data.labels.length === 2;
  });
  const [chart] = await chartsOf(page, "clients");
  assert.deepEqual(chart.series, { "Without journal": [10, 20] });
  assert.match(await page.textContent("#clients .provenance"), /fixture-small: .*; fixture: /);
  await rm(path.join(deck.benchmarks, "fixture-small/client-sweep"), { recursive: true });
});

test("a chart keeps the talk's colours, on the talk's page, where the system's replace those of pages", async () => {
  const page = await deck.openDeck("?data=fixture", { forcedColors: "active" });
  await goTo(page, "throughput-write-seq");
  const [ink, paper, ground] = await page.evaluate(() => {
    const canvas = document.querySelector("#throughput-write-seq canvas");
    const colorOf = (token) => {
      canvas.style.color = `var(${token})`;
      return getComputedStyle(canvas).color;
    };
    return [colorOf("--ink"), colorOf("--page"), getComputedStyle(canvas).backgroundColor];
  });
  assert.notEqual(ink, paper, "a name would be lost in what is drawn behind it");
  assert.equal(ground, paper);
  await goTo(page, "journal-ratio");
  const [free, other] = await page.evaluate(() => {
    const canvas = document.querySelector("#journal-ratio canvas");
    const { color } = window.replay.charts.charts.get(canvas).settings.scales.y.grid;
    return [1, 2].map((value) => color({ tick: { value } }));
  });
  assert.notEqual(free, other, "the line at 1 would be one of many");
});

test("charts take the colours of the page when the system turns dark", async () => {
  const page = await deck.openDeck("?data=fixture", { colorScheme: "light" });
  await goTo(page, "throughput-write-seq");
  const color = () =>
    page.evaluate(() => {
      const canvas = document.querySelector("#throughput-write-seq canvas");
      return window.replay.charts.charts.get(canvas).chart.data.datasets[0].borderColor;
    });
  assert.equal(await color(), "rgb(27, 29, 34)");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => {
    const canvas = document.querySelector("#throughput-write-seq canvas");
    return (
      window.replay.charts.charts.get(canvas).chart.data.datasets[0].borderColor === "rgb(243, 241, 234)"
    );
  });
});
