import type { Chart, ChartDataset, FontSpec, Plugin, Scale, ScaleOptions } from "chart.js";

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

/** One run behind a point, as `X.runs.csv` has it. */
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

export interface CsvOptions {
  url?: string | null;
  text?: string | null;
  src?: string | null;
  bands?: Bands;
  series?: string[] | null;
  shown?: string[] | null;
  runs?: boolean;
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
  items?: Mark[] | ((chart: Chart) => Mark[]);
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
  chart: Chart | null;
  error?: Error;
}

export const ChartCsv: Plugin & { id: "csv"; defaults: CsvOptions };
export default ChartCsv;
export const EndLabels: Plugin & { id: "csvLabels"; defaults: LabelOptions };
export const Marks: Plugin & { id: "csvMarks"; defaults: MarkOptions };
export class Log2Scale extends Scale {}
export const PALETTE: SeriesStyle[];

export function csvOf(chart: Chart): CsvController | undefined;
export function parseCsv(text: string): string[][];
export function readModel(text: string): Model;
export function readRuns(text: string): Map<string, Run[]>;
export function joinCompanions(
  model: Model,
  companions: { low?: Model | null; high?: Model | null; n?: Model | null },
): Model;
export function withSeries(model: Model, names: string[] | null): Model;
export function seriesNames(attribute: string | null | undefined): string[] | null;
export function companionUrl(url: string, suffix: string): string;
export function loadText(
  url: string,
  options?: { signal?: AbortSignal; maxBytes?: number; fetch?: typeof fetch },
): Promise<string>;
export function loadModel(
  url: string,
  options?: { bands?: Bands; signal?: AbortSignal; maxBytes?: number; fetch?: typeof fetch },
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
  },
): string;
export function toHtmlTable(
  model: Model,
  options?: Format & {
    document?: Document;
    caption?: string;
    xUnit?: Unit | null;
    yUnit?: Unit | null;
    xTitle?: string | null;
    maxRows?: number;
  },
): HTMLTableElement;

declare module "chart.js" {
  interface PluginOptionsByType<TType extends ChartType> {
    csv?: CsvOptions | false;
    csvLabels?: LabelOptions | false;
    csvMarks?: MarkOptions | false;
  }
  interface CartesianScaleTypeRegistry {
    log2: { options: CartesianScaleOptions };
  }
}
