"use strict";

// Entry of every npm script. It and node-version.cjs are written so that any Node can read them: a Node that is too
// old is named, instead of being met with a syntax error. One process from npm to here, so that signals arrive.

var problem = require("./node-version.cjs").problemWith(process.versions.node);
if (problem) {
  console.error(problem);
  process.exit(1);
}
require("./main.cjs");
