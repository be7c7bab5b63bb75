import { HTTPException, Query, Response, Router, Security, t, WebSocket } from "tsgi";

import { database } from "../database.js";
import { getCurrentAccount } from "../dependencies.js";
import { FORBIDDEN, Item, NewItem, NOT_FOUND, UNAUTHORIZED } from "../models.js";

/** The items of the current user. Another user's item does not exist: it is 404. */
export const items = new Router({
  prefix: "/items",
  tags: ["items"],
  responses: { 401: UNAUTHORIZED, 403: FORBIDDEN },
});

const READ = { scopes: ["items:read"] };
const WRITE = { scopes: ["items:write"] };

/** PostgreSQL's `integer`, the smaller of the two databases'. */
const ItemId = t.Integer({ minimum: 1, maximum: 2_147_483_647 });

items.get(
  "",
  {
    summary: "The user's items, oldest first",
    mcp: { name: "list_items" },
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
    return page.map(({ id, name }) => ({ id, name, owner: account.username }));
  },
);

items.post(
  "",
  {
    summary: "Add an item",
    mcp: { name: "add_item" },
    params: { newItem: NewItem, account: Security(getCurrentAccount, WRITE), db: database, response: Response },
    returns: Item,
    statusCode: 201,
  },
  async ({ newItem, account, db, response }) => {
    const { id, name } = await db.item.create({ data: { name: newItem.name, ownerId: account.id } });
    response.headers.set("location", `/items/${id}`);
    return { id, name, owner: account.username };
  },
);

items.get(
  "/{item_id}",
  {
    summary: "One of the user's items",
    mcp: { name: "read_item" },
    responses: { 404: NOT_FOUND },
    params: { item_id: ItemId, account: Security(getCurrentAccount, READ), db: database },
    returns: Item,
  },
  async ({ item_id, account, db }) => {
    const item = await db.item.findFirst({ where: { id: item_id, ownerId: account.id } });
    if (item === null) {
      throw new HTTPException(404);
    }
    return { id: item.id, name: item.name, owner: account.username };
  },
);

items.delete(
  "/{item_id}",
  {
    summary: "Remove one of the user's items",
    mcp: { name: "remove_item" },
    responses: { 404: NOT_FOUND },
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

/** Search as one types: for each text, the user's items with it in their name. */
items.websocket(
  "/search",
  { params: { socket: WebSocket, account: Security(getCurrentAccount, READ), db: database } },
  async ({ socket, account: { id, version, username }, db }) => {
    await socket.accept();
    for await (const text of socket) {
      // Empty for a user who was disabled, or has another password, since the connection was opened.
      const where = { name: { contains: String(text) }, owner: { id, version, disabled: false } };
      const found = await db.item.findMany({ where, orderBy: { id: "asc" }, take: 10 });
      await socket.sendJson(found.map((item) => ({ id: item.id, name: item.name, owner: username })));
    }
  },
);
