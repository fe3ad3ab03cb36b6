/**
 * Keeps an eye on which files are altered while the talk is open. Derive writes file after file, so what is not as
 * recorded counts only when nothing has changed for a moment, or when changes go on for long.
 */

import { indexOf, scanBenchmarks } from "../data-sets.js";
import { findAlterations } from "./alterations.js";
import { Digests } from "./digests.js";

const QUIET_MS = 1500;
const LONGEST_MS = 10_000;

/**
 * @param {{benchmarks: string, onChange: (found: Record<string, object[]>) => void, onError?: (error: Error) => void,
 *          quietMs?: number}} options
 *   onChange gets what `findAlterations` found whenever that differs from before, the first look included if it found any
 * @returns {{current: () => Promise<Record<string, object[]>>, changed: () => void, close: () => void}}
 *   current: what is altered, after the first look; changed: call it when files changed
 */
export function watchStanding({ benchmarks, onChange, onError = () => {}, quietMs = QUIET_MS }) {
  const digests = new Digests();
  let found = {};
  let timer = null;
  let since = null;
  let closed = false;
  let latest = look();

  async function look() {
    try {
      const names = indexOf((await scanBenchmarks(benchmarks)).files).data_sets;
      const now = await findAlterations(benchmarks, names, digests);
      if (closed || JSON.stringify(now) === JSON.stringify(found)) return;
      found = now;
      onChange(found);
    } catch (error) {
      // A file that cannot be read now is met again after the next change; until then the last finding stands.
      onError(error);
    }
  }

  return {
    async current() {
      await latest;
      return found;
    },
    changed() {
      if (closed) return;
      since ??= Date.now();
      clearTimeout(timer);
      const wait = Math.max(0, Math.min(quietMs, since + LONGEST_MS - Date.now()));
      timer = setTimeout(() => {
        since = null;
        latest = latest.then(look);
      }, wait);
      timer.unref();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
