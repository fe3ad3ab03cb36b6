/** The one command that a reader copies: `<div data-command><pre><code>npm start</code></pre></div>`. */

import { copyText } from "../page/copying.js";

/** An address that can stand in a shell without quotes. */
const PLAIN_ADDRESS = /^https?:\/\/[\w.~%+:@/-]+$/;

/** The command that gets the project and starts it; without a known address, the one that starts it. Pure. */
export function startCommand(repository) {
  return PLAIN_ADDRESS.test(repository)
    ? `git clone ${repository} replay && cd replay && npm start`
    : "npm start";
}

/** Writes the command into every such place below `page`, with a button that copies it. */
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
      // Where the browser refuses, the reader has one key press left.
      if (!copied) getSelection().selectAllChildren(code);
      status.textContent = copied
        ? "Copied."
        : "The browser does not let the page copy. The command is selected: press Ctrl-C (⌘-C).";
    });
    place.append(button, status);
  }
}
