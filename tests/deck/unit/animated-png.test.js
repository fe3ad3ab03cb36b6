/** An animated PNG shows its pictures, and keeps of each only what changed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";

import { PNG } from "pngjs";

import { animatedPng } from "../../../scripts/deck/animated-png.js";

const [WIDTH, HEIGHT] = [6, 4];

/** A white picture with black pixels. */
function picture(...black) {
  const png = new PNG({ width: WIDTH, height: HEIGHT });
  png.data.fill(255);
  for (const [x, y] of black) png.data.fill(0, 4 * (y * WIDTH + x), 4 * (y * WIDTH + x) + 3);
  return PNG.sync.write(png);
}

/** The chunks of a file, whose digests must be right. */
function chunksOf(file) {
  const chunks = [];
  for (let at = 8; at < file.length;) {
    const end = at + 8 + file.readUInt32BE(at);
    assert.equal(file.readUInt32BE(end), crc32(file.subarray(at + 4, end)));
    chunks.push({ type: file.toString("latin1", at + 4, at + 8), body: file.subarray(at + 8, end) });
    at = end + 4;
  }
  return chunks;
}

test("viewers without animation show the first picture, and the others are drawn over it where they differ", () => {
  const pictures = [
    picture(),
    picture([1, 2], [3, 3]),
    picture([1, 2], [3, 3]),
    picture([1, 2], [3, 3], [5, 0]),
  ];
  const file = animatedPng(pictures, { millisecondsEach: 250, lastMilliseconds: 3000 });
  assert.deepEqual(PNG.sync.read(file).data, PNG.sync.read(pictures[0]).data);
  const chunks = chunksOf(file);
  assert.deepEqual(
    chunks.map(({ type }) => type),
    ["IHDR", "acTL", "fcTL", "IDAT", "fcTL", "fdAT", "fcTL", "fdAT", "IEND"],
  );
  const frames = chunks
    .filter(({ type }) => type === "fcTL")
    .map(({ body }) => [
      ...[0, 4, 8, 12, 16].map((at) => body.readUInt32BE(at)),
      body.readUInt16BE(20) / body.readUInt16BE(22),
    ]);
  assert.deepEqual(frames, [
    [0, WIDTH, HEIGHT, 0, 0, 0.25],
    [1, 3, 2, 1, 2, 0.5], // It stays for two pictures, which are the same.
    [3, 1, 1, 5, 0, 3],
  ]);
  assert.deepEqual(
    chunks.filter(({ type }) => type === "fdAT").map(({ body }) => body.readUInt32BE(0)),
    [2, 4],
  );
});
