"use strict";

// `node -r` loads this before each npm script. Every Node can read it (ESLint sees to that), so that one that is too old is
// told in a sentence, not by a syntax error.

var oldest = require("../../package.json").engines.node.match(/\d+/g).map(Number);
var own = process.versions.node;
var version = own.split(".").map(Number);
if (version[0] < oldest[0] || (version[0] === oldest[0] && version[1] < oldest[1])) {
  console.error("Node " + own + " is too old: Replay needs " + oldest.join(".") + " or later.");
  console.error("  next: install a newer one: https://nodejs.org/en/download, or nvm install --lts");
  process.exit(1);
}
