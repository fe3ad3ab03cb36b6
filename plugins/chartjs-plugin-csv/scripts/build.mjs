// `npm run build`: what a script tag loads, dist/*.min.js. Needs no more than Vite, which the project has.

import { fileURLToPath } from "node:url";

import { build } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BUILDS = { "chartjs-plugin-csv": "script-tag", "chartjs-plugin-csv.reveal": "script-tag-reveal" };

for (const [name, entry] of Object.entries(BUILDS)) {
  await build({
    root: ROOT,
    configFile: false,
    logLevel: "warn",
    build: {
      outDir: "dist",
      emptyOutDir: false,
      target: "es2022",
      lib: {
        entry: `src/${entry}.js`,
        name: "ChartCsv",
        formats: ["iife"],
        fileName: () => `${name}.min.js`,
      },
      rollupOptions: {
        external: ["chart.js", "chart.js/helpers"],
        output: { globals: { "chart.js": "Chart", "chart.js/helpers": "Chart.helpers" } },
      },
    },
  });
}
