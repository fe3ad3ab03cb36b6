"use strict";

// The oldest Node that runs Replay, as in package.json's "engines".
var OLDEST = [20, 19];

/** Returns the sentence that names a Node which is too old, and the way to get one; null for one that is not. */
exports.problemWith = function (version) {
  var parts = version.split(".").map(Number);
  if (parts[0] > OLDEST[0] || (parts[0] === OLDEST[0] && parts[1] >= OLDEST[1])) {
    return null;
  }
  return (
    "Node " +
    version +
    " is too old: Replay needs " +
    OLDEST.join(".") +
    " or later.\n  next: get a newer one: https://nodejs.org/en/download, or nvm install --lts"
  );
};
