import { Depends, HTTPException, Router, t } from "tsgi";

import { getCurrentUser, getDb } from "../dependencies.js";
import { Item, NOT_FOUND, UNAUTHORIZED } from "../models.js";

/** What belongs to the user who asks. */
export const items = new Router({ prefix: "/items", tags: ["items"], responses: { 401: UNAUTHORIZED } });

items.get(
  "",
  {
    summary: "The user's items",
    params: { user: Depends(getCurrentUser), db: Depends(getDb) },
    returns: t.Array(Item),
  },
  async ({ user, db }) => {
    const rows = await db.item.findMany({ where: { owner: { username: user.username } }, orderBy: { id: "asc" } });
    return rows.map(({ name }) => ({ name, owner: user.username }));
  },
);

items.get(
  "/{item_id}",
  {
    summary: "One of the user's items",
    responses: { 404: NOT_FOUND },
    params: { item_id: t.Integer({ minimum: 1 }), user: Depends(getCurrentUser), db: Depends(getDb) },
    returns: Item,
  },
  async ({ item_id, user, db }) => {
    const item = await db.item.findFirst({ where: { id: item_id, owner: { username: user.username } } });
    if (item === null) {
      throw new HTTPException(404, "Not Found"); // another user's item does not exist either
    }
    return { name: item.name, owner: user.username };
  },
);
