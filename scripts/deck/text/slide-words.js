/** The data set of each slide, and the words that its texts get from it. */

import { readDataSet, wordsOf } from "./data-set-words.js";

/**
 * @typedef {Awaited<ReturnType<typeof readDataSet>>} DataSet
 * @typedef {{data: DataSet, words: ReturnType<typeof wordsOf>, own: boolean}} Telling
 *   own: whether the figures written on the slide are of this data set
 */

/**
 * Reads what the slides of a talk need to be told with a data set: with the talk's own, slides that name another are told
 * with that one, as in the deck.
 * @param {{benchmarks: string, stated: import("../talk-file.js").TalkFile, data: DataSet}} given   data: what the talk is
 *   told with
 * @returns {Promise<(slide: {dataSet: string|null}) => Telling>}
 */
export async function tellingOf({ benchmarks, stated, data }) {
  const isOwn = data.name === stated.dataSet;
  const usual = { data, words: wordsOf(data, { shipped: isOwn }), own: isOwn };
  if (!isOwn) return () => usual;
  const others = await Promise.all(
    stated.otherDataSets.map(async (name) => {
      const other = await readDataSet(benchmarks, name);
      return [name, { data: other, words: wordsOf(other, { shipped: true }), own: true }];
    }),
  );
  const byName = new Map(others);
  return ({ dataSet }) => byName.get(dataSet) ?? usual;
}

/**
 * The slides by their data set, the talk's own first.
 * @template {{dataSet: string|null}} S
 * @param {S[]} slides
 * @param {(slide: {dataSet: string|null}) => Telling} telling
 * @returns {(Telling & {slides: S[]})[]}
 */
export function byTelling(slides, telling) {
  const usual = telling({ dataSet: null });
  const groups = new Map([[usual, []]]);
  for (const slide of slides) {
    const told = telling(slide);
    groups.set(told, [...(groups.get(told) ?? []), slide]);
  }
  return [...groups].map(([told, members]) => ({ ...told, slides: members }));
}
