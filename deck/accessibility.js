/** What reveal leaves to be mended for readers who do not see the slides. */

/**
 * reveal marks the whole deck as an application, which switches off the reading commands of screen readers:
 * the text of a slide could then only be heard, not read line by line.
 */
export function makeReadable(deck) {
  const root = deck.getRevealElement();
  root.removeAttribute("role");
  root.querySelector(".slides").setAttribute("role", "main");
  const name = (slide) => {
    if (slide) document.title = titleOf(slide);
  };
  const talk = document.title;
  const titleOf = (slide) => {
    const heading = slide.querySelector("h1, h2, h3")?.textContent.trim();
    return heading && heading !== talk ? `${heading} – ${talk}` : talk;
  };
  deck.on("slidechanged", ({ currentSlide }) => name(currentSlide));
  name(deck.getCurrentSlide());
}
