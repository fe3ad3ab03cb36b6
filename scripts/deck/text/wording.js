/** Finds the sentences of the talk that differ with another data set. Pure. */

import { proseOf } from "./prose.js";

const PARTS = { heading: "title", note: "note", body: "body", attribute: "description" };

/**
 * @param {import("./segments.js").ReadSlide[]} slides
 * @param {(slide: object) => {words: object}} before   what slides are told with, as `tellingOf` gives it
 * @param {(slide: object) => {words: object}} after
 * @returns {{file: string, line: number, slide: string|null, part: string, old: string|null, new: string|null}[]}
 *   in the order of the talk; old or new is null if a sentence was added or removed
 */
export function wordingDifferences(slides, before, after) {
  return slides.flatMap((slide) => {
    const old = new Map(proseOf(slide, before(slide).words).map((block) => [block.block, block]));
    const now = new Map(proseOf(slide, after(slide).words).map((block) => [block.block, block]));
    const order = [...new Set(slide.segments.map(({ block }) => block))];
    return order.flatMap((block) => {
      const kind = (now.get(block) ?? old.get(block))?.kind;
      const changes = changed(old.get(block)?.sentences ?? [], now.get(block)?.sentences ?? []);
      return changes.map(({ from, to }) => ({
        file: slide.file,
        line: (to ?? from).line,
        slide: slide.id,
        part: PARTS[kind],
        old: from?.text ?? null,
        new: to?.text ?? null,
      }));
    });
  });
}

/** The sentences that differ, side by side: those between two unchanged sentences belong together. */
export function changed(old, now) {
  const pairs = [];
  let from = 0;
  let to = 0;
  for (const [i, j] of [...stayed(old, now), [old.length, now.length]]) {
    const gone = old.slice(from, i);
    const come = now.slice(to, j);
    for (let k = 0; k < Math.max(gone.length, come.length); k += 1)
      pairs.push({ from: gone[k] ?? null, to: come[k] ?? null });
    from = i + 1;
    to = j + 1;
  }
  return pairs;
}

/** Positions of a longest common subsequence of two lists of sentences. */
function stayed(old, now) {
  const same = (i, j) => old[i].text === now[j].text;
  const longest = Array.from({ length: old.length + 1 }, () => new Array(now.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      longest[i][j] = same(i, j) ? 1 + longest[i + 1][j + 1] : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const kept = [];
  for (let i = 0, j = 0; i < old.length && j < now.length;) {
    if (same(i, j)) kept.push([i++, j++]);
    else if (longest[i + 1][j] >= longest[i][j + 1]) i += 1;
    else j += 1;
  }
  return kept;
}
