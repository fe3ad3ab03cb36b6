/**
 * A message for the person at the screen, above the slides, that stays until the page is left.
 */

/**
 * Shows that the data set asked for cannot be shown, and which can.
 * @param {{problem: string, shown: string, available: string[]|null, frozen?: boolean}} facts
 *   frozen: the talk shows one data set only, so that there is nothing to choose from
 */
export function showDataSetProblem({ problem, shown, available, frozen = false }, page = document) {
  return showNotice(problem, frozen ? [] : choice(shown, available, page), page);
}

/**
 * Shows what is wrong, and what can be done about it.
 * @param {string} problem
 * @param {(Node|string)[]} remedy
 */
export function showNotice(problem, remedy = [], page = document) {
  const notice = page.createElement("div");
  notice.className = "notice";
  notice.setAttribute("role", "alert");
  const lead = page.createElement("strong");
  lead.textContent = problem;
  notice.append(lead, ...remedy);
  page.body.append(notice);
  return notice;
}

/** What is shown instead, and links to what could be. */
function choice(shown, available, page) {
  const parts = [` The charts show “${shown}”. `];
  if (!available?.length) return [...parts, "This server offers no list of data sets."];
  parts.push("Available: ");
  available.forEach((name, position) => {
    const link = page.createElement("a");
    link.href = `?data=${encodeURIComponent(name)}`;
    link.textContent = name;
    parts.push(...(position ? [", ", link] : [link]));
  });
  return [...parts, "."];
}
