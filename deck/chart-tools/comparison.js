/**
 * A second data set drawn on the same axes: `?data=mine&compare=reference`. Its lines are lighter, have hollow markers,
 * and carry its name. Each label names both data sets and says what the second one lacks.
 */

import { isDataSetName, manifestAddress, partsOf, withDataSet } from "../data/data-set.js";
import { byDataSet } from "../text/labels.js";
import { readDocument } from "../data/manifests.js";
import { chartPlace, provenance } from "../data/provenance.js";

export class Comparison {
  #data;
  #manifest = null;

  /** @param {{name: string, data: object}} given   name: the data set asked for with `?compare=`; data: on show */
  constructor({ name, data }) {
    this.name = name;
    this.problem = null;
    this.#data = data;
  }

  /** Reads the second data set; `problem` says why it cannot be compared. */
  async load() {
    this.problem = null;
    if (!isDataSetName(this.name)) {
      this.problem = "The name after ?compare= is not a valid data set name.";
      return;
    }
    const { available } = this.#data;
    if (available && !available.includes(this.name)) {
      this.problem = `There is no data set “${this.name}” to compare with. Available: ${available.join(", ")}.`;
      return;
    }
    this.#manifest = await readDocument(this.#data.fetch, manifestAddress(this.name));
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
    const has = this.#data.has(other) ?? chartPlace(other, this.#manifest) !== null;
    return has ? other : null;
  }

  /**
   * What a slide's label says about the second data set.
   * @param {string[]} sources   what its charts show, as slides name it
   */
  words(sources) {
    if (this.problem !== null) return "";
    const others = sources.map((src) => this.addressOf(src));
    const addresses = others.filter((address) => address !== null);
    const same = sources.every((src) => partsOf(this.#data.resolve(src))?.dataSet === this.name);
    if (same) return `compared with ${this.name}: the same data`;
    if (addresses.length === 0) return `${this.name} has nothing to compare with here`;
    const origin = byDataSet(addresses).map((group) =>
      provenance(group, this.#manifest, this.#data.alterationsOf(this.name)),
    );
    const lacks = others.length - addresses.length;
    return [
      `hollow markers show ${origin.join("; ")}`,
      lacks && `${this.name} lacks ${lacks} of ${others.length} charts`,
    ]
      .filter(Boolean)
      .join(" · ");
  }
}
