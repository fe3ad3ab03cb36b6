/** Where the present server listens unless told otherwise. */
export const DEFAULT_PORT = 8000;
