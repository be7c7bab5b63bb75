import type { Item, NewItem } from "./models.js";

/** The items, for as long as the process lives: put a database in its place. */
export class ItemStore {
  readonly #items = new Map<number, Item>();
  #lastId = 0;

  /** Some of the items, oldest first. */
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

  /** @returns whether there was one */
  remove(id: number): boolean {
    return this.#items.delete(id);
  }
}
