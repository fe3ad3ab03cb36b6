import { isMoment } from "./forms.js";

/** Dates and times as files have them. Pure. */

const CLOCK = String.raw`(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2}(?:[.,]\d+)?))?`;
const ZONE = String.raw`\s?(?<zone>Z|UTC|[+-]\d{2}:?\d{2})`;
const FORMS = [
  String.raw`(?<year>\d{4})-(?<month>\d{1,2})(?:-(?<day>\d{1,2})(?:[T ]${CLOCK}(?:${ZONE})?)?)?`,
  String.raw`(?<first>\d{1,2})(?<mark>[./])(?<then>\d{1,2})\k<mark>(?<year>\d{4})(?:[T ]${CLOCK}(?:${ZONE})?)?`,
  CLOCK,
].map((form) => new RegExp(`^${form}$`));

const MINUTE = 60_000;
/** What the day is in 11/12/2026. */
const ORDERS = ["day first", "month first"];

/** The parts of a date or time; null if it has another form, or is on no calendar. */
function partsOf(text, order) {
  const groups = FORMS.reduce((match, form) => match ?? form.exec(text), null)?.groups;
  if (!groups) return null;
  const { year, month, day, first, mark, then, hour = "0", minute = "0", second = "0", zone = null } = groups;
  const isDayFirst = mark === "." || order === ORDERS[0];
  const written = mark ? (isDayFirst ? [then, first] : [first, then]) : [month ?? "1", day ?? "1"];
  const [inMonth, onDay] = written.map(Number);
  const seconds = Number(second.replace(",", "."));
  const date = new Date(Date.UTC(Number(year ?? 1970), inMonth - 1, onDay));
  const isReal = date.getUTCMonth() === inMonth - 1 && date.getUTCDate() === onDay;
  if (!isReal || Number(hour) > 23 || Number(minute) > 59 || seconds >= 61) return null;
  const at = date.getTime() + (Number(hour) * 60 + Number(minute)) * MINUTE + Math.round(seconds * 1000);
  return { at, zone: zone && offsetOf(zone), isClock: year === undefined };
}

/** "+02:00" → 7200000 */
function offsetOf(zone) {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [null, "+", "0", "0"];
  return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * MINUTE;
}

/**
 * How the x values of a model are read as moments on one axis.
 * @param {import("./table.js").Model} model
 * @returns {{parse: (text: string) => number|null, zone: number, isClock: boolean}|null} parse: to ms; zone: what to add to
 *   them to get what the file's clocks showed; isClock: times without a date. Null if the x values are no moments, if days and
 *   months cannot be told apart, or if times pass midnight
 */
export function momentsIn(model) {
  if (!known.has(model)) known.set(model, find(model));
  return known.get(model);
}

const known = new WeakMap();

function find({ xs, series }) {
  if (typeof xs[0] !== "string" || !isMoment(xs[0])) return null;
  const orders = xs.some((text) => text.includes("/")) ? ORDERS : ORDERS.slice(0, 1);
  const readings = orders.map((order) => xs.map((text) => partsOf(text, order)));
  const fitting = readings.filter((parts) => parts.every((reading) => reading !== null));
  if (fitting.length === 0) return null;
  const [parts, other = parts] = fitting;
  if (parts.some(({ at }, index) => at !== other[index].at)) return null;
  const [{ zone, isClock }] = parts;
  if (parts.some((reading) => reading.isClock !== isClock || (reading.zone === null) !== (zone === null)))
    return null;
  const order = ORDERS[readings.indexOf(parts)];
  const parse = (text) => {
    const moment = partsOf(text, order);
    return moment && moment.at - (moment.zone ?? 0);
  };
  const goesOn = ({ points }) => points.every(({ x }, at) => at === 0 || parse(points[at - 1].x) <= parse(x));
  if (isClock && !series.every(goesOn)) return null;
  return { parse, zone: zone ?? 0, isClock };
}
