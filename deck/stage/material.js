/**
 * What the slides and the reader's first page have in common: the current data, the texts that depend on them, the charts.
 * Only this module decides how a chart looks and which figure a sentence contains.
 */

import { writeClaims } from "../text/claims-table.js";
import { DataOnShow } from "../data/data-on-show.js";
import { partsOf } from "../data/data-set.js";
import { namedDataSet, partsByDataSet } from "../text/slide-data.js";
import { writeAlteredMarks } from "../text/altered-marks.js";
import { writeLabels } from "../text/labels.js";
import { writeDecisions } from "../text/decision-table.js";
import { writeMoved } from "../text/releases.js";
import { chartEntry } from "../data/provenance.js";
import { numbersFrom } from "../text/sources.js";
import { chooseTexts } from "../text/verdict-text.js";

/**
 * @param {{search: string, usual: string, frozen: string|null, mode: {compare: string|null}, talk: object,
 *         fetchFile?: typeof fetch}} page
 *   usual: the data set without `?data=`; frozen: the only one that a frozen talk shows; talk: what slides/<talk>/talk.yaml says
 * @returns {{data: DataOnShow, numbers: object, chartCode: () => Promise<object>,
 *            makeCharts: (options?: object) => Promise<object>, writeTexts: (root: Element) => void}}
 *   numbers: the bound values of the data set on show;
 *   chartCode: fetches the code that draws charts; makeCharts: a chart plugin, `options` are Chart.js options over those of the stage;
 *   writeTexts: everything below `root`, except charts, that depends on the data
 */
export function Material({ search, usual, frozen, mode, talk, fetchFile }) {
  const data = new DataOnShow({ search, usual, frozen, others: talk.otherDataSets, fetchFile });
  const numbersOf = (about) =>
    numbersFrom({
      manifest: () => about().manifest,
      claims: () => about().claims,
      answer: () => about().answer,
    });
  const numbers = numbersOf(() => data.about(data.dataSet));
  const numbersFor = (named) => {
    const name = data.nameFor(named);
    return name === data.dataSet ? numbers : numbersOf(() => data.about(name));
  };
  const resolve = (src, canvas) => data.resolve(src, canvas);
  const manifestOf = (src) => data.manifestOf(partsOf(resolve(src))?.dataSet);
  const entryOf = (src) => chartEntry(resolve(src), manifestOf(src));
  const chartCode = () => import("./chart-code.js");
  const alterationsOf = (name) => data.alterationsOf(name);

  /** Writes the texts of one data set: those below `part`, which is `page` or a slide of it. */
  function writePart(part, named, page) {
    const about = data.about(data.nameFor(named));
    const { dataSet, claims, answer, shipped } = about;
    numbersFor(named).bind(part, { shipped });
    chooseTexts(part, claims);
    writeClaims(part, claims, data.manifestOf(claims?.data_set), page);
    writeDecisions(part, answer);
    writeMoved(part, data);
    const manifests = { manifestOf: (name) => data.manifestOf(name), alterationsOf };
    const digestOf = (src) => data.digestOf(src);
    writeLabels(part, { resolve, ...manifests, claims, answer, digestOf });
    writeAlteredMarks(part, { resolve, dataSet, alterationsOf });
  }

  return {
    data,
    numbers,
    chartCode,

    async makeCharts(options) {
      const code = await chartCode();
      return code.makeCharts(
        {
          ...{ data, compare: mode.compare, series: talk.series, manifestOf, entryOf },
          numbersAt: (canvas) => numbersFor(namedDataSet(canvas)),
        },
        options,
      );
    },

    writeTexts(root) {
      for (const { part, named } of partsByDataSet(root)) writePart(part, named, root);
    },
  };
}
