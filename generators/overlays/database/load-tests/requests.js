/** The requests of `load-tests/run.js`, one kind after the other. They do not write to the database. */
export const requests = [{ path: "/health" }, { path: "/ready" }, { path: "/items?limit=20" }];
