/** What reveal leaves to be mended for readers who do not see the slides. */

import { chosenText } from "./verdict-text.js";

/**
 * reveal marks the whole deck as an application, which switches off the reading commands of screen readers:
 * the text of a slide could then only be heard, not read line by line.
 * The page's title becomes that of the slide.
 * @returns {() => void} call it when a slide's title may have changed
 */
export function makeReadable(deck) {
  const root = deck.getRevealElement();
  root.removeAttribute("role");
  root.querySelector(".slides").setAttribute("role", "main");
  const talk = document.title;
  const titleOf = (slide) => {
    const element = slide.querySelector("h1, h2, h3");
    const heading = element && chosenText(element);
    return heading && heading !== talk ? `${heading} – ${talk}` : talk;
  };
  const name = () => {
    const slide = deck.getCurrentSlide();
    if (slide && document.title !== titleOf(slide)) document.title = titleOf(slide);
  };
  deck.on("slidechanged", name);
  name();
  return name;
}
