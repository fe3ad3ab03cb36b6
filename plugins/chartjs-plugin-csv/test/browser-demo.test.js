/** The demo's examples draw what they promise. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { EXAMPLES } from "../demo/examples.js";
import { SKIP, launchBrowser } from "./support/browser.js";
import { startServer } from "./support/server.js";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const DEMO = fileURLToPath(new URL("../demo", import.meta.url));

test("every example of the demo is drawn completely, without an error", { skip: SKIP }, async () => {
  const out = await mkdtemp(path.join(os.tmpdir(), "chartjs-plugin-csv-demo-"));
  await build({
    root: DEMO,
    configFile: false,
    logLevel: "silent",
    base: "./",
    build: { outDir: out, emptyOutDir: true },
  });
  const server = await startServer();
  const browser = await launchBrowser();
  try {
    for (const file of await readdir(out, { recursive: true })) {
      const type = TYPES[path.extname(file)];
      if (type)
        server.routes.set(`/demo/${file}`, { type, body: await readFile(path.join(out, file), "utf8") });
    }
    const page = await browser.newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    await page.goto(`${server.origin}/demo/index.html`);
    await page.waitForFunction(() => window.charts);
    const drawn = await page.evaluate(() =>
      window.charts.map((chart) => ({
        series: Object.fromEntries(
          chart.data.datasets.map(({ label, data }) => [
            label,
            data.filter((one) => (one?.y ?? one) !== null && one?.y !== null).length,
          ]),
        ),
        scales: Object.keys(chart.scales).sort(),
        xType: chart.scales.x?.type ?? null,
        xMax: chart.scales.x?.max ?? null,
        colors: chart.data.datasets.map(({ borderColor }) => borderColor),
        inked: chart.canvas
          .getContext("2d")
          .getImageData(0, 0, chart.canvas.width, chart.canvas.height)
          .data.some(Boolean),
      })),
    );
    assert.deepEqual(faults, []);
    assert.deepEqual(await page.locator(".chart-csv-error").allTextContents(), []);
    assert.equal(drawn.length, EXAMPLES.length);
    EXAMPLES.forEach(({ title, type, drawn: expected }, at) => {
      assert.deepEqual(drawn[at].series, expected, title);
      assert.ok(drawn[at].inked, title);
      const scales = { pie: [], radar: ["r"] }[type] ?? ["x", "y"];
      assert.deepEqual(drawn[at].scales, scales, title);
    });
    const own = drawn.at(-1);
    assert.deepEqual([own.xType, own.xMax], ["linear", 12]);
    const sizes = EXAMPLES.findIndex(({ title }) => /log2 axis/.test(title));
    assert.equal(drawn[sizes].xType, "log2");
    for (const { colors } of drawn.slice(0, sizes + 3)) assert.equal(new Set(colors).size, colors.length);
  } finally {
    await browser.close();
    await server.close();
    await rm(out, { recursive: true, force: true });
  }
});
