/** The command for readers to copy: `<div data-command><pre><code>npm start</code></pre></div>`. */

import { copyText } from "../page/copying.js";
import { button, element } from "../page/elements.js";

/** An address that needs no quotes in a shell. */
const PLAIN_ADDRESS = /^https?:\/\/[\w.~%+:@/-]+$/;

/** The command that clones the project and starts it; only the start command if the address is unknown. Pure. */
export function startCommand(repository) {
  return PLAIN_ADDRESS.test(repository)
    ? `git clone ${repository} replay && cd replay && npm start`
    : "npm start";
}

/** Writes the command into every such element below `page`, with a button that copies it. */
export function writeCommand(page, repository) {
  for (const place of page.querySelectorAll("[data-command]")) {
    const code = place.querySelector("code");
    code.textContent = startCommand(repository);
    const status = element(document, "span", { role: "status" });
    const copy = button(document, { "aria-label": "Copy the command" }, "Copy", async () => {
      const copied = await copyText(code.textContent);
      // If the browser refuses, select the text: one key press is left for the reader.
      if (!copied) getSelection().selectAllChildren(code);
      status.textContent = copied
        ? "Copied."
        : "Your browser blocked copying. The command is selected: press Ctrl-C (⌘-C).";
    });
    place.append(copy, status);
  }
}
