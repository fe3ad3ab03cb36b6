/** The types, which are made from JSDoc, hold in a program of strict TypeScript, in the versions that people have. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Where the types are made for this test: below the package, so that they find Chart.js. */
let folder = null;

before(async () => {
  folder = await mkdtemp(path.join(ROOT, ".types-"));
  const made = await run(path.join(ROOT, "scripts/types.mjs"), path.join(folder, "made"));
  assert.deepEqual(made, { status: 0, output: "" });
  const entry = (name) => [`./made/${name}.d.ts`];
  const compilerOptions = {
    paths: { "chartjs-plugin-csv": entry("index"), "chartjs-plugin-csv/reveal": entry("reveal") },
  };
  const program = {
    extends: "../test/types/tsconfig.json",
    compilerOptions,
    include: ["../test/types/*.ts"],
  };
  await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(program));
});

after(() => rm(folder, { recursive: true, force: true }));

/** @returns {Promise<{status: number, output: string}>} */
function run(...args) {
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout, stderr) =>
      resolve({ status: error ? error.code : 0, output: stdout + stderr }),
    );
  });
}

const compile = (compiler, ...args) =>
  run(path.join(path.dirname(require.resolve(`${compiler}/package.json`)), "bin/tsc"), ...args);

for (const [compiler, major] of [
  ["typescript", 5],
  ["typescript-7", 7],
]) {
  test(`the README's programs pass tsc --strict, and wrong ones do not, in TypeScript ${major}`, async () => {
    const { output: version } = await compile(compiler, "--version");
    assert.match(version, new RegExp(`^Version ${major}\\.`));
    // What must be refused is marked with @ts-expect-error, which is an error itself where nothing is wrong.
    assert.deepEqual(await compile(compiler, "-p", folder), { status: 0, output: "" });
  });
}

test("what the package exports has a type, and is in the package", () => {
  const { exports, files, scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
  assert.ok(files.includes("types"));
  assert.match(scripts.prepack, /npm run types/, "they are made when the package is");
  for (const [name, target] of Object.entries(exports)) {
    if (typeof target === "string" || name.includes("*")) continue;
    const made = readFileSync(path.join(folder, "made", target.types.replace("./types/", "")), "utf8");
    assert.match(made, /export/, name);
  }
});
