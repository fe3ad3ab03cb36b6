import { chartNameOf, runsUrl } from "./companions.js";
import { fetchDates } from "./dates.js";
import { CsvError } from "./error.js";
import { FurtherFile } from "./further-file.js";
import { sharedRuns } from "./runs.js";
import { loadModel, readingOf, unlessAbsent } from "./source.js";
import { withBand } from "./spread.js";

/** The files of one chart: its own, the runs behind its points, a second data set. Draws nothing. */
export class ChartFiles {
  #settings;
  #kind;
  #request = null;
  #signature = null;

  /**
   * @param {() => object} settings   gives the plugin's options as they are now
   * @param {() => import("./kinds.js").Kind|null} [kind]   what draws the chart
   */
  constructor(settings, kind = () => null) {
    this.#settings = settings;
    this.#kind = kind;
    this.runs = new FurtherFile((url, request) => this.#readRuns(url, request));
    this.second = new FurtherFile((url, request) => this.#readSecond(url, request));
  }

  /**
   * Reads the chart's own file. If reads overlap, the latest wins.
   * @param {string} url
   * @param {{again: boolean}} options   again: also reports a file that has not changed
   * @returns {Promise<import("./table.js").Model|null>} null if nothing changed, or if a later read has taken over
   * @throws {CsvError}
   */
  async readOwn(url, { again }) {
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
    let read = null;
    try {
      read = await this.#read([url, ...(this.#settings().more ?? [])], request);
      await fetchDates(read.model);
    } catch (error) {
      if (this.#request === request) throw error;
    }
    if (this.#request !== request || (read.text === this.#signature && !again)) return null;
    this.#signature = read.text;
    return read.model;
  }

  /** What is being read of the chart's own file is ignored; the next read is reported even if nothing has changed. */
  forgetOwn() {
    this.#request?.abort();
    this.#request = null;
    this.#signature = null;
  }

  /**
   * Reads the runs and the second data set if they are wanted. Runs that are hidden stay until the chart's own file is
   * read again. Never rejects.
   * @param {string|null} url   the chart's own file
   * @param {{fresh: boolean}} options   fresh: read them again if they were read before
   * @returns {Promise<boolean>} whether there is anything new to draw
   */
  async readFurther(url, { fresh }) {
    const { runs, lines, overlay } = this.#settings();
    const reads = [this.second.want(overlay?.url ?? null, { fresh: fresh && Boolean(overlay) })];
    if ((runs || lines) && url) reads.push(this.runs.want(url, { fresh }));
    else if (fresh) reads.push(this.runs.want(null));
    const changes = await Promise.all(reads);
    return changes.some(Boolean);
  }

  /** Files that arrive later are ignored. */
  destroy() {
    this.forgetOwn();
    this.runs.destroy();
    this.second.destroy();
  }

  #loading({ signal }) {
    const settings = this.#settings();
    const { bands, read, maxBytes, fetch } = settings;
    return { bands, read, reading: readingOf(settings), signal, maxBytes, fetch };
  }

  /** The runs of the chart whose own file is at `url`, and of its further files. */
  async #readRuns(url, { fresh }) {
    // Without a signal: other charts may be waiting for the same file.
    const { maxBytes, fetch, more } = this.#settings();
    const join = this.#kind()?.join;
    const urls = join ? [url, ...(more ?? [])] : [url];
    const files = await Promise.all(
      urls.map(async (address) => {
        const chart = chartNameOf(address);
        const runs = (await sharedRuns(runsUrl(address), { fresh, maxBytes, fetch })).get(chart);
        if (!runs) throw new CsvError(`it has no run of ${chart}`, { url: runsUrl(address), kind: "empty" });
        return runs;
      }),
    );
    if (files.length === 1) return files[0];
    const models = files.map((runs) => ({
      kind: "wide",
      xLabel: "",
      xs: [...new Set([...runs.values()].flat().map(({ x }) => x))],
      series: [...runs].map(([name, points]) => ({ name, points })),
    }));
    const { series } = join(models, this.#settings());
    if (series.every(({ points }) => points.length === 0))
      throw new CsvError(`no run is both in ${urls.map(chartNameOf).join(" and in ")}`, {
        url: runsUrl(url),
        kind: "empty",
      });
    return new Map(series.map(({ name, points }) => [name, points]));
  }

  async #readSecond(url, request) {
    const { model } = await this.#read([url, ...(this.#settings().overlay?.more ?? [])], request);
    await fetchDates(model);
    return model;
  }

  /** One model of the files of a chart, and all that was read. */
  async #read(urls, request) {
    const settings = this.#settings();
    const kind = this.#kind();
    if (urls.length > 1 && kind && !kind.join)
      throw new CsvError("this chart is drawn from one file, and more are named", {
        url: urls[1],
        kind: "options",
      });
    const [own, ...more] = urls.map((url) => loadModel(url, this.#loading(request)));
    if (more.length === 0) return onlyAt(await own, settings.at);
    const files = await Promise.all([own, ...more.map(unlessAbsent)]);
    const isHere = (_, index) => files[index] !== null;
    const models = files.filter(isHere).map(({ model }) => model);
    const names = settings.names?.filter(isHere);
    const model = kind
      ? kind.join(models, { ...settings, names })
      : withBand(models, names ?? urls.filter(isHere).map(chartNameOf));
    const lacking = urls.filter((_, index) => files[index] === null);
    const text = files.map((file) => file?.text ?? "").join("\0\0");
    return onlyAt({ model: lacking.length ? { ...model, lacking } : model, text }, kind ? null : settings.at);
  }
}

/** What was read, with those of its places only that a chart asks for (`at`). */
function onlyAt({ model, text }, at) {
  if (!at) return { model, text };
  const wanted = [at].flat().map(String);
  const isWanted = (x) => wanted.includes(String(x));
  const series = model.series.map((oneSeries) => ({
    ...oneSeries,
    points: oneSeries.points.filter(({ x }) => isWanted(x)),
  }));
  return { model: { ...model, xs: model.xs.filter(isWanted), series }, text };
}
