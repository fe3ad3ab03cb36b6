/** The command for readers to copy: `<div data-command><pre><code>npm start</code></pre></div>`. */

import { copyText } from "../page/copying.js";

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
    const button = place.ownerDocument.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the command");
    const status = place.ownerDocument.createElement("span");
    status.setAttribute("role", "status");
    button.addEventListener("click", async () => {
      const copied = await copyText(code.textContent);
      // If the browser refuses, select the text: one key press is left for the reader.
      if (!copied) getSelection().selectAllChildren(code);
      status.textContent = copied
        ? "Copied."
        : "Your browser blocked copying. The command is selected: press Ctrl-C (⌘-C).";
    });
    place.append(button, status);
  }
}
