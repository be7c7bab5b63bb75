import { Query, Request, t, withParams } from "tsgi";

import { ItemStore } from "./store.js";

/** The store in the state of the lifespan. */
export const getStore = withParams({ request: Request }, async ({ request }) => {
  const { store } = request.state;
  if (!(store instanceof ItemStore)) {
    throw new TypeError("the lifespan of the application has not run");
  }
  return store;
});

/** The part of a list to return. */
export const getPage = withParams(
  {
    limit: Query(t.Integer({ minimum: 1, maximum: 100 }), { default: 20, description: "how many at most" }),
    offset: Query(t.Integer({ minimum: 0 }), { default: 0, description: "how many to pass over" }),
  },
  async ({ limit, offset }) => ({ limit, offset }),
);
