/** The data set of `npm start`: git ignores it, and a published site holds it only when it is asked for. */
export const PRIVATE_DATA_SET = "local";
