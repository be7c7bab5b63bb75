/** What `load-tests/run.js` sends, one kind of request after the other. */
export const requests = [{ path: "/items/42?version=3" }];
