/**
 * Tests the package of `npm pack`, which people get, in a separate project: by script tag, by
 * import map, with esbuild, webpack, and Vite with strict TypeScript.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build as viteBuild } from "vite";
import { SKIP, launchBrowser } from "./support/browser.js";
import { startServer } from "./support/server.js";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const PLUGIN = fileURLToPath(new URL("..", import.meta.url));
const CSV = "clients;IOPS\n1;900,5\n2;NA\n4;3100\n";
const DRAWN = { labels: [1, 2, 4], series: { IOPS: [900.5, null, 3100] } };

/** The code of every consumer, with the names that it uses. */
const USE = `
  const canvas = document.querySelector("canvas");
  const chart = new Chart(canvas, {
    type: "line",
    data: { datasets: [] },
    options: { animation: false, plugins: { csv: { text: ${JSON.stringify(CSV)} } } },
  });
  const series = Object.fromEntries(chart.data.datasets.map(({ label, data }) => [label ?? "", data]));
  Object.assign(window, { result: { labels: chart.data.labels, series, error: csvOf(chart)?.error?.message ?? null } });
`;
const REGISTER = `
  import { CategoryScale, Chart, LineController, LineElement, LinearScale, PointElement } from "chart.js";
  import { ChartCsv, EndLabels, csvOf } from "chartjs-plugin-csv";
  Chart.register(LineController, LineElement, PointElement, LinearScale, CategoryScale, ChartCsv, EndLabels);
`;

let project = null;
let server = null;
let browser = null;

before(async () => {
  if (SKIP) return;
  project = await mkdtemp(path.join(os.tmpdir(), "chartjs-plugin-csv-"));
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", project], { cwd: PLUGIN });
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf("[")));
  assert.ok(files.some((file) => file.path === "dist/chartjs-plugin-csv.min.js"));
  for (const name of ["package.json", "package-lock.json"])
    await cp(path.join(PLUGIN, "test/consumers", name), path.join(project, name));
  await run("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: project });
  const home = path.join(project, "node_modules/chartjs-plugin-csv");
  await mkdir(home);
  await run("tar", ["-xzf", path.join(project, filename), "--strip-components=1", "-C", home]);
  await writeFile(path.join(project, "main.js"), REGISTER + USE);
  await writeFile(
    path.join(project, "main.ts"),
    REGISTER + USE.replace('querySelector("canvas")', 'querySelector("canvas")!'),
  );
  server = await startServer();
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  await server?.close();
  if (project) await rm(project, { recursive: true, force: true });
});

async function serve(address, file) {
  server.routes.set(address, {
    type: "text/javascript",
    body: await readFile(path.join(project, file), "utf8"),
  });
}

/** Opens a page with these script elements, and returns what was drawn. */
async function drawnBy(head, script = "") {
  server.routes.set("/consumer/", {
    type: "text/html",
    body: `<!doctype html><html lang="en"><title>Consumer</title><link rel="icon" href="data:,">${head}
      <body><canvas></canvas>${script}</body></html>`,
  });
  const page = await browser.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  await page.goto(`${server.origin}/consumer/`);
  await page.waitForFunction(() => window.result).catch(() => {});
  const result = await page.evaluate(() => window.result);
  await page.close();
  assert.deepEqual(faults, []);
  return result;
}

const consumer = (name, body) => test(`consumed ${name}`, { skip: SKIP }, body);
const ALL = { ...DRAWN, error: null };

consumer("by script tag", async () => {
  await serve("/chart.js", "node_modules/chart.js/dist/chart.umd.js");
  for (const name of ["chartjs-plugin-csv", "chartjs-plugin-csv.reveal"]) {
    await serve("/csv.js", `node_modules/chartjs-plugin-csv/dist/${name}.min.js`);
    const head = `<script src="/chart.js"></script><script src="/csv.js"></script>`;
    const use = `<script>const { csvOf } = ChartCsv; ${USE}; result.deck = typeof ChartCsv.RevealChartCsv;</script>`;
    assert.deepEqual(await drawnBy(head, use), {
      ...ALL,
      deck: name.endsWith("reveal") ? "function" : "undefined",
    });
  }
});

consumer("by import map, without a bundler", async () => {
  const home = "node_modules/chartjs-plugin-csv/src";
  for (const file of await readdir(path.join(project, home), { recursive: true }))
    if (file.endsWith(".js")) await serve(`/csv/${file}`, `${home}/${file}`);
  const imports = {
    "chart.js": "/packages/chart.js/dist/chart.js",
    "chart.js/helpers": "/packages/chart.js/dist/helpers.js",
    "@kurkle/color": "/packages/@kurkle/color/dist/color.esm.js",
    "chartjs-plugin-csv": "/csv/index.js",
  };
  const map = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
  assert.deepEqual(await drawnBy(map, `<script type="module">${REGISTER}${USE}</script>`), ALL);
});

consumer("with esbuild", async () => {
  const { build } = createRequire(path.join(project, "package.json"))("esbuild");
  await build({
    entryPoints: [path.join(project, "main.js")],
    outfile: path.join(project, "out/esbuild.js"),
    ...{ bundle: true, minify: true, format: "iife", logLevel: "silent" },
  });
  await serve("/bundle.js", "out/esbuild.js");
  assert.deepEqual(await drawnBy("", `<script src="/bundle.js"></script>`), ALL);
});

consumer("with webpack", async () => {
  const webpack = createRequire(path.join(project, "package.json"))("webpack");
  const compiler = webpack({
    ...{ mode: "production", context: project, entry: "./main.js", performance: { hints: false } },
    output: { path: path.join(project, "out"), filename: "webpack.js" },
  });
  const stats = await promisify(compiler.run.bind(compiler))();
  await promisify(compiler.close.bind(compiler))();
  assert.deepEqual(stats.toJson({ all: false, errors: true, warnings: true }), {
    errors: [],
    warnings: [],
  });
  await serve("/bundle.js", "out/webpack.js");
  assert.deepEqual(await drawnBy("", `<script src="/bundle.js"></script>`), ALL);
});

consumer("with Vite and strict TypeScript", async () => {
  const options = {
    strict: true,
    module: "ESNext",
    moduleResolution: "bundler",
    target: "ES2022",
    noEmit: true,
  };
  const compilerOptions = { ...options, lib: ["ES2022", "DOM"], types: [] };
  await writeFile(
    path.join(project, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["main.ts"] }),
  );
  for (const compiler of ["typescript", "typescript-7"]) {
    const tsc = path.join(path.dirname(require.resolve(`${compiler}/package.json`)), "bin/tsc");
    await run(process.execPath, [tsc, "-p", project]).catch(({ stdout }) => assert.fail(stdout));
  }
  await viteBuild({
    ...{ root: project, configFile: false, logLevel: "silent" },
    build: { outDir: "out/vite", lib: { entry: "main.ts", formats: ["es"], fileName: () => "vite.js" } },
  });
  // Kinds of charts are chunks of their own, fetched when a chart asks for one.
  const chunks = (await readdir(path.join(project, "out/vite"))).filter((file) => file.endsWith(".js"));
  assert.ok(chunks.some((file) => file.startsWith("quadrant")));
  for (const file of chunks) await serve(`/${file}`, `out/vite/${file}`);
  assert.deepEqual(await drawnBy("", `<script type="module" src="/vite.js"></script>`), ALL);
});
