/** What was recorded of a data set: when what arrived, and the frames of each chart. Reads files; plays nothing. */

import { companionUrl, loadText } from "chartjs-plugin-csv";

import { chartFileIn } from "./chart-file.js";
import { Film } from "./film.js";
import { groupsOf, timelineOf } from "./timeline.js";

export class Recording {
  #dataSet;
  #document;
  #films = new Map();

  constructor(dataSet, document) {
    this.#dataSet = dataSet;
    this.#document = document;
    /** By chart: what of it arrives when. */
    this.groups = groupsOf(document);
    /** Charts whose files could not be read. */
    this.lacking = new Set();
  }

  /** @throws {Error} that says what to do, where there is no recording */
  static async of(dataSet) {
    return new Recording(dataSet, await readRecording(dataSet));
  }

  /** The order in which the cells of these experiments arrived; null where none of them was recorded. */
  timelineOf(experiments) {
    return timelineOf(this.#document, experiments);
  }

  /** What an address names, where it is a file of the data set that was recorded. */
  fileAt(address) {
    const file = address === null ? null : chartFileIn(address, document.baseURI);
    return file?.dataSet === this.#dataSet ? file : null;
  }

  /** A chart's frames; null where a file of it cannot be read, and then the chart is shown complete. */
  filmOf(file) {
    if (!this.#films.has(file.key)) this.#films.set(file.key, this.#makeFilm(file));
    return this.#films.get(file.key);
  }

  /** The files changed: what was read of them is of another measurement. */
  forget() {
    this.#films.clear();
    this.lacking.clear();
  }

  async #makeFilm({ folder, chart, key }) {
    const group = this.groups.get(key);
    const url = `${folder}/${chart}.csv`;
    try {
      const [text, runs] = await Promise.all([
        loadText(url),
        ["run", "block"].includes(group.arrives) ? loadText(companionUrl(url, "runs")) : null,
      ]);
      const { t_quantiles: quantiles } = this.#document;
      return new Film({ text, runs, group, ratio: chart.startsWith("ratio-"), quantiles });
    } catch (error) {
      console.error(error);
      this.lacking.add(key);
      return null;
    }
  }
}

/** @throws {Error} that says what to do, where there is no recording */
async function readRecording(dataSet) {
  const address = `benchmarks/${dataSet}/recording.json`;
  const anew = `npm run derive -- --data ${dataSet} writes it`;
  const response = await fetch(address, { cache: "no-cache" }).catch(() => null);
  if (!response?.ok) throw new Error(`there is no ${address}; ${anew}`);
  const recording = await response.json().catch(() => null);
  if (recording?.schema_version !== 1 || !recording.experiments)
    throw new Error(`${address} is no recording that this deck knows; ${anew}`);
  return recording;
}
