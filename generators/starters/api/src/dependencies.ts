import { Query, Request, t, withParams } from "tsgi";

import { ItemStore } from "./store.js";

/** The store that the application's lifespan has put into the state that each request gets. */
export const getStore = withParams({ request: Request }, async ({ request }) => {
  const { store } = request.state;
  if (!(store instanceof ItemStore)) {
    throw new TypeError("the lifespan of the application has not run: use TestClient in tests");
  }
  return store;
});

/** Which part of a list is wanted. */
export const getPage = withParams(
  {
    limit: Query(t.Integer({ minimum: 1, maximum: 100 }), { default: 20, description: "how many at most" }),
    offset: Query(t.Integer({ minimum: 0 }), { default: 0, description: "how many to pass over" }),
  },
  async ({ limit, offset }) => ({ limit, offset }),
);
