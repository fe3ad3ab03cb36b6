/** Pictures of one size as an animated PNG (https://www.w3.org/TR/png-3/#apng-frame-based-animation). Pure. */

import { PNG } from "pngjs";
import { crc32 } from "node:zlib";

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

/**
 * @param {Buffer[]} pictures   PNGs of one size; of each but the first only what differs from the one before is kept
 * @param {{millisecondsEach: number, lastMilliseconds: number}} times
 * @returns {Buffer} it begins again at its end
 */
export function animatedPng(pictures, { millisecondsEach, lastMilliseconds }) {
  const all = pictures.map((picture) => PNG.sync.read(picture));
  const [{ width, height }] = all;
  const frames = [{ x: 0, y: 0, width, height, picture: all[0], milliseconds: millisecondsEach }];
  for (const [at, picture] of all.entries()) {
    if (at === 0) continue;
    const changed = changedArea(all[at - 1], picture);
    if (changed === null) frames.at(-1).milliseconds += millisecondsEach;
    else frames.push({ ...changed, picture, milliseconds: millisecondsEach });
  }
  frames.at(-1).milliseconds = lastMilliseconds;
  let sequence = 0;
  const parts = frames.flatMap(({ x, y, picture, milliseconds, ...size }, at) => {
    const control = chunk("fcTL", [sequence++, size.width, size.height, x, y], milliseconds);
    const data = imageData(picture, { x, y, ...size });
    return at === 0
      ? [control, chunk("IDAT", [], null, data)]
      : [control, chunk("fdAT", [sequence++], null, data)];
  });
  return Buffer.concat([
    SIGNATURE,
    headerOf(all[0]),
    chunk("acTL", [frames.length, 0]),
    ...parts,
    chunk("IEND", []),
  ]);
}

/** The smallest rectangle that holds all pixels in which two pictures differ; null if they are the same. */
function changedArea(before, after) {
  const { width, height } = after;
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = 4 * (y * width + x);
      if (before.data.readUInt32LE(at) === after.data.readUInt32LE(at)) continue;
      [left, right, top, bottom] = [
        Math.min(left, x),
        Math.max(right, x),
        Math.min(top, y),
        Math.max(bottom, y),
      ];
    }
  return right < 0 ? null : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

/** A part of a picture, compressed as RGB. */
function imageData(picture, { x, y, width, height }) {
  const part = new PNG({ width, height });
  PNG.bitblt(picture, part, x, y, width, height, 0, 0);
  return Buffer.concat(chunksOf(PNG.sync.write(part, { colorType: 2 })).get("IDAT"));
}

function headerOf(picture) {
  const [header] = chunksOf(PNG.sync.write(picture, { colorType: 2 })).get("IHDR");
  return chunk("IHDR", [], null, header);
}

/** @returns {Map<string, Buffer[]>} the content of a PNG's chunks, by type */
function chunksOf(png) {
  const chunks = new Map();
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    chunks.set(type, [...(chunks.get(type) ?? []), png.subarray(at + 8, at + 8 + length)]);
    at += length + 12;
  }
  return chunks;
}

/** A chunk: numbers of four bytes each, then how long a frame stays, if it is one's control, then data. */
function chunk(type, numbers, milliseconds = null, data = Buffer.alloc(0)) {
  const words = Buffer.alloc(4 * numbers.length);
  for (const [at, number] of numbers.entries()) words.writeUInt32BE(number, 4 * at);
  const delay = Buffer.alloc(milliseconds === null ? 0 : 6);
  if (milliseconds !== null) {
    delay.writeUInt16BE(Math.round(milliseconds), 0);
    delay.writeUInt16BE(1000, 2);
  }
  const body = Buffer.concat([Buffer.from(type, "latin1"), words, delay, data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(body.length - 4, 0);
  around.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
}
