/** Made-up findings for the talk's own claims: the test chooses the verdict, and the figures fit it. */

/** The words of claims.json. */
export const VERDICTS = ["held", "refuted", "inconclusive", "not testable here", "not measured"];

/**
 * A claim with another verdict and conditions that match it.
 * @param {object} claim   as claims.json has it
 * @param {string} verdict
 * @param {{n?: number}} [blocks]   with one block there is no interval
 */
export function judged(claim, verdict, { n = 10 } = {}) {
  const conditions = Object.fromEntries(
    Object.entries(claim.conditions).map(([name, condition]) => [name, found(condition, verdict, n)]),
  );
  const reason = Object.values(conditions)[0]?.reason ?? `${claim.experiment} is not part of this data set`;
  return { ...claim, verdict, over_campaigns: "in this campaign", reason, conditions };
}

/** A claims document in which every claim has this verdict; those without conditions cannot have been measured. */
export function judgedAlike(document, verdict) {
  const claims = Object.entries(document.claims).map(([id, claim]) => [
    id,
    judged(claim, Object.keys(claim.conditions).length ? verdict : "not measured"),
  ]);
  return { ...document, claims: Object.fromEntries(claims) };
}

/** The fixture's verdicts; its other measurable claims are held. */
const FOUND = {
  "journal-4k-seq-write": "refuted",
  "journal-4k-write-little": "refuted",
  "journal-large-writes-halve": "inconclusive",
  "clients-scale": "not testable here",
};

/**
 * The claims.json of a made-up data set.
 * @param {object} original   a claims.json, for the claims themselves
 * @param {{dataSet: string, experiments: string[], blocks: number}} made   what the data set holds
 */
export function findings({ sources = {}, claims }, { dataSet, experiments, blocks }) {
  const verdictOf = (id, { experiment, conditions }) => {
    if (!experiments.includes(experiment) || Object.keys(conditions).length === 0) return "not measured";
    return blocks === 1 ? "inconclusive" : (FOUND[id] ?? "held");
  };
  const found = Object.entries(claims).map(([id, claim]) => {
    // As derive writes it: for an experiment that is not in the data set, no condition was judged.
    const conditions = experiments.includes(claim.experiment) ? claim.conditions : {};
    return [id, judged({ chart: null, ...claim, conditions }, verdictOf(id, claim), { n: blocks })];
  });
  return {
    schema_version: 2,
    data_set: dataSet,
    altered: false,
    method: { confidence: 0.95, equivalence_blocks: 10, blocks_for_verdict: 2 },
    sources,
    claims: Object.fromEntries(found),
  };
}

function found(condition, verdict, n) {
  const { region } = condition;
  const made = { ...condition, verdict, cells: [], blocks: {} };
  if (verdict === "not measured")
    return {
      ...made,
      estimate: null,
      low: null,
      high: null,
      n: 0,
      reason: "no block holds all of its cells",
    };
  if (condition.kind === "count") return { ...made, ...counted(region.low, verdict), n };
  const inside =
    region.low === null
      ? region.high / 1.3
      : region.high === null
        ? region.low * 1.3
        : Math.sqrt(region.low * region.high);
  const outside = region.high === null ? region.low / 1.7 : region.high * 1.7;
  const estimate = digits({ refuted: outside, inconclusive: region.high ?? region.low }[verdict] ?? inside);
  const interval =
    n > 1 ? { low: digits(estimate * 0.98), high: digits(estimate * 1.02) } : { low: null, high: null };
  return { ...made, estimate, ...interval, n, reason: `${estimate}, n = ${n}: made up to be ${verdict}` };
}

/** Counts compare exactly: any other number refutes, and with one block there is no verdict yet. */
function counted(claimed, verdict) {
  const estimate = verdict === "refuted" ? claimed + 2 : claimed;
  return { estimate, low: claimed, high: estimate, reason: `${estimate}: made up to be ${verdict}` };
}

function digits(value) {
  return Number(value.toPrecision(6));
}

/** Titles without text, and groups of texts in which none or several are chosen. */
export function groupProblems(id) {
  const slide = document.getElementById(id);
  const found = [...slide.querySelectorAll("h1, h2")]
    .filter((heading) => heading.innerText.trim() === "")
    .map(() => `${id}: the title is empty`);
  const claimOf = (element) => element?.dataset?.when?.split(/\s+/)[0];
  for (const first of slide.querySelectorAll("[data-when]")) {
    const claim = claimOf(first);
    if (claimOf(first.previousElementSibling) === claim) continue;
    const group = [first];
    while (claimOf(group.at(-1).nextElementSibling) === claim) group.push(group.at(-1).nextElementSibling);
    const chosen = group.filter((element) => !element.hasAttribute("hidden"));
    if (chosen.length !== 1) found.push(`${id}: ${chosen.length} texts for ${claim}: “${first.textContent}”`);
  }
  return found;
}
