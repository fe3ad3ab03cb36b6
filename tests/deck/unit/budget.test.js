import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { BUDGET, budgetTable, filesUntilChart, overBudget, weigh } from "../../../scripts/deck/budget.js";
import { temporaryFolder } from "../../support/folders.mjs";
import { assertEnds, runNode } from "../../support/programs.mjs";

const chunk = (fileName, more = {}) => ({
  type: "chunk",
  fileName,
  imports: [],
  dynamicImports: [],
  ...more,
});
const asset = (fileName) => ({ type: "asset", fileName });
const OUTPUT = [
  chunk("index.js", { isEntry: true, imports: ["shared.js"], dynamicImports: ["table.js"] }),
  chunk("shared.js", { imports: ["deep.js", "index.js"] }),
  chunk("deep.js"),
  chunk("table.js", { imports: ["deep.js", "cells.js"] }),
  chunk("cells.js"),
  chunk("charts.js", {
    facadeModuleId: "/replay/deck/stage/chart-code.js",
    imports: ["cells.js", "deep.js"],
  }),
  asset("inter.woff2"),
  asset("index.html"),
];

test("the first chart needs the entry, the code that draws it, and all of their static imports, however deep", () => {
  assert.deepEqual([...filesUntilChart(OUTPUT)].sort(), [
    "cells.js",
    "charts.js",
    "deep.js",
    "index.js",
    "inter.woff2",
    "shared.js",
  ]);
  const without = OUTPUT.filter(({ fileName }) => fileName !== "charts.js");
  assert.throws(
    () => filesUntilChart(without),
    /no chunk begins with .*chart-code/,
    "its budget would not hold it",
  );
});

test("files are measured as they are sent: scripts with gzip, fonts as they are", async (t) => {
  const folder = temporaryFolder(t);
  const script = "const a = 1;\n".repeat(1000);
  await writeFile(path.join(folder, "index.js"), script);
  await writeFile(path.join(folder, "charts.js"), script);
  await writeFile(path.join(folder, "inter.woff2"), Buffer.alloc(5000));
  const charts = chunk("charts.js", { facadeModuleId: "/replay/deck/stage/chart-code.js" });
  const parts = await weigh(
    [chunk("index.js", { isEntry: true }), charts, asset("inter.woff2"), asset("a.md")],
    folder,
  );
  assert.deepEqual(parts, [
    { file: "inter.woff2", kind: "font", isFirst: true, bytes: 5000 },
    { file: "charts.js", kind: "script", isFirst: true, bytes: gzipSync(script).length },
    { file: "index.js", kind: "script", isFirst: true, bytes: gzipSync(script).length },
  ]);
});

const part = (file, kind, bytes, isFirst = true) => ({ file, kind, isFirst, bytes });

test("an exceeded budget is reported with its files", () => {
  const budget = { script: 3000, font: 2000 };
  const parts = [part("a.js", "script", 2048), part("b.js", "script", 1024), part("c.woff2", "font", 2000)];
  assert.deepEqual(overBudget(parts, budget), [
    "JavaScript that every chart needs, gzip: 3.0 KB is more than 2.9 KB: a.js (2.0 KB), b.js (1.0 KB)",
  ]);
  assert.deepEqual(overBudget(parts, { script: 3072, font: 2000 }), []);
  assert.equal(overBudget(parts, { script: 1, font: 1 }).length, 2);
});

test("what is fetched later has no budget, and is listed apart", () => {
  const parts = [part("a.js", "script", 1024), part("later.js", "script", 10 * BUDGET.script, false)];
  assert.deepEqual(overBudget(parts), []);
  const lines = budgetTable(parts).map((line) => line.replace(/ {2,}/g, "  "));
  assert.deepEqual(lines, [
    "JavaScript that every chart needs, gzip  1.0 KB of 150.0 KB",
    "  a.js  1.0 KB",
    "JavaScript later, gzip  1500.0 KB",
    "  later.js  1500.0 KB",
  ]);
});

test("a build into a place that is no folder ends with 1 and says why", async (t) => {
  const file = path.join(temporaryFolder(t), "file");
  await writeFile(file, "");
  const building = runNode("scripts/deck/build-bundle.mjs", [path.join(file, "out")]);
  await assertEnds(building, 1, /not a directory/i);
});
