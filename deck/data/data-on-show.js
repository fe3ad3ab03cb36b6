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
import { claimsAddress } from "./claims.js";
import { chooseDataSet, isDataSetName, partsOf, requestedDataSet, withDataSet } from "./data-set.js";
import { Manifests, serverIndex } from "./manifests.js";
import { releasesAddress } from "./moves.js";

export class DataOnShow {
  #search;
  #usual;
  #frozen;
  #others;
  #fetch;
  #reader;
  #manifests;
  #claims;
  #bundle = null;
  #answers;
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
    this.#readWith(this.#fetch);
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
    this.#readWith(readerOf(this.#fetch));
  }

  #readWith(reader) {
    this.#reader = reader;
    this.#manifests = new Manifests(reader);
    this.#claims = new Manifests(reader, claimsAddress);
    this.#answers = new Manifests(reader, answerAddress, parseAnswer);
  }

  /** Reads the server's list, decides what to show, and reads its manifests. */
  async load() {
    await this.loadList();
    this.#beside.clear();
    await Promise.all([
      ...this.#names().map((name) => this.#manifests.load(name)),
      ...this.#loadIfThere(this.#claims, claimsAddress),
      ...this.#loadIfThere(this.#answers, answerAddress),
    ]);
  }

  /** Data need not have such a file; without a list the only way to know is to ask. */
  #loadIfThere(documents, address) {
    const there = (name) => !this.#files || this.#has(address(name));
    for (const name of this.#names()) if (!there(name)) documents.forget(name);
    return this.#names()
      .filter(there)
      .map((name) => documents.load(name));
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
    const own = canvas?.dataset.chartSrc;
    if (own && partsOf(own)?.dataSet !== partsOf(src)?.dataSet) return src;
    const wanted = withDataSet(src, this.override);
    if (this.meanwhile === null || this.#has(wanted)) return wanted;
    const standIn = withDataSet(src, this.meanwhile);
    return this.#has(standIn) ? standIn : wanted;
  };

  /** Whether the current data are the ones for which the slides were written. */
  get shipped() {
    return this.dataSet === (this.#frozen ?? this.#usual);
  }

  /** The manifest that supplies the values in sentences. */
  get manifest() {
    return this.about(this.dataSet).manifest;
  }

  /** What the current data set says about each claim, or null. */
  get claims() {
    return this.about(this.dataSet).claims;
  }

  /** What the current data set answers to the talk's question, or null. */
  get answer() {
    return this.about(this.dataSet).answer;
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
   * @param {string} name   of its data set, from `nameFor`
   * @returns {{dataSet: string, manifest: object|null, claims: object|null, answer: object|null, shipped: boolean}}
   *   shipped: whether the figures written on the slide are of this data set
   */
  about(name) {
    const kept = (documents) =>
      documents.get(name) ?? (this.meanwhile && name === this.dataSet ? documents.get(this.meanwhile) : null);
    return {
      dataSet: name,
      manifest: kept(this.#manifests),
      claims: kept(this.#claims),
      answer: kept(this.#answers),
      shipped: name === this.dataSet ? this.shipped : true,
    };
  }

  /**
   * What another data set says, for slides that set several beside each other. Fetched once until the data change.
   * @returns {Promise<{claims: object|null, manifest: object|null, releases: object|null}>} null where it is not here
   */
  other(name) {
    const there = !this.#files || this.#has(claimsAddress(name));
    if (!there) return Promise.resolve({ claims: null, manifest: null, releases: null });
    if (!this.#beside.has(name)) this.#beside.set(name, this.#readOther(name));
    return this.#beside.get(name);
  }

  async #readOther(name) {
    const [claims, manifest, releases] = await Promise.all([
      new Manifests(this.#reader, claimsAddress).load(name),
      new Manifests(this.#reader).load(name),
      this.#has(releasesAddress(name)) ? new Manifests(this.#reader, releasesAddress).load(name) : null,
    ]);
    return { claims, manifest, releases };
  }

  manifestOf = (name) => this.#manifests.get(name);

  /** The files of a data set that are not as recorded. @returns {import("./alterations.js").Alteration[]} */
  alterationsOf = (name) => (Object.hasOwn(this.#altered, name) ? this.#altered[name] : []);

  /** The SHA-256 of a file of the author's own, by its address; null if the server lists none. */
  digestOf = (src) => (Object.hasOwn(this.#own, src) ? this.#own[src] : null);

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
    return this.#files === null ? null : this.#has(address);
  }

  #has(address) {
    const [, name, ...rest] = address.split("/");
    return this.#files?.[name]?.includes(rest.join("/")) ?? false;
  }
}
