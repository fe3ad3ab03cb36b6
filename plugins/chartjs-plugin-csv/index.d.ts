import { Scale } from "chart.js";
import type {
  CartesianScaleOptions,
  Chart,
  ChartComponent,
  ChartDataset,
  ChartType,
  FontSpec,
  Plugin,
  ScaleOptions,
} from "chart.js";

// A chart of any type: Chart.js' own is not assignable from one type of chart to another.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyChart = Chart<any, any, any>;

export interface Point {
  x: number | string;
  /** Base units; null where the field is empty. */
  y: number | null;
  low: number | null;
  high: number | null;
  n: number | null;
}

export interface Series {
  name: string;
  points: Point[];
}

export interface Model {
  kind: "wide" | "long";
  xLabel: string;
  xs: (number | string)[];
  series: Series[];
}

/** One run behind a point, as `runs.csv` has it. */
export interface Run {
  x: number | string;
  y: number | null;
  block: string;
  attempt: string;
}

/** A series as it is drawn: one entry is one dataset. */
export interface Entry {
  /** The dataset's label; that of a second data set ends with its name. */
  label: string;
  /** The series' name, which decides how it looks. */
  name: string;
  second: boolean;
  points: Point[];
}

export type Unit =
  "bytes" | "bytes_per_second" | "operations_per_second" | "seconds" | "ratio" | "fraction" | "count";
export type Bands = "auto" | "min-max" | "interval" | false;

export interface SeriesStyle {
  color: string;
  dash: number[];
  pointStyle: string;
}

export interface Format {
  prefix?: "si" | "iec";
}

export interface Range {
  low: number;
  high: number;
}

/** How a file is written. What "auto" cannot tell is an error that names the option. */
export interface ReadingOptions {
  /** A series in each row or in each column; "prefer-rows" takes what could be either for rows. */
  orientation?: "auto" | "prefer-rows" | "rows" | "columns";
  /** "auto", or the one character between fields. */
  delimiter?: string;
  decimal?: "auto" | "." | ",";
  /** What a line of comment begins with; false: there are none. */
  comment?: string | false;
  /** Fields that say "not measured", beside the empty one. */
  missing?: string[];
}

export interface CsvOptions extends ReadingOptions {
  url?: string | null;
  text?: string | null;
  src?: string | null;
  bands?: Bands;
  series?: string[] | null;
  shown?: string[] | null;
  runs?: boolean;
  /** What a run is: a value at one x, or a line with a value at each. */
  runsAre?: "points" | "lines";
  /** Draws each run as a thin line in place of the values, and names the one that reaches furthest to that end. */
  lines?: { end?: "high" | "low"; name?: string } | null;
  /** The names of series in front of which all others recede. */
  emphasis?: string[] | null;
  /** The fewest measured points that a line joins. */
  lineFrom?: number;
  overlay?: { url: string; label?: string } | null;
  axes?: boolean;
  scales?: Record<string, ScaleOptions | Record<string, unknown>> | null;
  xScale?: "auto" | "log2" | "linear" | "logarithmic";
  yScale?: "linear" | "logarithmic" | "log2";
  scale?: "log" | "linear" | null;
  range?: Range | null;
  xUnit?: Unit | null;
  yUnit?: Unit | null;
  xTitle?: string | null;
  yTitle?: string | null;
  prefix?: "si" | "iec";
  styles?: Record<string, Partial<SeriesStyle>>;
  palette?: SeriesStyle[];
  datasets?: Partial<ChartDataset>[] | Record<string, Partial<ChartDataset>>;
  decimate?: boolean;
  maxBytes?: number;
  fetch?: typeof fetch | null;
  theme?: { text?: string; grid?: string; font?: Partial<FontSpec> };
}

export interface LabelOptions {
  display?: boolean;
  font?: { size?: number; weight?: number | string; family?: string };
  lineHeight?: number;
  gap?: number;
  offset?: number;
  maxWidth?: number;
}

interface MarkLook {
  label?: string;
  color?: string;
  /** False: the y axis need not reach as far. */
  reach?: boolean;
}

export interface LineMark extends MarkLook {
  axis: "x" | "y";
  value: number | string;
  dash?: number[];
}

export interface BandMark extends MarkLook {
  axis: "x" | "y";
  low?: number | string | null;
  high?: number | string | null;
}

export interface PointMark extends MarkLook {
  x: number | string;
  y: number;
}

export type Mark = LineMark | BandMark | PointMark;

export interface MarkOptions {
  items?: Mark[] | ((chart: AnyChart) => Mark[]);
  font?: { size?: number; weight?: number | string; family?: string };
  /** Of marks without a colour of their own. */
  color?: string;
  /** Around names, so that they can be read over lines: the page's own colour. */
  halo?: string;
}

export type CsvErrorKind =
  | "network"
  | "status"
  | "html"
  | "size"
  | "encoding"
  | "empty"
  | "syntax"
  | "ragged"
  | "header"
  | "number"
  | "ambiguous"
  | "options";

export class CsvError extends Error {
  constructor(
    reason: string,
    details?: Partial<Pick<CsvError, "url" | "row" | "column" | "kind" | "status">> & { cause?: unknown },
  );
  readonly reason: string;
  readonly url: string | null;
  readonly row: number | null;
  readonly column: number | null;
  readonly kind: CsvErrorKind;
  readonly status: number | null;
  in(url: string): CsvError;
}

