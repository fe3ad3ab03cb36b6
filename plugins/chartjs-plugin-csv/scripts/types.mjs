// `npm run types [FOLDER]`: the types of the package from its JSDoc, into types/. Not in git; made when it is packed.

import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const out = path.resolve(ROOT, process.argv[2] ?? "types");
const require = createRequire(import.meta.url);
const tsc = path.join(path.dirname(require.resolve("typescript/package.json")), "bin/tsc");

rmSync(out, { recursive: true, force: true });
execFileSync(
  process.execPath,
  [
    ...[tsc, "--declaration", "--emitDeclarationOnly", "--allowJs", "--skipLibCheck", "--outDir", out],
    ...[
      "--target",
      "es2022",
      "--module",
      "esnext",
      "--moduleResolution",
      "bundler",
      "--lib",
      "es2023,dom,dom.iterable",
    ],
    ...["--rootDir", path.join(ROOT, "src")],
    ...["index.js", "reveal.js"].map((name) => path.join(ROOT, "src", name)),
  ],
  { stdio: "inherit" },
);
// Chart.js' own options, which a program cannot extend in JSDoc.
copyFileSync(path.join(ROOT, "src/chart.d.ts"), path.join(out, "chart.d.ts"));
const index = path.join(out, "index.d.ts");
writeFileSync(index, `/// <reference path="./chart.d.ts" />\n${readFileSync(index, "utf8")}`);
