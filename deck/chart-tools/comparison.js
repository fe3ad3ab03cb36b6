/**
 * A second data set drawn on the same axes: `?data=mine&compare=reference`. Its lines are lighter, have hollow markers,
 * and carry its name. Each label names both data sets and says what the second one lacks.
 */

import { isDataSetName, partsOf, withDataSet } from "../data/data-set.js";
import { byDataSet } from "../text/labels.js";
import { Manifests, serverIndex } from "../data/manifests.js";
import { chartPlace, provenance } from "../data/provenance.js";

export class Comparison {
  #data;
  #fetch;
  #manifests;
  #files = null;

  /**
   * @param {{name: string, data: {resolve: (src: string) => string}, fetchFile?: typeof fetch}} given
   *   name: the data set asked for with `?compare=`
   */
  constructor({ name, data, fetchFile }) {
    this.name = name;
    this.problem = null;
    this.#data = data;
    this.#fetch = fetchFile;
    this.#manifests = new Manifests(fetchFile);
  }

  /** Reads the second data set; `problem` says why it cannot be compared. */
  async load() {
    this.problem = null;
    if (!isDataSetName(this.name)) {
      this.problem = "The name after ?compare= is not a valid data set name.";
      return;
    }
    this.#files = (await serverIndex(this.#fetch))?.files ?? null;
    if (this.#files && !Object.hasOwn(this.#files, this.name)) {
      const names = Object.keys(this.#files).sort().join(", ");
      this.problem = `There is no data set “${this.name}” to compare with. Available: ${names}.`;
      return;
    }
    await this.#manifests.load(this.name);
  }

  /**
   * The file that is drawn next to a chart's own.
   * @param {string|null} src   what the chart shows, as a slide names it
   * @returns {string|null} null if there is none, or if it is the same
   */
  addressOf(src) {
    if (!src || this.problem !== null) return null;
    const own = this.#data.resolve(src);
    const other = withDataSet(own, this.name);
    if (other === own || partsOf(other) === null) return null;
    return this.#has(other) ? other : null;
  }

  /**
   * What a slide's label says about the second data set.
   * @param {string[]} sources   what its charts show, as slides name it
   */
  words(sources) {
    if (this.problem !== null) return "";
    const others = sources.map((src) => this.addressOf(src));
    const found = others.filter((address) => address !== null);
    const same = sources.every((src) => partsOf(this.#data.resolve(src))?.dataSet === this.name);
    if (same) return `compared with ${this.name}: the same data`;
    if (found.length === 0) return `${this.name} has nothing to compare with here`;
    const origin = byDataSet(found).map((group) =>
      provenance(group, this.#manifests.get(this.name), this.#data.alterationsOf(this.name)),
    );
    const lacks = others.length - found.length;
    return [
      `hollow markers show ${origin.join("; ")}`,
      lacks && `${this.name} lacks ${lacks} of ${others.length} charts`,
    ]
      .filter(Boolean)
      .join(" · ");
  }

  #has(address) {
    if (this.#files === null) return chartPlace(address, this.#manifests.get(this.name)) !== null;
    const [, name, ...rest] = address.split("/");
    return this.#files[name]?.includes(rest.join("/")) ?? false;
  }
}
