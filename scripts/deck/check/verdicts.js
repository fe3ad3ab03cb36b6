/** Texts that verdicts choose: one text of each group is shown, whatever the data say. */

import { VERDICTS, parseWhen } from "../../../deck/text/verdict-text.js";
import { elementsWith, placeOf, verdictGroups } from "../text/segments.js";
import { lineIn } from "./chapters.js";

/** `data-when` names a claim and verdicts that exist. */
export function verdictTexts({ slides, shipped }) {
  const claims = shipped.claims?.claims;
  return slides.flatMap((slide) =>
    [...elementsWith(slide, "data-when")].flatMap((element) => {
      const written = element.attributes["data-when"];
      const at = { file: slide.file, line: lineIn(slide, placeOf(slide, element, "data-when")) };
      const when = parseWhen(written);
      if (when === null)
        return [
          {
            ...at,
            message: `data-when="${written}": write a claim and one or more of ${VERDICTS.join(", ")}`,
          },
        ];
      const odd = when.verdicts.filter((verdict) => !VERDICTS.includes(verdict));
      return [
        ...odd.map((verdict) => `data-when: no verdict "${verdict}"; there are ${VERDICTS.join(", ")}`),
        ...(claims && !Object.hasOwn(claims, when.claim)
          ? [`data-when: there is no claim "${when.claim}"`]
          : []),
      ].map((message) => ({ ...at, message }));
    }),
  );
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
      ].map((message) => ({
        file: slide.file,
        line: lineIn(slide, placeOf(slide, members[0], "data-when")),
        message,
      }));
    }),
  );
}
