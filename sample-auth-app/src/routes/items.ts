import { HTTPException, Query, Response, Router, Security, t } from "tsgi";

import { database } from "../database.js";
import { getCurrentAccount } from "../dependencies.js";
import { announce } from "../extras/live/index.js"; // with live
import { type Account, Item, NewItem, problem } from "../models.js";

/** The items of the current user. Another user's item does not exist: it is 404. */
export const items = new Router({ prefix: "/items", tags: ["items"] });

export const READ = { scopes: ["items:read"] };
const WRITE = { scopes: ["items:write"] };
const responses = { 404: problem("Not Found") };

/** PostgreSQL's `integer`, the smaller of the two databases'. */
export const MAX_ID = 2_147_483_647;
const ItemId = t.Integer({ minimum: 1, maximum: MAX_ID });

type Row = Pick<Item, "id" | "name">;
export const toItem = ({ id, name }: Row, { username }: Account): Item => ({ id, name, owner: username });

items.get(
  "",
  {
    summary: "The user's items, oldest first",
    mcp: { name: "list_items" }, // with mcp
    description: "If there are more, the header `X-Next-Cursor` contains the cursor of the next page.",
    params: {
      limit: Query(t.Integer({ minimum: 1, maximum: 100 }), { default: 50, description: "how many at most" }),
      cursor: Query(ItemId, { default: null, description: "`X-Next-Cursor` of the page before" }),
      account: Security(getCurrentAccount, READ),
      db: database,
      response: Response,
    },
    returns: t.Array(Item),
  },
  async ({ limit, cursor, account, db, response }) => {
    const rows = await db.item.findMany({
      where: { ownerId: account.id, ...(cursor === null ? {} : { id: { gt: cursor } }) },
      orderBy: { id: "asc" },
      take: limit + 1, // one more than is shown tells whether there is a next page
    });
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    if (rows.length > limit && last !== undefined) {
      response.headers.set("x-next-cursor", String(last.id));
    }
    return page.map((row) => toItem(row, account));
  },
);

items.post(
  "",
  {
    summary: "Add an item",
    mcp: { name: "add_item" }, // with mcp
    params: {
      newItem: NewItem,
      account: Security(getCurrentAccount, WRITE),
      db: database,
      response: Response,
      announce, // with live
    },
    returns: Item,
    statusCode: 201,
  },
  async (given) => {
    const { newItem, account, db, response } = given;
    const row = await db.item.create({ data: { name: newItem.name, ownerId: account.id } });
    given.announce(account.id, row.id); // with live
    response.headers.set("location", `/items/${row.id}`);
    return toItem(row, account);
  },
);

items.get(
  "/{item_id}",
  {
    summary: "One of the user's items",
    mcp: { name: "read_item" }, // with mcp
    responses,
    params: { item_id: ItemId, account: Security(getCurrentAccount, READ), db: database },
    returns: Item,
  },
  async ({ item_id, account, db }) => {
    const item = await db.item.findFirst({ where: { id: item_id, ownerId: account.id } });
    if (item === null) {
      throw new HTTPException(404);
    }
    return toItem(item, account);
  },
);

items.delete(
  "/{item_id}",
  {
    summary: "Remove one of the user's items",
    mcp: { name: "remove_item" }, // with mcp
    responses,
    params: { item_id: ItemId, account: Security(getCurrentAccount, WRITE), db: database },
    statusCode: 204,
  },
  async ({ item_id, account, db }) => {
    const { count } = await db.item.deleteMany({ where: { id: item_id, ownerId: account.id } });
    if (count === 0) {
      throw new HTTPException(404);
    }
    return new Response(null, { statusCode: 204 });
  },
);
