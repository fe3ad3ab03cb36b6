/** A table of claims by release: its claims exist, and what a newer release says of an older one is still so. */

import { elementsWith, problemsWith } from "../text/segments.js";

/** The two sides of a comparison, by their names in releases.json. */
const SIDES = ["data_set", "against"];

/** The claims that such a table lists exist. */
export function releaseClaims({ slides, shipped }) {
  const known = shipped.claims?.claims;
  if (!known) return [];
  return problemsWith(slides, "data-releases", ({ "data-release-claims": ids }) =>
    words(ids)
      .filter((id) => !Object.hasOwn(known, id))
      .map((id) => `data-release-claims: claims.json of "${shipped.name}" has no claim "${id}"`),
  );
}

/** Where releases.json repeats an estimate, it is the one that both data sets have now. */
export function releasesCurrent({ beside }) {
  return [...beside].flatMap(([name, { releases }]) =>
    Object.entries(releases?.against ?? {}).flatMap(([older, { claims }]) => {
      const stale = Object.entries(claims ?? {}).some(([id, { conditions }]) =>
        Object.entries(conditions).some(([condition, sides]) =>
          SIDES.some((side) => {
            const now = beside.get(side === "against" ? older : name)?.claims?.claims?.[id];
            return sides[side] && now?.conditions?.[condition]?.estimate !== sides[side].estimate;
          }),
        ),
      );
      if (!stale) return [];
      return [
        {
          file: `benchmarks/${name}/releases.json`,
          line: 1,
          message: `compares with other figures than those of "${older}" now; write it again with: ./replay derive --data ${name}`,
        },
      ];
    }),
  );
}

/** The data sets that such tables show. */
export function releasesOn(slides) {
  const named = slides.flatMap((slide) =>
    [...elementsWith(slide, "data-releases")].flatMap(({ attributes }) => words(attributes["data-releases"])),
  );
  return [...new Set(named)];
}

function words(text) {
  return (text ?? "").split(/\s+/).filter(Boolean);
}
