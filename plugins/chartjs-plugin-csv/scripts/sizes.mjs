// `npm run sizes`: what each plugin adds to a page that has Chart.js already, bundled by esbuild, minified and gzipped.
// The other plugins and esbuild are those of test/consumers, installed into a folder of their own.

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const PLUGIN = fileURLToPath(new URL("..", import.meta.url));

/** What a page imports: name in the table → source. */
const IMPORTS = {
  "chartjs-plugin-csv: ChartCsv": `export { ChartCsv } from "chartjs-plugin-csv"`,
  "chartjs-plugin-csv: ChartCsv, EndLabels": `export { ChartCsv, EndLabels } from "chartjs-plugin-csv"`,
  "chartjs-plugin-csv: parseCsv alone": `export { parseCsv } from "chartjs-plugin-csv"`,
  "chartjs-plugin-csv/reveal": `export { RevealChartCsv } from "chartjs-plugin-csv/reveal"`,
  "chartjs-plugin-annotation": `export { default } from "chartjs-plugin-annotation"`,
  "chartjs-plugin-datalabels": `export { default } from "chartjs-plugin-datalabels"`,
  "chartjs-plugin-zoom": `export { default } from "chartjs-plugin-zoom"`,
};

const project = mkdtempSync(path.join(os.tmpdir(), "chartjs-plugin-csv-sizes-"));
try {
  for (const name of ["package.json", "package-lock.json"])
    cpSync(path.join(PLUGIN, "test/consumers", name), path.join(project, name));
  const install = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", install, { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
  symlinkSync(PLUGIN, path.join(project, "node_modules/chartjs-plugin-csv"));
  const { buildSync } = createRequire(path.join(project, "package.json"))("esbuild");
  const rows = Object.entries(IMPORTS).map(([name, contents]) => {
    const { outputFiles } = buildSync({
      stdin: { contents, resolveDir: project },
      ...{
        bundle: true,
        minify: true,
        format: "esm",
        target: "es2022",
        write: false,
        preserveSymlinks: true,
      },
      external: ["chart.js", "chart.js/helpers"],
    });
    const [{ contents: bytes }] = outputFiles;
    return { name, minified: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length };
  });
  const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
  const width = Math.max(...rows.map(({ name }) => name.length));
  console.log(`${"without Chart.js".padEnd(width)}  minified  gzipped`);
  for (const { name, minified, gzipped } of rows)
    console.log(
      `${name.padEnd(width)}  ${kilobytes(minified).padStart(8)}  ${kilobytes(gzipped).padStart(7)}`,
    );
} finally {
  rmSync(project, { recursive: true, force: true });
}
