/**
 * Fetches the chapters that index.html names and gives their text to reveal's Markdown plugin.
 *
 * The plugin could fetch them itself, but would then report a missing chapter as "fetch undefined failed", and turn a file
 * with CRLF line ends into one endless slide.
 */

/**
 * Fills every `<section data-markdown="FILE">` below `root`. Chapters are fetched together.
 * @returns {Promise<string[]>} the files that could not be read
 */
export async function loadChapters(root, fetchFile = (...args) => fetch(...args)) {
  const sections = [...root.querySelectorAll("section[data-markdown]")].filter((section) =>
    section.getAttribute("data-markdown"),
  );
  const outcomes = await Promise.all(sections.map((section) => fillChapter(section, fetchFile)));
  return outcomes.filter((file) => file !== null);
}

async function fillChapter(section, fetchFile) {
  const file = section.getAttribute("data-markdown");
  try {
    const text = await readChapter(file, fetchFile);
    const template = document.createElement("textarea");
    template.setAttribute("data-template", "");
    template.textContent = text;
    section.replaceChildren(template);
    section.setAttribute("data-markdown", "");
    return null;
  } catch (error) {
    section.replaceChildren(errorSlide(file, error));
    section.removeAttribute("data-markdown");
    return file;
  }
}

async function readChapter(file, fetchFile) {
  let response;
  try {
    response = await fetchFile(file, { cache: "no-cache" });
  } catch {
    throw new Error("the server did not answer");
  }
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  if ((response.headers.get("content-type") ?? "").includes("text/html"))
    throw new Error("the server answered with a page instead of the file");
  const text = normaliseChapter(await response.text());
  if (text.trim() === "") throw new Error("the file is empty");
  return text;
}

/**
 * Normalises a chapter: LF line ends, no byte order mark, no blank lines at either end (they would become empty slides), and
 * script end tags as the Markdown plugin expects them: it keeps each slide in a script element, which another spelling would
 * end.
 */
export function normaliseChapter(text) {
  return text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .replace(/<\/script(?:>|[\s/][^>]*(?:>|$))/gi, "</script>")
    .replace(/^\n+|\s+$/g, "");
}

function errorSlide(file, error) {
  const box = document.createElement("div");
  box.className = "chapter-error";
  box.setAttribute("role", "alert");
  const title = document.createElement("h2");
  title.textContent = "A chapter is missing";
  const detail = document.createElement("p");
  detail.textContent = `${file}: ${error.message}.`;
  box.append(title, detail);
  return box;
}
