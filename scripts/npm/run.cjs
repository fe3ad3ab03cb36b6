"use strict";

// Entry of every npm script. Any Node can read this file and node-version.cjs, so that an old Node gets a clear message
// instead of a syntax error. There is only one process from npm to here, so that signals arrive.

var problem = require("./node-version.cjs").problemWith(process.versions.node);
if (problem) {
  console.error(problem);
  process.exit(1);
}
require("./main.cjs");
