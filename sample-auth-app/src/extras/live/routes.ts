import { event, Header, Router, Security, t, WebSocket } from "tsgi";

import { database } from "../../database.js";
import { getCurrentAccount } from "../../dependencies.js";
import { live } from "./index.js";
import { type Account, Item } from "../../models.js";
import { MAX_ID, READ, toItem } from "../../routes/items.js";

/** The items of the current user over an open connection. */
export const liveItems = new Router({ prefix: "/items", tags: ["items"] });

/** New items that are read at once. */
const BATCH = 100;

/** The owner of an open connection, unless the user was disabled or has changed the password meanwhile. */
const currentOwner = ({ id, version }: Account) => ({ id, version, disabled: false });

liveItems.get(
  "/live",
  {
    summary: "The user's new items, as they are added on any replica",
    description: "Continues after the item of `Last-Event-ID`; by default after the newest item.",
    stream: "sse",
    params: {
      lastEventId: Header(t.Integer({ minimum: 0, maximum: MAX_ID }), { default: null }),
      account: Security(getCurrentAccount, READ),
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

/** Search as one types: for each text, the user's items with it in their name. */
liveItems.websocket(
  "/search",
  { params: { socket: WebSocket, account: Security(getCurrentAccount, READ), db: database } },
  async ({ socket, account, db }) => {
    await socket.accept();
    for await (const text of socket) {
      const where = { name: { contains: String(text) }, owner: currentOwner(account) };
      const found = await db.item.findMany({ where, orderBy: { id: "asc" }, take: 10 });
      await socket.sendJson(found.map((row) => toItem(row, account)));
    }
  },
);
