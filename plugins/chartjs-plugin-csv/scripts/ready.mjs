// Before a release: the registry's page needs addresses that only whoever publishes knows.

import { readFileSync } from "node:fs";

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const absent = ["repository", "homepage", "bugs"].filter((field) => !manifest[field]);
const changes = readFileSync(new URL("../CHANGELOG.md", import.meta.url), "utf8");
const problems = [
  ...absent.map((field) => `package.json has no "${field}": put your project's address there`),
  ...(changes.includes(`## ${manifest.version}`) ? [] : [`CHANGELOG.md says nothing of ${manifest.version}`]),
];
for (const problem of problems) console.error(problem);
process.exit(problems.length ? 1 : 0);
