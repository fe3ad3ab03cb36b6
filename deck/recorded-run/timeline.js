/**
 * The timeline of a recorded run: which charts play, when their parts arrive, and the playback position. Pure.
 */

/** Every recorded chart, `<experiment>/<chart>`, with its group: when its parts arrive after the start of its experiment. */
export function groupsOf(recording) {
  return new Map(
    Object.entries(recording.experiments).flatMap(([experiment, { groups }]) =>
      groups.flatMap((group) => group.charts.map((chart) => [`${experiment}/${chart}`, group])),
    ),
  );
}

/**
 * The timeline of some experiments of a recording, one after the other in the order in which they started.
 * @param {object} recording   recording.json
 * @param {string[]} names   experiments; unknown ones are skipped
 * @returns {{seconds: number, from: string, to: string, moments: number[],
 *            charts: Map<string, {group: object, start: number}>, blockEnds: number[]}|null}
 *   from, to: dates; moments: when anything arrives, sorted, each once; charts: `<experiment>/<chart>` → its group and
 *   where its experiment begins; blockEnds: when the last run of each block arrived; null if nothing is recorded
 */
export function timelineOf(recording, names) {
  const chosen = names
    .filter((name) => recording.experiments[name])
    .map((name) => ({ name, ...recording.experiments[name] }))
    .sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
  if (chosen.length === 0) return null;
  const charts = new Map();
  const moments = new Set();
  const blockEnds = [];
  let start = 0;
  for (const { name, seconds, groups } of chosen) {
    const ends = new Map();
    for (const group of groups) {
      for (const chart of group.charts) charts.set(`${name}/${chart}`, { group, start });
      const blocks = blocksOf(group);
      group.seconds.forEach((at, index) => {
        moments.add(start + at);
        if (blocks) ends.set(blocks[index], Math.max(start + at, ends.get(blocks[index]) ?? 0));
      });
    }
    blockEnds.push(...ends.values());
    start += seconds;
  }
  return {
    seconds: start,
    from: chosen[0].started_at,
    to: chosen
      .map(({ ended_at: end }) => end)
      .sort()
      .at(-1),
    moments: [...moments].sort((a, b) => a - b),
    charts,
    blockEnds: blockEnds.sort((a, b) => a - b),
  };
}

/** The block of each moment of a group; for trials this is the axis; null if a chart arrives whole. */
function blocksOf({ arrives, block, x }) {
  if (block) return block;
  return arrives === "row" ? x : null;
}

/** A playback position. `at` is the latest moment reached: between two moments nothing changes. */
export class Playback {
  #timeline;
  #rate;
  #stops;
  #position = 0;

  /**
   * @param {object} timeline   see timelineOf
   * @param {{seconds: number, steps?: boolean}} how   seconds: how long the whole takes; steps: move only at the end of each block
   */
  constructor(timeline, { seconds, steps = false }) {
    this.#timeline = timeline;
    this.#rate = timeline.seconds / seconds;
    this.#stops = steps ? timeline.blockEnds : timeline.moments;
    this.at = -1;
    this.paused = false;
  }

  get done() {
    return this.#position >= this.#timeline.seconds;
  }

  /** From 0 to 1, by time. */
  get share() {
    return this.#timeline.seconds > 0 ? Math.min(1, this.#position / this.#timeline.seconds) : 1;
  }

  /** How many blocks are complete. */
  get blocks() {
    return this.#timeline.blockEnds.filter((at) => at <= this.#position).length;
  }

  /**
   * Lets time pass.
   * @param {number} seconds   of the person who watches
   * @returns {boolean} whether something arrived
   */
  advance(seconds) {
    if (this.paused || this.done) return false;
    this.#position += Math.max(0, seconds) * this.#rate;
    const before = this.at;
    for (const stop of this.#stops) {
      if (stop > this.#position) break;
      this.at = stop;
    }
    return this.at !== before;
  }
}
