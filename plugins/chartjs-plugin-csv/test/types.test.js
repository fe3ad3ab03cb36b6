/** The types hold in a program of strict TypeScript, in the versions that people have. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const PROGRAM = fileURLToPath(new URL("types/tsconfig.json", import.meta.url));

/** @returns {Promise<{status: number, output: string}>} */
function compile(compiler, ...args) {
  const tsc = path.join(path.dirname(require.resolve(`${compiler}/package.json`)), "bin/tsc");
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, ...args], (error, stdout, stderr) =>
      resolve({ status: error ? error.code : 0, output: stdout + stderr }),
    );
  });
}

for (const [compiler, major] of [
  ["typescript", 5],
  ["typescript-7", 7],
]) {
  test(`the README's programs pass tsc --strict, and wrong ones do not, in TypeScript ${major}`, async () => {
    const { output: version } = await compile(compiler, "--version");
    assert.match(version, new RegExp(`^Version ${major}\\.`));
    // What must be refused is marked with @ts-expect-error, which is an error itself where nothing is wrong.
    assert.deepEqual(await compile(compiler, "-p", PROGRAM), { status: 0, output: "" });
  });
}
