import { Depends, HTTPException, Response, Router, t } from "tsgi";

import { getPage, getStore } from "../dependencies.js";
import { Item, NewItem, NOT_FOUND } from "../models.js";

export const items = new Router({ prefix: "/items", tags: ["items"] });

export const listItems = items.get(
  "",
  {
    summary: "The items, oldest first",
    mcp: { name: "list_items" }, // with mcp
    params: { page: Depends(getPage), store: Depends(getStore) },
    returns: t.Array(Item),
  },
  async ({ page, store }) => store.list(page.limit, page.offset),
);

export const addItem = items.post(
  "",
  {
    summary: "Add an item",
    mcp: { name: "add_item" }, // with mcp
    params: { newItem: NewItem, store: Depends(getStore), response: Response },
    returns: Item,
    statusCode: 201,
  },
  async ({ newItem, store, response }) => {
    const item = store.add(newItem);
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
    params: { item_id: t.Integer(), store: Depends(getStore) },
    returns: Item,
  },
  async ({ item_id, store }) => {
    const item = store.find(item_id);
    if (item === null) {
      throw new HTTPException(404);
    }
    return item;
  },
);

export const removeItem = items.delete(
  "/{item_id}",
  {
    summary: "Remove an item",
    mcp: { name: "remove_item" }, // with mcp
    responses: { 404: NOT_FOUND },
    params: { item_id: t.Integer(), store: Depends(getStore) },
    statusCode: 204,
  },
  async ({ item_id, store }) => {
    if (!store.remove(item_id)) {
      throw new HTTPException(404);
    }
    return new Response(null, { statusCode: 204 });
  },
);
