/**
 * Digests of files, computed again only for files that changed since the last look. What is known is kept in
 * `.cache/digests.json`: without that file, or with one that cannot be read, every file is read once more.
 */

import { createHash } from "node:crypto";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";

import { PROJECT } from "../data-sets.js";

const CACHE = path.join(PROJECT, ".cache", "digests.json");
const VERSION = 1;
/**
 * A file that was written so recently may be written again within the same tick of the file system's clock, which its
 * times would not show: its digest is not kept.
 */
const RECENT_MS = 2000;

export class Digests {
  #file;
  #known = null;
  #changed = false;

  /** @param {string|null} [file]   where digests are kept; null for nowhere */
  constructor(file = CACHE) {
    this.#file = file;
  }

  /** @returns {Promise<string|null>} the SHA-256 of a file, in hexadecimal; null when there is no such file */
  async of(file) {
    this.#known ??= this.#read();
    const known = await this.#known;
    let facts;
    let content;
    try {
      facts = await stat(file, { bigint: true });
      if (!facts.isFile()) return null;
      const signature = `${facts.mtimeNs}:${facts.ctimeNs}:${facts.size}:${facts.ino}`;
      if (known.get(file)?.[0] === signature) return known.get(file)[1];
      content = await readFile(file);
      const digest = createHash("sha256").update(content).digest("hex");
      if (Date.now() - Number(facts.ctimeMs) > RECENT_MS) {
        known.set(file, [signature, digest]);
        this.#changed = true;
      }
      return digest;
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes(error.code)) return null;
      throw error;
    }
  }

  /** Keeps what is known for the next program. Nothing is lost where it cannot be written but time. */
  async save() {
    if (this.#file === null || !this.#changed) return;
    this.#changed = false;
    const working = `${this.#file}.${process.pid}`;
    const there = await Promise.all(
      [...(await this.#known)].map(async (entry) =>
        (await stat(entry[0]).catch(() => null)) ? entry : null,
      ),
    );
    const files = Object.fromEntries(there.filter((entry) => entry !== null));
    try {
      await mkdir(path.dirname(this.#file), { recursive: true });
      await writeFile(working, JSON.stringify({ version: VERSION, files }));
      await rename(working, this.#file);
    } catch (error) {
      if (!["EACCES", "EROFS", "ENOSPC", "EDQUOT", "EPERM"].includes(error.code)) throw error;
    }
  }

  async #read() {
    if (this.#file === null) return new Map();
    try {
      const { version, files } = JSON.parse(await readFile(this.#file, "utf8"));
      return new Map(version === VERSION ? Object.entries(files) : []);
    } catch {
      return new Map();
    }
  }
}