/** What the plugin knows of one chart. */
export interface CsvController {
  readonly model: Model | null;
  readonly entries: Entry[];
  readonly error: CsvError | null;
  readonly url: string | null;
  readonly ready: Promise<boolean>;
  readonly settings: Required<CsvOptions>;
  /** How the y axis is drawn now. */
  readonly scale: "log" | "linear";
  /** By series name, while they are shown. */
  readonly runs: Map<string, Run[]> | null;
  readonly runsError: Error | null;
  readonly overlaid: boolean;
  readonly overlayError: Error | null;
  refresh(): Promise<boolean>;
  restyle(): void;
  change(
    options: Partial<Pick<CsvOptions, "series" | "shown" | "scale" | "range" | "runs" | "overlay">>,
  ): Promise<boolean>;
}

/** `detail` of the events `chart-csv:ready`, `chart-csv:updated` and `chart-csv:error` on the canvas. */
export interface CsvEventDetail {
  src: string | null;
  model: Model | null;
  chart: AnyChart | null;
  error?: Error;
}

export const ChartCsv: Plugin<ChartType, CsvOptions> & { id: "csv"; defaults: CsvOptions };
export default ChartCsv;
export const EndLabels: Plugin<ChartType, LabelOptions> & { id: "csvLabels"; defaults: LabelOptions };
export const Marks: Plugin<ChartType, MarkOptions> & { id: "csvMarks"; defaults: MarkOptions };
export class Log2Scale extends Scale {
  static readonly id: "log2";
  static readonly defaults: NonNullable<ChartComponent["defaults"]>;
}
export const PALETTE: SeriesStyle[];

/** Undefined where the plugin is off. */
export function csvOf(chart: AnyChart): CsvController | undefined;
export function parseCsv(text: string): string[][];
export function readModel(text: string, options?: ReadingOptions): Model;
/** Runs by the chart's name and the series' name. */
export function readRuns(text: string): Map<string, Map<string, Run[]>>;
export function joinCompanions(
  model: Model,
  companions: { low?: Model | null; high?: Model | null; n?: Model | null },
): Model;
export function withSeries(model: Model, names: string[] | null): Model;
export function seriesNames(attribute: string | null | undefined): string[] | null;
export function companionUrl(url: string, suffix: string): string;
/** The file with the runs behind the points of a chart and of those beside it. */
export function runsUrl(url: string): string;
/** The chart's own file that a companion belongs to; of any other file itself, with suffix "". */
export function ownerOf(url: string): { url: string; suffix: string };
export function loadText(
  url: string,
  options?: { signal?: AbortSignal; maxBytes?: number; fetch?: typeof fetch },
): Promise<string>;
export function loadModel(
  url: string,
  options?: {
    bands?: Bands;
    reading?: ReadingOptions;
    signal?: AbortSignal;
    maxBytes?: number;
    fetch?: typeof fetch;
  },
): Promise<{ model: Model; text: string }>;
export function formatSize(bytes: number): string;
export function formatTick(value: number, unit?: Unit | null, format?: Format): string;
export function formatValue(value: number | null, unit?: Unit | null, format?: Format): string;
export function describePoint(point: Point, options?: Format & { yUnit?: Unit | null }): string;
export function describeX(
  x: number | string,
  model: Model,
  settings: Format & { xUnit?: Unit | null },
): string;
export function styleOf(
  name: string,
  options?: { styles?: Record<string, Partial<SeriesStyle>>; palette?: SeriesStyle[] },
): SeriesStyle;
export function resolveColor(element: HTMLElement, value: string): string;
export function summarize(
  model: Model,
  options?: Format & {
    type?: string;
    title?: string | null;
    xUnit?: Unit | null;
    yUnit?: Unit | null;
    xTitle?: string | null;
    yTitle?: string | null;
    second?: string | null;
    /** What else is to be said at the end. */
    notes?: (string | null | false)[];
  },
): string;

/** A chart as it is shown, for its table. */
export interface ShownChart {
  heading: string | null;
  quantity: string | null;
  model: Model;
  shown: string[];
  axes: Format & { xLabel: string | null; xUnit: Unit | null; yUnit: Unit | null };
  /** False if each point is one observation, so that its count says nothing. */
  counted?: boolean;
}

export interface DataTable {
  caption: string;
  /** Of a table without the details of its cells. */
  valuesCaption: string;
  /** The columns of each chart. */
  groups: { title: string; columns: string[] }[];
  xLabel: string;
  rows: { title: string; cells: { value: number | null; text: string; detail: string | null }[] }[];
}

export function tablesOf(charts: ShownChart[], options?: { maxRows?: number }): DataTable[];
export function drawTable(
  table: DataTable,
  options?: { document?: Document; details?: boolean },
): HTMLTableElement;
export function toHtmlTable(
  model: Model,
  options?: Format & {
    document?: Document;
    caption?: string;
    xUnit?: Unit | null;
    yUnit?: Unit | null;
    xTitle?: string | null;
    details?: boolean;
    maxRows?: number;
  },
): HTMLTableElement;

export type Log2ScaleOptions = CartesianScaleOptions & {
  suggestedMin?: number;
  suggestedMax?: number;
  ticks: { values?: number[]; maxTicksLimit?: number };
};

declare module "chart.js" {
  interface PluginOptionsByType<TType extends ChartType> {
    csv?: CsvOptions | false;
    csvLabels?: LabelOptions | false;
    csvMarks?: MarkOptions | false;
  }
  interface CartesianScaleTypeRegistry {
    log2: { options: Log2ScaleOptions };
  }
}
