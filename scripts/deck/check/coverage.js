/** What the talk must speak of: every claim, every chart of a claim; and where each chart comes from. */

import { partsOf } from "../../../deck/data/data-set.js";
import { chartEntry } from "../../../deck/data/provenance.js";
import { boundElements, elementsWith } from "../text/segments.js";
import { problemIn } from "./chapters.js";
import { addressesOf, chartsOf, isAwaited } from "./charts-of.js";

/** Every claim that the talk must discuss is spoken of: by a bound value, by a text that it chooses, or in a table of claims. */
export function claimsSpoken({ slides, shipped, stated }) {
  const spoken = new Set(slides.filter(({ front }) => !front).flatMap((slide) => [...claimsOf(slide)]));
  // A table that names no claim lists them all.
  if (spoken.has("")) return [];
  return claimsIn(shipped, stated)
    .filter(([id]) => !spoken.has(id))
    .map(([id]) => ({
      ...placeOfClaim(id, stated),
      message: `no slide speaks of claim "${id}"; bind a value to it, or list it in a data-claims table`,
    }));
}

/** The claims that the talk says it discusses exist. */
export function claimsStated({ shipped, stated, book }) {
  if (stated.claims === null || shipped.claims === null) return [];
  return stated.claims
    .filter((id) => !Object.hasOwn(shipped.claims.claims ?? {}, id))
    .map((id) => ({
      ...placeOfClaim(id, stated),
      message: `claims.json of "${shipped.name}" has no claim "${id}"${toDerive(id, book, shipped)}`,
    }));
}

/** What writes a claim into claims.json, if somebody has written it into config/claims.yaml since. */
export function toDerive(id, book, { name }) {
  return book.some((claim) => claim.id === id) ? `; write it with: ./replay derive --data ${name}` : "";
}

/** The chart that such a claim names is drawn. */
export function claimsDrawn({ slides, shipped, stated }) {
  const drawn = new Set(
    slides.flatMap((slide) =>
      chartsOf(slide)
        .flatMap((chart) => addressesOf(chart).map(partsOf))
        .map((parts) => (parts ? `${parts.experiment}/${parts.chart}` : null)),
    ),
  );
  return claimsIn(shipped, stated)
    .filter(([, { chart }]) => chart && !drawn.has(chart))
    .map(([id, { chart }]) => ({
      ...placeOfClaim(id, stated),
      message: `claim "${id}" names the chart ${chart}, which no slide draws`,
    }));
}

/** The manifest of the shipped data set says where each of its charts on slides comes from. */
export function chartSources({ slides, shipped }) {
  const { name, manifest } = shipped;
  if (manifest === null) return [];
  return slides.flatMap((slide) =>
    chartsOf(slide)
      .filter(({ parts }) => parts?.chart && parts.dataSet === name)
      .filter(({ src }) => chartEntry(src, manifest) === null)
      .filter(({ element, parts }) => !isAwaited(element, parts.experiment, shipped))
      .map(({ element, parts }) =>
        problemIn(
          slide,
          `the manifest of "${name}" does not list the chart ${parts.experiment ?? "csv"}/${parts.chart}: nothing says where it comes from`,
          element.start,
        ),
      ),
  );
}

/** The claims that a slide speaks of; "" for a table of all. */
function* claimsOf(slide) {
  for (const { attributes } of boundElements(slide)) yield attributes.value.trim().split(".")[0] || null;
  for (const { attributes } of elementsWith(slide, "data-when"))
    yield attributes["data-when"].trim().split(/\s+/)[0] || null;
  for (const { attributes } of elementsWith(slide, "data-claims"))
    yield* attributes["data-claims"].trim().split(/\s+/);
}

/** Where talk.yaml says that the talk discusses a claim. */
function placeOfClaim(id, { claims, file, lineOf }) {
  return { file, line: claims === null ? lineOf("claims") : lineOf("claims", claims.indexOf(id)) };
}

function claimsIn({ claims }, stated) {
  const all = Object.entries(claims?.claims ?? {});
  return stated.claims === null ? all : all.filter(([id]) => stated.claims.includes(id));
}
