import { Depends, HTTPException, Response, Router } from "tsgi";
import { OffsetPage } from "tsgi/pagination";

import { database } from "../database.js";
import { findItem, Id } from "../dependencies.js";
import { Item, NewItem, NOT_FOUND } from "../models.js";

export const items = new Router({ prefix: "/items", tags: ["items"] });

const pages = OffsetPage(Item);

export const listItems = items.get(
  "",
  {
    summary: "The items, oldest first",
    mcp: { name: "list_items" }, // with mcp
    params: { page: pages.page, db: database },
    returns: pages.returns,
    responses: pages.responses,
  },
  async ({ page, db }) => {
    const { offset: skip, limit: take } = page;
    const [rows, total] = await db.$transaction([
      db.item.findMany({ orderBy: { id: "asc" }, skip, take }),
      db.item.count(),
    ]);
    return page.of(rows, total);
  },
);

export const addItem = items.post(
  "",
  {
    summary: "Add an item",
    mcp: { name: "add_item" }, // with mcp
    params: { newItem: NewItem, db: database, response: Response },
    returns: Item,
    statusCode: 201,
  },
  async ({ newItem, db, response }) => {
    const item = await db.item.create({ data: newItem });
    response.headers.set("location", `/items/${item.id}`);
    return item;
  },
);

export const getItem = items.get(
  "/{item_id}",
  {
    summary: "One item",
    mcp: { name: "read_item" }, // with mcp
    responses: { 404: NOT_FOUND },
    params: { item: Depends(findItem) },
    returns: Item,
  },
  async ({ item }) => item,
);

export const removeItem = items.delete(
  "/{item_id}",
  {
    summary: "Remove an item",
    mcp: { name: "remove_item" }, // with mcp
    responses: { 404: NOT_FOUND },
    params: { item_id: Id, db: database },
    statusCode: 204,
  },
  async ({ item_id, db }) => {
    const { count } = await db.item.deleteMany({ where: { id: item_id } });
    if (count === 0) {
      throw new HTTPException(404);
    }
    return new Response(null, { statusCode: 204 });
  },
);
