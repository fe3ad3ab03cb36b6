/** The deck's modules are in rooms, and imports go one way. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** From the top down; a room imports from those below it. deck/README.md says what each is for. */
const ROOMS = [
  ...["main.js", "front-page", "reader", "stage", "recorded-run"],
  ...["chart-tools", "text", "page", "data"],
];
const DECK = fileURLToPath(new URL("../../../deck/", import.meta.url));
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+\.js)"/g;
const COMMENT = /\/\*[\s\S]*?\*\//g;

const files = readdirSync(DECK, { recursive: true }).filter((file) => file.endsWith(".js"));
const importsOf = new Map(
  files.map((file) => {
    // Types in comments are no imports.
    const text = readFileSync(path.join(DECK, file), "utf8").replaceAll(COMMENT, "");
    const found = [...text.matchAll(IMPORT)].map(([, to]) => path.join(path.dirname(file), to));
    return [file, found];
  }),
);
const roomOf = (file) => file.split(path.sep)[0];

test("every module of the deck is in a room that is named here and in deck/README.md", () => {
  assert.ok(files.length > 50);
  assert.deepEqual(
    files.filter((file) => !ROOMS.includes(roomOf(file))),
    [],
  );
  const readme = readFileSync(path.join(DECK, "README.md"), "utf8");
  const listed = [...readme.matchAll(/^\| `([^`]+)\/` \|/gm)].map(([, room]) => room);
  assert.deepEqual(listed, ROOMS.slice(1));
});

test("imports go down the list of rooms, never up, and never out of the deck", () => {
  const wrong = [];
  for (const [file, targets] of importsOf) {
    for (const target of targets) {
      if (!importsOf.has(target)) wrong.push(`${file} imports ${target}, which is no module of the deck`);
      else if (ROOMS.indexOf(roomOf(target)) < ROOMS.indexOf(roomOf(file)))
        wrong.push(`${file} imports ${target}, which stands above it`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("no modules import each other in a circle", () => {
  const done = new Set();
  const circles = [];
  const visit = (file, way) => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(" → "));
    if (done.has(file) || way.includes(file)) return;
    for (const target of importsOf.get(file)) visit(target, [...way, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  assert.deepEqual(circles, []);
});
