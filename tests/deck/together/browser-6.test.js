import { runGroup } from "../support/together.js";

await runGroup(6);
