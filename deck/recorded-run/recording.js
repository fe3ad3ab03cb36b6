/** The recording of a data set: when each part arrived, and the frames of each chart. Reads files; plays nothing. */

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
    /** By chart: when its parts arrive. */
    this.groups = groupsOf(document);
    /** Charts whose files could not be read. */
    this.lacking = new Set();
  }

  /** @throws {Error} that says what to do if there is no recording */
  static async of(dataSet) {
    return new Recording(dataSet, await readRecording(dataSet));
  }

  /** The order in which the cells of these experiments arrived; null if none was recorded. */
  timelineOf(experiments) {
    return timelineOf(this.#document, experiments);
  }

  /** The parts of an address, if it is a file of the recorded data set. */
  fileAt(address) {
    const file = address === null ? null : chartFileIn(address, document.baseURI);
    return file?.dataSet === this.#dataSet ? file : null;
  }

  /** A chart's frames; null if one of its files cannot be read, and then the chart is shown complete. */
  filmOf(file) {
    if (!this.#films.has(file.key)) this.#films.set(file.key, this.#makeFilm(file));
    return this.#films.get(file.key);
  }

  /** The files have changed, so what was read before belongs to an earlier measurement. */
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

/** @throws {Error} that says what to do if there is no recording */
async function readRecording(dataSet) {
  const address = `benchmarks/${dataSet}/recording.json`;
  const anew = `npm run derive -- --data ${dataSet} writes it`;
  const response = await fetch(address, { cache: "no-cache" }).catch(() => null);
  if (!response?.ok) throw new Error(`there is no ${address}; ${anew}`);
  const recording = await response.json().catch(() => null);
  if (recording?.schema_version !== 1 || !recording.experiments)
    throw new Error(`this deck cannot read the recording ${address}; ${anew}`);
  return recording;
}
