/** The requests of `load-tests/run.js`, one kind after the other. */
export const requests = [{ path: "/items/42?version=3" }];
