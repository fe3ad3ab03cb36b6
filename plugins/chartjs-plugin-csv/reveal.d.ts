import type { Chart, ChartOptions } from "chart.js";
import type { CsvOptions, Model, SeriesStyle } from "./index.js";

export type ChartKind = "line" | "bar" | "scatter";

export interface RevealChartCsvOptions {
  resolve?: (src: string) => string;
  styles?: Record<string, Partial<SeriesStyle>>;
  palette?: SeriesStyle[];
  options?: ChartOptions;
  chartOptions?: (kind: ChartKind, src: string | null) => ChartOptions | null | Promise<ChartOptions | null>;
  labelFor?: (src: string | null, model: Model) => string | Node | null | Promise<string | Node | null>;
  prefetch?: number;
  limit?: number;
  height?: number;
}

/** One canvas of the deck, with or without a live chart. */
export interface ChartSlot {
  readonly canvas: HTMLCanvasElement;
  readonly box: HTMLElement;
  readonly caption: HTMLElement | null;
  readonly kind: ChartKind;
  readonly src: string | null;
  readonly url: string | null;
  readonly chart: Chart | null;
  readonly model: Model | null;
  readonly error: Error | null;
  readonly settings: Required<CsvOptions> | null;
  readonly ready: Promise<unknown>;
  reads(url: string): boolean;
  refresh(): Promise<boolean>;
  restyle(): void;
}

export interface RevealChartCsvPlugin {
  id: "chart-csv";
  readonly charts: Map<HTMLCanvasElement, ChartSlot>;
  init(deck: unknown): void;
  destroy(): void;
  ready(): Promise<void>;
  refresh(predicate?: (slot: ChartSlot) => boolean): Promise<void>;
  restyle(): void;
}

export function RevealChartCsv(options?: RevealChartCsvOptions): RevealChartCsvPlugin;
export default RevealChartCsv;
