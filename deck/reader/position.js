/** A slide's position in the talk, in words. */

/** @param {object} deck   reveal */
export function positionWords(deck) {
  const slide = deck.getCurrentSlide();
  if (!slide) return "";
  return wordsOf({
    chapter: chapterOf(slide),
    number: deck.getSlidePastCount() + 1,
    of: deck.getTotalSlides(),
    appendix: slide.closest('[data-visibility="uncounted"]') !== null,
  });
}

/** Pure. */
export function wordsOf({ chapter, number, of, appendix }) {
  const place = appendix ? "Appendix" : `${number} of ${of}`;
  if (appendix && chapter.startsWith(place)) return chapter;
  return chapter ? `${chapter} · ${place}` : place;
}

/** The chapter of a slide: the last one named up to it. */
function chapterOf(slide) {
  const named = [...slide.closest(".slides").querySelectorAll("section[data-chapter]")];
  const isBefore = (section) => section.compareDocumentPosition(slide) & Node.DOCUMENT_POSITION_FOLLOWING;
  return named.findLast((section) => section === slide || isBefore(section))?.dataset.chapter ?? "";
}
