/** Texts that verdicts choose: one text of each group is shown, whatever the data say. */

import { VERDICTS, parseWhen } from "../../../deck/text/verdict-text.js";
import { placeOf, problemsWith, verdictGroups } from "../text/segments.js";
import { problemIn } from "./chapters.js";
import { toDerive } from "./coverage.js";

/** `data-when` names a claim and verdicts that exist. */
export function verdictTexts({ slides, shipped, book }) {
  const claims = shipped.claims?.claims;
  return problemsWith(slides, "data-when", ({ "data-when": written }) => {
    const when = parseWhen(written);
    if (when === null)
      return [`data-when="${written}": write a claim and one or more of ${VERDICTS.join(", ")}`];
    const odd = when.verdicts.filter((verdict) => !VERDICTS.includes(verdict));
    const isUnknown = claims && !Object.hasOwn(claims, when.claim);
    return [
      ...odd.map((verdict) => `data-when: no verdict "${verdict}"; there are ${VERDICTS.join(", ")}`),
      ...(isUnknown
        ? [`data-when: there is no claim "${when.claim}"${toDerive(when.claim, book, shipped)}`]
        : []),
    ];
  });
}

/** The texts of a group cover each verdict exactly once. */
export function verdictGroupsCover({ slides }) {
  return slides.flatMap((slide) =>
    verdictGroups(slide).flatMap((members) => {
      const whens = members.map(({ attributes }) => parseWhen(attributes["data-when"]));
      // A text without a verdict is reported by verdictTexts.
      if (whens.includes(null)) return [];
      const verdicts = whens.flatMap((when) => when.verdicts);
      const missing = VERDICTS.filter((verdict) => !verdicts.includes(verdict));
      const twice = VERDICTS.filter((verdict) => verdicts.indexOf(verdict) !== verdicts.lastIndexOf(verdict));
      const { claim } = whens[0];
      return [
        ...(missing.length ? [`the texts on claim "${claim}" have none for: ${missing.join(", ")}`] : []),
        ...(twice.length
          ? [`the texts on claim "${claim}" have more than one for: ${twice.join(", ")}`]
          : []),
      ].map((message) => problemIn(slide, message, placeOf(slide, members[0], "data-when")));
    }),
  );
}
