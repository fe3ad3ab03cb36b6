/** What slides may not contain, because it would run something, load another page, or change how all slides look. */

/** Elements that are removed besides scripts. */
export const REFUSED_ELEMENTS = ["iframe", "object", "embed", "form", "style", "link", "meta", "base"];

/** Attributes that make reveal open a frame. */
export const FRAME_ATTRIBUTES = ["data-background-iframe", "data-preview-link"];
