/**
 * Which data the deck shows: the data set that the slides name, or the one asked for with `?data=NAME`.
 *
 * With `&meanwhile=OTHER` a chart that NAME lacks so far is drawn from OTHER, until it is measured. Its label
 * names the data set that it really shows.
 */

import { claimsAddress } from "./claims.js";
import { chooseDataSet, isDataSetName, requestedDataSet, withDataSet } from "./data-set.js";
import { Manifests, availableFiles } from "./manifests.js";

export class DataOnShow {
  #search;
  #usual;
  #fetch;
  #manifests;
  #claims;
  #files = null;

  /** @param {{search: string, usual: string, fetchFile?: typeof fetch}} page   usual: data set without `?data=` */
  constructor({ search, usual, fetchFile }) {
    this.#search = search;
    this.#usual = usual;
    this.#fetch = fetchFile;
    this.#manifests = new Manifests(fetchFile);
    this.#claims = new Manifests(fetchFile, claimsAddress);
    Object.assign(this, { dataSet: usual, override: null, problem: null, meanwhile: null, available: null });
  }

  /** Reads what the server offers, decides, and reads the manifests of what is shown. */
  async load() {
    await this.loadList();
    const judged = this.#names().filter((name) => this.#has(claimsAddress(name)));
    await Promise.all([
      ...this.#names().map((name) => this.#manifests.load(name)),
      ...judged.map((name) => this.#claims.load(name)),
    ]);
  }

  /** Reads the list of files only. */
  async loadList() {
    this.#files = await availableFiles(this.#fetch);
    this.available = this.#files && Object.keys(this.#files).sort();
    const other = new URLSearchParams(this.#search).get("meanwhile");
    this.meanwhile = isDataSetName(other) ? other : null;
    const requested = requestedDataSet(this.#search);
    // A data set that something stands in for need not exist yet.
    const awaited = this.meanwhile !== null && isDataSetName(requested);
    const available = awaited ? [...(this.available ?? []), requested] : this.available;
    Object.assign(this, chooseDataSet({ requested, usual: this.#usual, available }));
  }

  /** The address that a chart reads now. */
  resolve(src) {
    if (this.override === null) return src;
    const wanted = withDataSet(src, this.override);
    if (this.meanwhile === null || this.#has(wanted)) return wanted;
    const standIn = withDataSet(src, this.meanwhile);
    return this.#has(standIn) ? standIn : wanted;
  }

  /** The manifest that sentences are filled from. */
  get manifest() {
    return this.manifestOf(this.dataSet) ?? (this.meanwhile && this.manifestOf(this.meanwhile));
  }

  /** What the data set on show says of each claim, or null. */
  get claims() {
    return this.#claims.get(this.dataSet) ?? (this.meanwhile && this.#claims.get(this.meanwhile));
  }

  manifestOf(name) {
    return this.#manifests.get(name);
  }

  /**
   * Points a chart to another file when its own data set has it by now; it then loads by itself.
   * @param {{chart: object|null, url: string|null}} slot   a chart of the reveal plugin
   * @returns {boolean} whether it did
   */
  moved(slot) {
    if (!slot.chart || slot.url === null) return false;
    const csv = slot.chart.config.options.plugins.csv;
    if (csv.url === slot.url) return false;
    csv.url = slot.url;
    slot.chart.update("none");
    return true;
  }

  #names() {
    return [...new Set([this.dataSet, this.meanwhile].filter(Boolean))];
  }

  #has(address) {
    const [, name, ...rest] = address.split("/");
    return this.#files?.[name]?.includes(rest.join("/")) ?? false;
  }
}
