/**
 * Which data the deck shows: the data set that the slides name, or the one selected with `?data=NAME`.
 *
 * With `&meanwhile=OTHER` a chart that NAME still lacks is drawn from OTHER until it has been measured. Its label names the
 * data set that it really shows.
 *
 * Single slides may be of other data sets than the talk's own, such as an older one, unless the address asks for one data set
 * for all slides. A slide that compares several keeps them with any: it says in words which is which.
 */

import { answerAddress, parseAnswer } from "./answer.js";
import { claimsAddress, own } from "./claims.js";
import {
  chooseDataSet,
  fileOf,
  isDataSetName,
  manifestAddress,
  partsOf,
  requestedDataSet,
  withDataSet,
} from "./data-set.js";
import { readDocument, serverIndex } from "./manifests.js";

export class DataOnShow {
  #search;
  #usual;
  #frozen;
  #others;
  #fetch;
  #reader;
  /** By address. */
  #documents = new Map();
  #bundle = null;
  #beside = new Map();
  #files = null;
  #altered = {};
  #own = {};

  /**
   * @param {{search: string, usual: string, frozen?: string|null, others?: string[], fetchFile?: typeof fetch}} page
   *   usual: data set without `?data=`; frozen: the one that a frozen talk is told with; others: those of single slides
   */
  constructor({ search, usual, frozen = null, others = [], fetchFile }) {
    this.#search = search;
    this.#usual = usual;
    this.#frozen = frozen;
    this.#others = others;
    this.#fetch = fetchFile ?? ((...args) => fetch(...args));
    this.#reader = this.#fetch;
    Object.assign(this, { dataSet: usual, override: null, problem: null, meanwhile: null, available: null });
  }

  /** Reads a file of the data on show, wherever it is. */
  fetch = (...request) => this.#reader(...request);

  /** The bundle whose numbers are shown, or null. */
  get bundle() {
    return this.#bundle;
  }

  /**
   * Shows the numbers of a bundle from now on, once they are loaded.
   * @param {Awaited<ReturnType<typeof import("./bundle-file.js").readBundle>>} bundle
   * @param {(fetchFile: typeof fetch) => typeof fetch} readerOf   reads its files from memory, all others as the one given
   */
  take(bundle, readerOf) {
    this.#bundle = bundle;
    this.#reader = readerOf(this.#fetch);
    this.#documents = new Map();
  }

  /** Reads the server's list, decides what to show, and reads its documents. */
  async load() {
    await this.loadList();
    this.#beside.clear();
    const documents = this.#documents;
    const read = async (address, parse) =>
      documents.set(address, await readDocument(this.#reader, address, parse));
    // Data need not have such a file; without a list the only way to know is to ask.
    const readIfThere = (address, parse) =>
      this.has(address) === false ? documents.delete(address) : read(address, parse);
    await Promise.all(
      this.#names().flatMap((name) => [
        read(manifestAddress(name)),
        readIfThere(claimsAddress(name)),
        readIfThere(answerAddress(name), parseAnswer),
      ]),
    );
  }

