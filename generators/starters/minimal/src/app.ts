import { App, t } from "tsgi";

/** The application. The document of its routes is on `/openapi.json`, a page to try them on `/docs`. */
export const app = new App({ title: "Items", version: "0.1.0" });

export const getItem = app.get(
  "/items/{item_id}",
  {
    summary: "An item, in one of its versions",
    params: { item_id: t.Integer(), version: t.Integer({ default: 1 }) },
    returns: t.Object({ item_id: t.Integer(), version: t.Integer() }, { title: "Item" }),
  },
  async ({ item_id, version }) => ({ item_id, version }),
);
