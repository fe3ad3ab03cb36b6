/** A small talk in its own folder, for tests of code that reads slides and data without a browser. */

import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import { stringify } from "yaml";

import { checkTalk } from "../../../scripts/deck/check/index.js";
import { temporaryFolder } from "../../support/folders.mjs";

/** What slides/talk/talk.yaml of such a talk says. */
export const TALK = {
  title: "A talk",
  description: "A talk for tests.",
  data_set: "reference",
  cuts: [{ minutes: 40 }, { minutes: 20 }],
  chapters: ["a.md"],
  accent: { light: "#c4500a", dark: "#e69f00" },
};
export const CHART = "benchmarks/reference/rbd-journaling/aggregate/iops-read-seq.csv";
/** A slide without a problem. */
export const GOOD = '<!-- .slide: id="one" data-timing="30" -->\n# One\n\n<!-- Note -->\nWords.\n';

/** A slide with this in its body, and this in its note. The body begins in line 2, the note in line 5. */
export function slideWith(body, note = "Words.") {
  return GOOD.replace("# One", () => body).replace("Words.", () => note);
}

export const MANIFEST = {
  label: "Sandbox",
  setup: { osds: 3, object_store: null },
  experiments: {
    "rbd-journaling": {
      factors: { io_size_bytes: [4096, 4194304] },
      parameters: { io_threads: 16, image_size_bytes: 1073741824 },
      charts: { "iops-read-seq": { n: 6 } },
    },
  },
};

/** A claims.json with these claims, each held unless stated otherwise. */
export function claimsWith(claims = {}) {
  const usual = {
    sentence: "Writes are slower.",
    source: "S0",
    verdict: "held",
    reason: "inside",
    chart: null,
    conditions: { ratio: { estimate: 2.084, low: 1.9, high: 2.26, n: 6, verdict: "held" } },
  };
  return {
    schema_version: 2,
    method: { confidence: 0.95, equivalence_blocks: 10, blocks_for_verdict: 2 },
    sources: { S0: { title: "A talk" }, S1: { title: "Another" } },
    claims: Object.fromEntries(Object.entries(claims).map(([id, more]) => [id, { ...usual, ...more }])),
  };
}

/**
 * Makes the talk: one chapter, slides/talk/a.md, and its data set, with one chart.
 * @param {{after: Function}} context   of the test, at whose end it is removed
 * @returns {Promise<{root: string, benchmarks: string, save: Function, state: Function, saveData: Function,
 *                    problemsOf: Function, check: Function}>}
 */
export async function makeTalk(context) {
  const root = temporaryFolder(context);
  const benchmarks = path.join(root, "benchmarks");
  const talk = {
    root,
    benchmarks,

    async save(name, text) {
      const file = path.join(root, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    },

    /** Writes slides/talk/talk.yaml with these keys instead of, or beside, the usual ones. */
    state: (changes = {}) => talk.save("slides/talk/talk.yaml", stringify({ ...TALK, ...changes })),

    /** Writes a data set's two documents; null for no such file. */
    async saveData({ manifest = MANIFEST, claims = claimsWith() } = {}, name = "reference") {
      for (const [document, content] of Object.entries({ manifest, claims })) {
        const file = `benchmarks/${name}/${document}.json`;
        if (content === null) await rm(path.join(root, file), { force: true });
        else await talk.save(file, JSON.stringify(content));
      }
    },

    check: (data = null) => checkTalk({ root, benchmarks, data }),

    /** The problems of the talk with this chapter, and with its own data or others, as `file:line: message`. */
    async problemsOf(chapter, data = null) {
      await talk.save("slides/talk/a.md", chapter);
      const { problems } = await talk.check(data);
      return problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
    },
  };
  await talk.state();
  await talk.save("config/experiments/rbd-journaling.yaml", "name: rbd-journaling\n");
  await talk.save(CHART, "I/O size,4096\nA,1\n");
  await talk.saveData();
  return talk;
}
