import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";

import { readModel } from "chartjs-plugin-csv";
import { parse } from "yaml";

import { normaliseChapter } from "../../../deck/text/chapters.js";
import {
  linearRatioTicks,
  optionsFor,
  ratioTicks,
  readingOf,
  seriesStyles,
} from "../../../deck/stage/chart-styles.js";
import { kindsOf } from "../../../deck/stage/own-kinds.js";
import { qrTarget } from "../../../deck/stage/qr.js";
import { PROJECT } from "../../../scripts/deck/data-sets.js";
import { EventStream } from "../../../scripts/deck/event-stream.js";
import { readTalks } from "../../../scripts/deck/talk-file.js";

test("a chapter's CR LF, byte order mark and outer blank lines are gone before it is parted", () => {
  assert.equal(normaliseChapter("\uFEFF\r\n\r\n# A\r\n\r\n\r\n# B\r\n\r\n"), "# A\n\n\n# B");
});

test("no two series of one experiment share colour or marker, and all lines are solid", async () => {
  const folder = new URL("../../../config/experiments/", import.meta.url);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".yaml"));
  assert.ok(names.length > 0);
  for (const { name: talk, series } of readTalks(PROJECT)) {
    const styles = seriesStyles(series);
    // Its layers are bars of one chain, each with its name.
    for (const name of names.filter((one) => one !== "layers.yaml")) {
      const { variants } = parse(await readFile(new URL(name, folder), "utf8"));
      const labels = variants.map(({ label }) => label);
      const together = labels.filter((label) => Object.hasOwn(styles, label));
      for (const label of together) assert.deepEqual(styles[label].dash, [], label);
      for (const property of ["color", "pointStyle"]) {
        const values = together.map((label) => JSON.stringify(styles[label][property]));
        const where = `${talk}, ${name}: ${property} of ${together.join(" | ")}`;
        assert.equal(new Set(values).size, values.length, where);
      }
    }
  }
});

test("a line continues over gaps that the manifest calls designed, and over no others", () => {
  const file = "benchmarks/a/b/aggregate/throughput-write-seq.csv";
  const csvOf = (entry) => optionsFor("line", file, (token) => token, entry).plugins.csv;
  const sparse = { y: { unit: "bytes_per_second" }, sparse: ["Two instances", "__proto__"] };
  assert.deepEqual(Object.entries(csvOf(sparse).datasets), [
    ["Two instances", { spanGaps: true }],
    ["__proto__", { spanGaps: true }],
  ]);
  assert.equal(csvOf({ y: { unit: "bytes_per_second" } }).datasets, undefined);
  assert.equal(csvOf(null).datasets, undefined);
});

test("the deck reads derived files only in their single form: no other word for missing values, no comment, no guess", () => {
  const read = (text) => readModel(text, readingOf("benchmarks/a/b/aggregate/throughput-read-seq.csv"));
  assert.throws(() => read("I/O size,4096\nA,NaN\n"), { kind: "number", row: 2, column: 2 });
  assert.throws(() => read("I/O size;4096\nA;1\n"), { kind: "header" });
  assert.equal(read("OSD,osd.0\n#1,1\n").series[0].name, "#1");
});

test("files of a talk's own are read as people write them, and what could be either is refused", () => {
  for (const src of ["slides/mine/depth.csv", null]) {
    const read = (text) => readModel(text, readingOf(src));
    assert.deepEqual(read("# by night\ndepth;IOPS\n1;0,5\n").series, [
      { name: "IOPS", points: [{ x: 1, y: 0.5, low: null, high: null, n: null }] },
    ]);
    assert.throws(() => read("500,1234\n1000,1200\n"), { kind: "ambiguous" });
  }
});

test("only ratios are drawn on a log2 axis, with 1 stressed", () => {
  const options = optionsFor(
    "line",
    "benchmarks/a/b/aggregate/ratio-throughput-read-seq.csv",
    (token) => token,
  );
  assert.equal(options.plugins.csv.yScale, "log2");
  assert.equal(options.scales.y.grid.color({ tick: { value: 1 } }), "--ink");
  assert.equal(options.scales.y.grid.color({ tick: { value: 2 } }), "--chart-grid");
  for (const src of ["benchmarks/a/b/aggregate/throughput-read-seq.csv", null])
    assert.deepEqual(optionsFor("line", src), { plugins: { csv: {} } });
});