  /** Reads only the list of files. */
  async loadList() {
    const index = await serverIndex(this.#reader);
    this.#files = index?.files ?? null;
    this.#altered = index?.altered ?? {};
    this.#own = index?.own ?? {};
    this.available = this.#files && Object.keys(this.#files).sort();
    const other = new URLSearchParams(this.#search).get("meanwhile");
    this.meanwhile = isDataSetName(other) && this.#frozen === null ? other : null;
    const requested = this.#bundle?.name ?? requestedDataSet(this.#search);
    // A data set with a stand-in need not exist yet.
    const awaited = this.meanwhile !== null && isDataSetName(requested);
    const available = awaited ? [...(this.available ?? []), requested] : this.available;
    const facts = { requested, usual: this.#usual, available, frozen: this.#frozen };
    Object.assign(this, chooseDataSet(facts));
  }

  /**
   * The address from which a chart is read now.
   * @param {string} src   as written on the slide
   * @param {HTMLCanvasElement|null} [canvas]   of the chart: a further file of another data set than its own stays, as it is
   *   there to be compared with, and so do all files of a slide that compares data sets
   */
  resolve = (src, canvas = null) => {
    if (this.override === null || canvas?.closest("[data-compare]")) return src;
    const first = canvas?.dataset.chartSrc;
    if (first && partsOf(first)?.dataSet !== partsOf(src)?.dataSet) return src;
    const wanted = withDataSet(src, this.override);
    if (this.meanwhile === null || this.has(wanted)) return wanted;
    const standIn = withDataSet(src, this.meanwhile);
    return this.has(standIn) ? standIn : wanted;
  };

  /** Whether the current data are the ones for which the slides were written. */
  get shipped() {
    return this.dataSet === (this.#frozen ?? this.#usual);
  }

  /**
   * The data set of a slide.
   * @param {string|null} named   the one that the slide names, if any; the address may ask for another for all slides
   */
  nameFor(named) {
    return named !== null && this.#ofSlides().includes(named) ? named : this.dataSet;
  }

  /**
   * What the texts of a slide are made of.
   * @param {string} [name]   of its data set, from `nameFor`
   * @returns {{dataSet: string, manifest: object|null, claims: object|null, answer: object|null, shipped: boolean}}
   *   shipped: whether the figures written on the slide are of this data set
   */
  about(name = this.dataSet) {
    const names = this.meanwhile && name === this.dataSet ? [name, this.meanwhile] : [name];
    const first = (addressOf) =>
      names.map((one) => this.#documents.get(addressOf(one))).find(Boolean) ?? null;
    return {
      dataSet: name,
      manifest: first(manifestAddress),
      claims: first(claimsAddress),
      answer: first(answerAddress),
      shipped: name === this.dataSet ? this.shipped : true,
    };
  }

  /**
   * What another data set says, for slides that set several beside each other. Fetched once until the data change.
   * @returns {Promise<{claims: object|null, manifest: object|null, releases: object|null}>} null where it is not here
   */
  other(name) {
    if (this.has(claimsAddress(name)) === false)
      return Promise.resolve({ claims: null, manifest: null, releases: null });
    if (!this.#beside.has(name)) this.#beside.set(name, this.#readOther(name));
    return this.#beside.get(name);
  }

  async #readOther(name) {
    const releasesAddress = `benchmarks/${name}/releases.json`;
    const [claims, manifest, releases] = await Promise.all([
      readDocument(this.#reader, claimsAddress(name)),
      readDocument(this.#reader, manifestAddress(name)),
      this.has(releasesAddress) ? readDocument(this.#reader, releasesAddress) : null,
    ]);
    return { claims, manifest, releases };
  }

  manifestOf = (name) => this.#documents.get(manifestAddress(name)) ?? null;

  /** The files of a data set that are not as recorded. @returns {import("./alterations.js").Alteration[]} */
  alterationsOf = (name) => own(this.#altered, name) ?? [];

  /** The SHA-256 of a file of the author's own, by its address; null if the server lists none. */
  digestOf = (src) => own(this.#own, src);

  /** Those on show. Slides that compare data sets show the talk's with any. */
  #names() {
    const ofTalk = this.#here([this.#usual, ...this.#others]);
    return [...new Set([this.dataSet, this.meanwhile, ...ofTalk].filter(Boolean))];
  }

  /** The data sets of single slides, as far as they are here. */
  #ofSlides() {
    return this.override === null ? this.#here(this.#others) : [];
  }

  #here(names) {
    return names.filter((name) => !this.#files || Object.hasOwn(this.#files, name));
  }

  /** Whether the server lists a file; null if it lists none at all. */
  has(address) {
    if (this.#files === null) return null;
    const [name, path] = fileOf(address) ?? [];
    return own(this.#files, name)?.includes(path) ?? false;
  }
}
