/** Which claims a chart asks for. Pure. */

/**
 * The claims that a chart asks for: `data-chart-claims="cache on = CLAIM.CONDITION | CLAIM"`, or with `data-release-claims` their
 * ids alone. Without a condition it is the one that decided the verdict; without a label, the claim's sentence. `1 / CLAIM` is its
 * quotient the other way round, such as the speed that belongs to a time.
 * @param {{chartClaims?: string, releaseClaims?: string}} dataset   of a canvas
 * @returns {{label: string|null, id: string, condition: string|null, isInverse?: boolean}[]}
 */
export function wantedClaims({ chartClaims, releaseClaims }) {
  const parts = chartClaims ? chartClaims.split("|") : (releaseClaims ?? "").split(/\s+/);
  return parts
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) => {
      const equals = part.lastIndexOf("=");
      const [, inverse, name] = /^(1\s*\/)?\s*(.*)$/.exec(part.slice(equals + 1).trim());
      const [id, condition = null] = name.split(".");
      const label = equals < 0 ? null : part.slice(0, equals).trim();
      return { label, id, condition, ...(inverse && { isInverse: true }) };
    });
}
