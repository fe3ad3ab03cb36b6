/**
 * A message for the person at the screen, above the slides, that stays until the page is left.
 */

/**
 * Shows that the data set asked for cannot be shown, and which can.
 * @param {{problem: string, shown: string, available: string[]|null}} facts
 */
export function showDataSetProblem({ problem, shown, available }, page = document) {
  const notice = page.createElement("div");
  notice.className = "notice";
  notice.setAttribute("role", "alert");
  const lead = page.createElement("strong");
  lead.textContent = problem;
  notice.append(lead, ` The charts show “${shown}”. `);
  if (available?.length) {
    notice.append("Available: ");
    available.forEach((name, position) => {
      const link = page.createElement("a");
      link.href = `?data=${encodeURIComponent(name)}`;
      link.textContent = name;
      notice.append(...(position ? [", ", link] : [link]));
    });
    notice.append(".");
  } else {
    notice.append("This server offers no list of data sets.");
  }
  page.body.append(notice);
  return notice;
}
