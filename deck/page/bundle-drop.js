/** Takes files that are dropped on the page, or chosen in its field: bundle-taking.js reads them. */

/** The page while a file is held over it, and the field in which one is chosen. */
const DROPPING = "dropping";
export const CHOOSER = "bundle-file";

/** @param {(file: File) => Promise<void>} take */
export function takeDropped(take, page = document) {
  const over = (isOver) => page.documentElement.classList.toggle(DROPPING, isOver);
  page.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    over(true);
  });
  page.addEventListener("dragleave", ({ relatedTarget }) => {
    if (relatedTarget === null) over(false);
  });
  page.addEventListener("drop", async (event) => {
    over(false);
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    // Without this the browser would leave the talk and open the file.
    event.preventDefault();
    await take(file);
  });
  page.addEventListener("change", async ({ target }) => {
    if (!target.matches?.(`input.${CHOOSER}`)) return;
    const [file] = target.files;
    if (file) await take(file);
    // The same file can be chosen again.
    target.value = "";
  });
}
