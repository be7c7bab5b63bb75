import { BackgroundTasks, event, Header, HTTPException, Query, Response, Router, Security, t, WebSocket } from "tsgi";

import { database } from "../database.js";
import { getCurrentAccount } from "../dependencies.js";
import { live } from "../live.js";
import { type Account, Item, NewItem, problem } from "../models.js";

/** The items of the current user. Another user's item does not exist: it is 404. */
export const items = new Router({ prefix: "/items", tags: ["items"] });

const reader = Security(getCurrentAccount, { scopes: ["items:read"] });
const writer = Security(getCurrentAccount, { scopes: ["items:write"] });
const responses = { 404: problem("Not Found") };

/** PostgreSQL's `integer`, the smaller of the two databases'. */
const MAX_ID = 2_147_483_647;
const ItemId = t.Integer({ minimum: 1, maximum: MAX_ID });

/** New items that are read at once. */
const BATCH = 100;

type Row = Pick<Item, "id" | "name">;
const toItem = ({ id, name }: Row, { username }: Account): Item => ({ id, name, owner: username });

items.get(
  "",
  {
    summary: "The user's items, oldest first",
    mcp: { name: "list_items" },
    description: "If there are more, the header `X-Next-Cursor` contains the cursor of the next page.",
    params: {
      limit: Query(t.Integer({ minimum: 1, maximum: 100 }), { default: 50, description: "how many at most" }),
      cursor: Query(ItemId, { default: null, description: "`X-Next-Cursor` of the page before" }),
      account: reader,
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
    mcp: { name: "add_item" },
    params: {
      newItem: NewItem,
      account: writer,
      db: database,
      live,
      response: Response,
      tasks: BackgroundTasks,
    },
    returns: Item,
    statusCode: 201,
  },
  async ({ newItem, account, db, live, response, tasks }) => {
    const row = await db.item.create({ data: { name: newItem.name, ownerId: account.id } });
    tasks.addTask(() => live.publish(`items:${account.id}`, row.id)); // later: a failure of Redis delays no response
    response.headers.set("location", `/items/${row.id}`);
    return toItem(row, account);
  },
);

items.get(
  "/live",
  {
    summary: "The user's new items, as they are added on any replica",
    description: "Continues after the item of `Last-Event-ID`; by default after the newest item.",
    stream: "sse",
    params: {
      lastEventId: Header(t.Integer({ minimum: 0, maximum: MAX_ID }), { default: null }),
      account: reader,
      signal: AbortSignal,
      db: database,
      live,
    },
    returns: Item,
  },
  async function* ({ lastEventId, account, signal, db, live }) {
    // Before the first query, so that no item is missed. After an outage of Redis, the client connects again.
    using added = await live.subscribe(`items:${account.id}`, { signal, onGap: () => added[Symbol.dispose]() });
    const newest = await db.item.findFirst({ where: { ownerId: account.id }, orderBy: { id: "desc" } });
    let last = lastEventId ?? newest?.id ?? 0;
    yield event({ id: last });
    let announced: number | undefined = 0; // no item's id
    while (announced !== undefined) {
      const where = { OR: [{ id: { gt: last } }, { id: announced }], owner: currentOwner(account) };
      const rows = await db.item.findMany({ where, orderBy: { id: "asc" }, take: BATCH });
      for (const row of rows) {
        last = Math.max(last, row.id);
        yield event({ id: last, data: toItem(row, account) });
      }
      if (rows.length < BATCH) {
        announced = (await added.next()).value;
      }
    }
  },
);

items.get(
  "/{item_id}",
  {
    summary: "One of the user's items",
    mcp: { name: "read_item" },
    responses,
    params: { item_id: ItemId, account: reader, db: database },
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
    mcp: { name: "remove_item" },
    responses,
    params: { item_id: ItemId, account: writer, db: database },
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

/** The owner of an open connection, unless the user was disabled or has changed the password meanwhile. */
const currentOwner = ({ id, version }: Account) => ({ id, version, disabled: false });

/** Search as one types: for each text, the user's items with it in their name. */
items.websocket(
  "/search",
  { params: { socket: WebSocket, account: reader, db: database } },
  async ({ socket, account, db }) => {
    await socket.accept();
    for await (const text of socket) {
      const where = { name: { contains: String(text) }, owner: currentOwner(account) };
      const found = await db.item.findMany({ where, orderBy: { id: "asc" }, take: 10 });
      await socket.sendJson(found.map((row) => toItem(row, account)));
    }
  },
);
