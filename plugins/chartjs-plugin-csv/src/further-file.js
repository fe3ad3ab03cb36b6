import { CsvError } from "./error.js";

/**
 * A file that a chart shows beside its own: read when it is first wanted, kept, and read again when told. If reads
 * overlap, the latest wins. `error` says what is wrong with the file; the caller decides where to show it, since the
 * chart itself is correct.
 * @template T
 */
export class FurtherFile {
  #read;
  #request = null;
  #url = null;

  /** @param {(url: string, request: {signal: AbortSignal, fresh: boolean}) => Promise<T>} read */
  constructor(read) {
    this.#read = read;
    /** @type {T|null} */
    this.data = null;
    this.error = null;
  }

  /**
   * Reads the file at `url` into `data`; null removes it. Never rejects.
   * @param {string|null} url
   * @param {{fresh?: boolean}} [options]   fresh: read it again if it was read before
   * @returns {Promise<boolean>} whether anything changed
   */
  async want(url, { fresh = false } = {}) {
    if (url === this.#url && !fresh) {
      await this.#request?.done;
      return false;
    }
    this.#request?.controller.abort();
    const moved = url !== this.#url;
    this.#url = url;
    const had = this.data !== null || this.error !== null;
    if (moved) this.data = this.error = null;
    if (url === null) {
      this.#request = null;
      return had;
    }
    const request = { controller: new AbortController(), fresh };
    this.#request = request;
    request.done = this.#fetch(url, request);
    return request.done;
  }

  async #fetch(url, request) {
    let data = null;
    let error = null;
    try {
      data = await this.#read(url, { signal: request.controller.signal, fresh: request.fresh });
    } catch (cause) {
      error = cause;
    }
    if (this.#request !== request) return false;
    if (error && !(error instanceof CsvError)) console.error(error);
    Object.assign(this, { data, error });
    return true;
  }

  destroy() {
    this.#request?.controller.abort();
    this.#request = null;
    this.#url = null;
    this.data = null;
  }
}
