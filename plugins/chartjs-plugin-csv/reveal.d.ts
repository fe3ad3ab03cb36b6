import type { ChartOptions, ChartType } from "chart.js";
import type { AnyChart, CsvOptions, Mark, Model, Range, SeriesStyle } from "./index.js";

/** line, bar and scatter; further types when the page registered them. */
export type ChartKind = ChartType;

export interface RevealChartCsvOptions {
  resolve?: (src: string) => string;
  styles?: Record<string, Partial<SeriesStyle>>;
  palette?: SeriesStyle[];
  options?: ChartOptions;
  chartOptions?: (
    kind: ChartKind,
    src: string | null,
    slot: ChartSlot,
  ) => ChartOptions | null | Promise<ChartOptions | null>;
  marks?: (slot: ChartSlot) => Mark[] | null;
  labelFor?: (src: string | null, model: Model) => string | Node | null | Promise<string | Node | null>;
  summaryFor?: (slot: ChartSlot) => string | null | undefined;
  fetch?: typeof fetch;
  alignIn?: string;
  shareIn?: string;
  prefetch?: number;
  limit?: number;
  height?: number;
}

/** What a reader chose of a chart. */
export interface ChartChoice {
  shown: string[] | null;
  scale: "log" | "linear" | null;
  runs: boolean;
  range: Range | null;
  used: { src?: string; text?: string; series?: string[] } | null;
  overlay: { src: string; label: string } | null;
}

/** One canvas of the deck, with or without a live chart. */
export interface ChartSlot {
  readonly canvas: HTMLCanvasElement;
  readonly box: HTMLElement;
  readonly caption: HTMLElement | null;
  readonly slide: HTMLElement | null;
  readonly kind: ChartKind;
  readonly own: string | null;
  readonly src: string | null;
  readonly url: string | null;
  readonly chart: AnyChart | null;
  readonly model: Model | null;
  readonly shownModel: Model | null;
  readonly error: Error | null;
  readonly runsError: Error | null;
  readonly overlayError: Error | null;
  readonly settings: Required<CsvOptions> | null;
  readonly scale: "log" | "linear" | null;
  readonly state: ChartChoice;
  readonly drawn: boolean;
  /** Whether `resolve` says by now that the file is elsewhere. */
  readonly moved: boolean;
  readonly ready: Promise<unknown>;
  reads(url: string): boolean;
  refresh(): Promise<boolean>;
  restyle(): void;
  resize(): void;
  setShown(names: string[] | null): void;
  setScale(scale: "log" | "linear" | null): void;
  setRange(range: Range | null): void;
  showRuns(shown: boolean): Promise<boolean>;
  overlay(second: { src: string; label: string } | null): Promise<boolean>;
  use(other: { src?: string; text?: string; series?: string[] } | null): Promise<void>;
  describe(): Promise<void>;
  settled(): Promise<void>;
}

export interface RevealChartCsvPlugin {
  id: "chart-csv";
  readonly charts: Map<HTMLCanvasElement, ChartSlot>;
  // reveal.js 4 to 6 type their decks differently, or not at all.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  init(deck: any): void;
  destroy(): void;
  ready(): Promise<void>;
  refresh(predicate?: (slot: ChartSlot) => boolean): Promise<void>;
  readWith(fetch: typeof globalThis.fetch | null): void;
  restyle(): void;
}

export function RevealChartCsv(options?: RevealChartCsvOptions): RevealChartCsvPlugin;
export default RevealChartCsv;
