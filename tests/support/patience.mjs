// How long tests wait. A deadline only ends a hang: it is so long that a slow or busy machine never reaches it.

/** How many times longer a deadline is than what an idle machine needs. tests/support/patience.py has the same. */
export const PATIENCE = Number(process.env.REPLAY_TEST_PATIENCE ?? 10);

/** Returns the longest time to wait for something that takes `milliseconds` on an idle machine. */
export const patient = (milliseconds) => PATIENCE * milliseconds;
