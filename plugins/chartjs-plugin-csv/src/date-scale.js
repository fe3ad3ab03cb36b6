import { LinearScale } from "chart.js";

export { momentsIn } from "./moments.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** About the length of a month, to choose a step. */
const MONTH = 30.4 * DAY;

/** Steps between ticks: of equal length, ms, and of calendar months. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 30].map((step) => step * SECOND),
  ...[1, 2, 5, 10, 30].map((step) => step * MINUTE),
  ...[1, 2, 3, 6, 12].map((step) => step * HOUR),
  ...[1, 2, 7, 14].map((step) => step * DAY),
];
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200];
/** 1970 began on a Thursday; weeks begin on a Monday. */
const MONDAY = 4 * DAY;

const NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** px for a label, with the room beside it, in sizes of its font. */
const ROOM = 5;
/** How many ticks an axis has: of fewer, none might be within it; of more, none could be read. */
const COUNT = { least: 5, most: 10 };

/** Round moments from min to max, ms, at most about so many. Pure. */
export function dateTicks(min, max, most) {
  const span = max - min;
  const step = STEPS.find((length) => span / length <= most);
  if (step) {
    const from = step % (7 * DAY) === 0 ? MONDAY : 0;
    const first = Math.ceil((min - from) / step);
    const count = Math.floor((max - from) / step) - first + 1;
    return Array.from({ length: Math.max(0, count) }, (_, at) => from + (first + at) * step);
  }
  const months = MONTHS.find((count) => span / (count * MONTH) <= most) ?? MONTHS.at(-1);
  const ticks = [];
  for (let month = Math.floor(monthOf(min) / months) * months; ; month += months) {
    const at = Date.UTC(1970, month);
    if (at > max) return ticks;
    if (at >= min) ticks.push(at);
  }
}

/** Months since 1970. */
function monthOf(at) {
  const date = new Date(at);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

/**
 * The labels of ticks: below the time of day the date, below the date or month the year, each where it changes. Pure.
 * @param {number[]} ticks   ms
 * @param {boolean} [isClock]   times of a day that is not known
 * @returns {(string|string[])[]} in lines
 */
export function dateLabels(ticks, isClock = false) {
  const isFiner = (unit) => ticks.some((at) => at % unit !== 0);
  const hasTime = isFiner(DAY) || isClock;
  const hasDay = ticks.some((at) => new Date(at).getUTCDate() !== 1);
  const isYears = !hasTime && !hasDay && ticks.every((at) => monthOf(at) % 12 === 0);
  let before = [];
  return ticks.map((at) => {
    const iso = new Date(at).toISOString();
    const [year, month, day] = iso.slice(0, 10).split("-");
    const name = NAMES[Number(month) - 1];
    const clock = iso.slice(11, isFiner(SECOND) ? 23 : isFiner(MINUTE) ? 19 : 16);
    const date = `${Number(day)} ${name}`;
    const lines = isClock
      ? [clock]
      : hasTime
        ? [clock, date, year]
        : isYears
          ? [year]
          : [hasDay ? date : name, year];
    const isNew = (_, from) => from === 0 || lines.slice(from).join() !== before.slice(from).join();
    const shown = lines.filter(isNew);
    before = lines;
    return shown.length === 1 ? shown[0] : shown;
  });
}

/** Chart.js has no name for the type of its linear scale. */
const Base = /** @type {typeof import("chart.js").Scale<any>} */ (/** @type {any} */ (LinearScale));

/**
 * A Chart.js scale of type `date`: dates and times as a file has them, drawn to scale, with ticks at round moments. It needs
 * no adapter. Options: `parser` from text to ms, `zone` in ms, what the file's clocks were ahead by, `isClock`: times only.
 */
export class DateScale extends Base {
  static id = "date";

  static defaults = {
    ticks: {
      callback(_, index, ticks) {
        const { zone = 0, isClock = false } = this.options;
        return dateLabels(
          ticks.map(({ value }) => value + zone),
          isClock,
        )[index];
      },
    },
  };

  parse(raw) {
    return typeof raw === "string" ? this.options.parser(raw) : super.parse(raw);
  }

  /** What a label says depends on the one before. */
  afterAutoSkip() {
    this.generateTickLabels(this.ticks);
  }

  buildTicks() {
    const { zone = 0, ticks } = this.options;
    const [length, room] = this.isHorizontal() ? [this.width, ROOM] : [this.height, 2];
    const fitting = Math.floor(length / (room * (ticks.font?.size ?? 12)));
    const most = Math.min(COUNT.most, Math.max(COUNT.least, fitting));
    Object.assign(this, { start: this.min, end: this.max });
    return dateTicks(this.min + zone, this.max + zone, most).map((value) => ({ value: value - zone }));
  }
}
