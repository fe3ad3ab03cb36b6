/**
 * What the slides and the reader's first page have in common: the current data, the texts that depend on them, the charts.
 * Only this module decides how a chart looks and which figure a sentence contains.
 */

import { DataOnShow } from "../data/data-on-show.js";
import { partsByDataSet } from "../text/slide-data.js";
import { writeAlteredMarks } from "../text/altered-marks.js";
import { writeLabels } from "../text/labels.js";
import { BoundNumbers } from "../text/bound-numbers.js";
import { chooseTexts } from "../text/verdict-text.js";

/**
 * @param {{search: string, usual: string, frozen: string|null, mode: {compare: string|null}, talk: object,
 *         fetchFile?: typeof fetch}} page
 *   usual: the data set without `?data=`; frozen: the only one that a frozen talk shows; talk: what slides/<talk>/talk.yaml says
 * @returns {{data: DataOnShow, chartCode: () => Promise<object>,
 *            makeCharts: (options?: object) => Promise<object>,
 *            writeTexts: (root: Element, after?: Promise<unknown>|null) => Promise<unknown>}}
 *   chartCode: fetches the code that draws charts; makeCharts: a chart plugin, `options` are Chart.js options over those of the stage;
 *   writeTexts: everything below `root`, except charts, that depends on the data; at once, but what is rare once `after` is over
 */
export function Material({ search, usual, frozen, mode, talk, fetchFile }) {
  const data = new DataOnShow({ search, usual, frozen, others: talk.otherDataSets, fetchFile });
  const chartCode = () => import("./chart-code.js");

  /** Writes the texts of one data set: those below `part`, which is `page` or a slide of it. */
  function writePart(part, named, page, after) {
    const about = () => data.about(data.nameFor(named));
    const documents = about();
    BoundNumbers(documents).bind(part, documents);
    chooseTexts(part, documents.claims);
    writeLabels(part, data, documents);
    writeAlteredMarks(part, data, documents);
    return writeRare(part, { about, page, after });
  }

  /** Few slides have tables, or say what moved since a release, so the code for that does not keep the first chart waiting. */
  async function writeRare(part, { about, page, after }) {
    if (!part.querySelector("[data-claims], [data-answer-table], [data-moved]")) return;
    await after;
    const { claims, answer } = about();
    if (part.querySelector("[data-claims]")) {
      const { writeClaims } = await import("../text/claims-table.js");
      writeClaims(part, claims, data.manifestOf(claims?.data_set), page);
    }
    if (part.querySelector("[data-answer-table]")) {
      const { writeDecisions } = await import("../text/decision-table.js");
      writeDecisions(part, answer);
    }
    if (part.querySelector("[data-moved]")) {
      const { writeMoved } = await import("../text/releases.js");
      writeMoved(part, data);
    }
  }

  return {
    data,
    chartCode,

    async makeCharts(options) {
      const code = await chartCode();
      return code.makeCharts({ data, compare: mode.compare, talk }, options);
    },

    writeTexts: (root, after = null) =>
      Promise.all(partsByDataSet(root).map(({ part, named }) => writePart(part, named, root, after))),
  };
}
