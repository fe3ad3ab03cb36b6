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
  #frozen;
  #fetch;
  #manifests;
  #claims;
  #files = null;

  /**
   * @param {{search: string, usual: string, frozen?: string|null, fetchFile?: typeof fetch}} page
   *   usual: data set without `?data=`; frozen: the only one that a frozen talk shows
   */
  constructor({ search, usual, frozen = null, fetchFile }) {
    this.#search = search;
    this.#usual = usual;
    this.#frozen = frozen;
    this.#fetch = fetchFile;
    this.#manifests = new Manifests(fetchFile);
    this.#claims = new Manifests(fetchFile, claimsAddress);
    Object.assign(this, { dataSet: usual, override: null, problem: null, meanwhile: null, available: null });
  }

  /** Reads what the server offers, decides, and reads the manifests of what is shown. */
  async load() {
    await this.loadList();
    // Data that nobody judged yet have no such file; without a list one can only ask.
    const judged = this.#names().filter((name) => !this.#files || this.#has(claimsAddress(name)));
    for (const name of this.#names()) if (!judged.includes(name)) this.#claims.forget(name);
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
    this.meanwhile = isDataSetName(other) && this.#frozen === null ? other : null;
    const requested = requestedDataSet(this.#search);
    // A data set that something stands in for need not exist yet.
    const awaited = this.meanwhile !== null && isDataSetName(requested);
    const available = awaited ? [...(this.available ?? []), requested] : this.available;
    const facts = { requested, usual: this.#usual, available, frozen: this.#frozen };
    Object.assign(this, chooseDataSet(facts));
  }

  /** The address that a chart reads now. */
  resolve(src) {
    if (this.override === null) return src;
    const wanted = withDataSet(src, this.override);
    if (this.meanwhile === null || this.#has(wanted)) return wanted;
    const standIn = withDataSet(src, this.meanwhile);
    return this.#has(standIn) ? standIn : wanted;
  }

  /** Whether the data on show are those that the texts of the slides were written for. */
  get shipped() {
    return this.dataSet === (this.#frozen ?? this.#usual);
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

  #names() {
    return [...new Set([this.dataSet, this.meanwhile].filter(Boolean))];
  }

  #has(address) {
    const [, name, ...rest] = address.split("/");
    return this.#files?.[name]?.includes(rest.join("/")) ?? false;
  }
}
