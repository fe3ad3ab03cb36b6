/**
 * Bound values: each names something that exists, and the text written on the slide agrees with the shipped data.
 * The rules get the talk as `checkTalk` gathers it; a problem with a `fix` can be corrected by rewriting the literal.
 */

import { follow } from "../../../deck/data/follow.js";
import { CLAIM_FIELDS, CONDITION_PARTS, COUNT_PARTS, isCount } from "../../../deck/data/claims.js";
import { isObject } from "../../../deck/data/manifests.js";
import { ANSWER } from "../data-sets.js";
import { boundElements, dataElements } from "../text/segments.js";
import { textOf } from "../text/tree.js";
import { escapeText } from "../text/escape.js";
import { isDenied } from "./charts-of.js";
import { problemIn } from "./chapters.js";

/** Computed from the manifest rather than a path in it. */
const COMPUTED = new Set(["manifest.measured"]);

/**
 * The shipped data set has the files that literals and findings are checked against. A talk that discusses no claim needs
 * none.
 */
export function shippedData({ shipped: { name, manifest, claims }, stated }) {
  const problem = (file, what) => ({
    file: `benchmarks/${name}/${file}`,
    line: 1,
    message: `${what}; write it with: ./replay derive --data ${name}`,
  });
  return [
    ...(manifest === null ? [problem("manifest.json", "the data set that ships has no manifest.json")] : []),
    ...(claims === null && stated?.claims?.length !== 0
      ? [problem("claims.json", "the data set that ships has no claims.json")]
      : []),
    ...(claims !== null && !isObject(claims.sources) ? [problem("claims.json", "names no sources")] : []),
  ];
}

/** A bound value names something in the shipped data, and has its own text. */
export function boundValues({ slides, shipped, literal }) {
  return slides.flatMap((slide) =>
    [...dataElements(slide)].flatMap((element) => {
      // Another data set need not know what its verdicts hide.
      if (!literal && isDenied(element, shipped.claims)) return [];
      const { value = "" } = element.attributes;
      const problem = (message) => [problemIn(slide, message, element.start)];
      if (value.trim() === "") return problem("<data> without a value");
      if (textOf(element).trim() === "")
        return problem(`<data value="${value}"> has no text to fall back on`);
      const why = whyUnknown(value, shipped);
      return why === null ? [] : problem(`value "${value}": ${why}`);
    }),
  );
}

/** The literal on the slide is the text from the shipped data. */
export function staleLiterals({ slides, shipped, words, altered }) {
  // What derive did not write must not get from a file into the slides.
  const trusted = !Object.hasOwn(altered, shipped.name);
  return slides.flatMap((slide) =>
    [...boundElements(slide)].flatMap((element) => {
      const { value } = element.attributes;
      const literal = plain(textOf(element));
      if (value.trim() === "" || literal === "" || !answers(value, shipped)) return [];
      const right = plain(words.resolve(value) ?? words.absent(value));
      if (literal === right) return [];
      const message = `"${value}" says "${literal}", but the data of "${shipped.name}" say "${right}"`;
      const fix = {
        from: slide.start + element.innerStart,
        to: slide.start + element.innerEnd,
        was: slide.text.slice(element.innerStart, element.innerEnd),
        text: escapeText(right),
      };
      return [{ ...problemIn(slide, message, element.start), ...(trusted && { fix }) }];
    }),
  );
}

/**
 * Why a value names nothing in the data.
 * @param {string} value
 * @param {{name: string, manifest: object|null, claims: object|null, answer?: object|null}} shipped
 * @returns {string|null} null if it names something, or if the file that would know is missing
 */
export function whyUnknown(value, { name, manifest, claims, answer }) {
  const words = value.trim().split(".");
  if (words.includes("")) return "write it as <source>.<path>";
  const [first, ...path] = words;
  if (first === "manifest") return manifest && notIn(manifest, value, path, `the manifest of "${name}"`);
  if (first === "design") return manifest && notInDesign(manifest, path);
  if (first === "method")
    return claims && notIn(claims.method ?? {}, value, path, `the method in claims.json of "${name}"`);
  if (first === "answer") return answer ? notInAnswer(answer, path) : `"${name}" has no ${ANSWER}`;
  return claims && notInClaims(claims, first, path);
}

/** Whether the data have the file for a value, and the value in it. */
function answers(value, shipped) {
  const fromManifest = /^(?:manifest|design)\./.test(value);
  return (fromManifest ? shipped.manifest : shipped.claims) !== null && whyUnknown(value, shipped) === null;
}

function notIn(document, value, path, place) {
  if (COMPUTED.has(value)) return null;
  const target = follow(document, path);
  if (path.length === 0 || target === undefined) {
    const known = [...path.keys()]
      .map((length) => follow(document, path.slice(0, length)))
      .findLast(isObject);
    return `${place} has no ${path.join(".") || "such value"}${listed(Object.keys(known ?? document))}`;
  }
  return isObject(target) ? `${path.join(".")} is no single value${listed(Object.keys(target))}` : null;
}

function notInDesign({ experiments = {} }, [experiment = "", ...path]) {
  const names = Object.keys(experiments);
  if (!names.includes(experiment)) return `there is no experiment "${experiment}"${listed(names)}`;
  const design = experiments[experiment].parameters;
  if (!isObject(design)) return `the manifest does not record the design of ${experiment}; derive it again`;
  return notIn(design, "", path, `the recorded design of ${experiment}`);
}

function notInAnswer({ modes }, [mode = "", column = "", ...more]) {
  const row = modes.find(({ name }) => name === mode);
  if (!row) return `${ANSWER} has no mode "${mode}"${listed(modes.map(({ name }) => name))}`;
  if (column === "" || more.length > 0) return "write it as answer.<mode>.<column>";
  return Object.hasOwn(row, column) ? null : `${ANSWER} has no column "${column}"`;
}

function notInClaims({ claims = {} }, id, [name, part, ...more]) {
  if (!Object.hasOwn(claims, id)) return `there is no claim "${id}", and no source of values of that name`;
  const conditions = claims[id].conditions ?? {};
  const names = [...Object.keys(conditions), ...CLAIM_FIELDS];
  if (name === undefined) return `name a part of claim "${id}"${listed(names)}`;
  if (!names.includes(name)) return `claim "${id}" has no condition "${name}"${listed(names)}`;
  if (part === undefined) return null;
  if (!Object.hasOwn(conditions, name) || more.length > 0) return `"${name}" has no part "${part}"`;
  const [what, parts] = isCount(conditions[name]) ? ["count", COUNT_PARTS] : ["condition", CONDITION_PARTS];
  return parts.includes(part) ? null : `a ${what} has no "${part}"${listed(parts)}`;
}

function listed(names) {
  return names.length ? `; there ${names.length === 1 ? "is" : "are"} ${names.join(", ")}` : "";
}

/** Folds blanks and line ends of the source; a thin space within a number is part of it. */
function plain(text) {
  return text.replace(/[ \t\r\n]+/g, " ").trim();
}
