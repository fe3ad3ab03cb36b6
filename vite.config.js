import { deckConfig } from "./scripts/deck/vite-config.js";

export default deckConfig();
