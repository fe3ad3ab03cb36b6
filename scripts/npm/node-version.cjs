"use strict";

// The oldest Node that runs Replay, as in package.json's "engines".
var OLDEST = [20, 19];

/** Returns a message about a Node that is too old and how to get a newer one; null if the version is fine. */
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
    " or later.\n  next: install a newer one: https://nodejs.org/en/download, or nvm install --lts"
  );
};