test("axes take their titles and units from the manifest, also where the file is long and names none", () => {
  const entry = {
    x: { label: "Clients", unit: "count" },
    y: { label: "IOPS", unit: "operations_per_second" },
  };
  const csv = (src) => optionsFor("line", src, (token) => token, entry).plugins.csv;
  assert.deepEqual(csv("benchmarks/a/b/aggregate/iops-randwrite-4096.csv"), {
    xTitle: "Clients",
    xUnit: "count",
    yUnit: "operations_per_second",
  });
  assert.equal(csv("benchmarks/a/b/aggregate/ratio-iops-randwrite-4096.csv").xUnit, "count");
});

test("a ratio's axis from nothing upwards has round ticks, and 1, none of them on another", () => {
  assert.deepEqual(linearRatioTicks(0, 1.6, 300), [0, 0.5, 1, 1.5]);
  assert.deepEqual(linearRatioTicks(0, 17.5, 300), [1, 5, 10, 15]);
  assert.deepEqual(linearRatioTicks(0, 2.2, 60), [0, 1, 2]);
});

test("an axis of ratios has a tick at 1, whatever its range, and few others", () => {
  assert.deepEqual(ratioTicks(0.75, 1.6), [0.75, 1, 1.5]);
  assert.deepEqual(ratioTicks(0.75, 10), [1, 2, 4, 8]);
  for (const [min, max] of [
    [0.75, 1.6],
    [0.3, 40],
    [0.01, 1.6],
    [0.75, 3000],
  ]) {
    const ticks = ratioTicks(min, max);
    assert.ok(ticks.includes(1), `${min} to ${max}: ${ticks}`);
    assert.ok(ticks.length <= 8, `${min} to ${max}: ${ticks}`);
  }
});

test("on a short axis the ticks of ratios do not touch, and powers of two remain", () => {
  assert.deepEqual(ratioTicks(0.75, 3.1, 400), [0.75, 1, 1.5, 2, 3]);
  assert.deepEqual(ratioTicks(0.7, 4.5, 110), [1, 2, 4]);
  assert.deepEqual(ratioTicks(0.7, 40, 60), [1, 8]);
});

test("two talks may each have a chart of one name, and each is drawn with its own", () => {
  const modules = {
    "../../slides/price/kinds/gauge.js": "the gauge of price",
    "../../slides/rpo/kinds/dial.v2.js": "a dial",
    "../../slides/rpo/kinds/gauge.js": "the gauge of rpo",
  };
  assert.deepEqual(kindsOf(modules, "price"), { gauge: "the gauge of price" });
  assert.deepEqual(kindsOf(modules, "rpo"), { "dial.v2": "a dial", gauge: "the gauge of rpo" });
  assert.deepEqual(kindsOf(modules, "other"), {});
});

test("a QR code leads to the address that is set, else to a page that others can reach, else nowhere", () => {
  const at = (href) => new URL(href);
  assert.equal(
    qrTarget("https://example.org/talk", at("http://127.0.0.1:8000/")),
    "https://example.org/talk",
  );
  assert.equal(qrTarget("", at("https://example.org/replay/?data=x#/2")), "https://example.org/replay/");
  for (const href of [
    "http://127.0.0.1:8000/",
    "http://localhost/",
    "http://[::1]/",
    "file:///tmp/index.html",
  ])
    assert.equal(qrTarget("", at(href)), null, href);
});

test("a page that reads no more of its events is let go, and the others are told on", () => {
  const stream = new EventStream();
  const open = (read) => {
    const page = { headers: {}, writableLength: 0, told: "", ended: false };
    Object.assign(page, { on: () => {}, writeHead: () => {}, destroy: () => (page.ended = true) });
    page.write = (text) => {
      page.told += text;
      if (!read) page.writableLength += text.length;
    };
    stream.add(page, page);
    return page;
  };
  const [reader, sleeper] = [open(true), open(false)];
  const change = { files: "x".repeat(30_000) };
  for (let sent = 0; sent < 5; sent += 1) stream.send("changed", change);
  assert.deepEqual([reader.ended, sleeper.ended], [false, true]);
  assert.equal(reader.told.split("event: changed").length - 1, 5);
  assert.equal(sleeper.told.split("event: changed").length - 1, 3);
});
