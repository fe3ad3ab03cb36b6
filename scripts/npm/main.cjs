"use strict";

// Loaded only by a Node that understands it.
import("./tasks.mjs")
  .then(({ runTask }) => runTask(process.argv[2], process.argv.slice(3)))
  .then((status) => {
    process.exitCode = status;
  })
  .catch((error) => {
    console.error(error?.expected ? error.message : error);
    process.exitCode = 1;
  });
