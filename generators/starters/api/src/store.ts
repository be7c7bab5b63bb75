import type { Item, NewItem } from "./models.js";

/** Keeps the items in memory. Replace it by a database. */
export class ItemStore {
  readonly #items = new Map<number, Item>();
  #lastId = 0;

  /** Returns a part of the items, oldest first. */
  list(limit: number, offset: number): Item[] {
    return [...this.#items.values()].slice(offset, offset + limit);
  }

  find(id: number): Item | null {
    return this.#items.get(id) ?? null;
  }

  add(item: NewItem): Item {
    const added = { id: ++this.#lastId, ...item };
    this.#items.set(added.id, added);
    return added;
  }

  /** @returns true if the item existed */
  remove(id: number): boolean {
    return this.#items.delete(id);
  }
}
