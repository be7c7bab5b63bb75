import { type Static, t } from "tsgi";

/** A new item. */
export const NewItem = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 200 }),
    price: t.Number({ minimum: 0 }),
  },
  { title: "NewItem" },
);
export type NewItem = Static<typeof NewItem>;

/** An item in responses. */
export const Item = t.Object({ id: t.Integer(), name: t.String(), price: t.Number() }, { title: "Item" });
export type Item = Static<typeof Item>;

/** The body of an error. */
const Problem = t.Object({ detail: t.String() }, { title: "Problem" });

/** The documented error of several routes. */
export const NOT_FOUND = { description: "Not Found", schema: Problem };
