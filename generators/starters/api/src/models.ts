import { t } from "tsgi";
import type { Static } from "tsgi";

/** What it takes to add an item. */
export const NewItem = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 200 }),
    price: t.Number({ minimum: 0 }),
  },
  { title: "NewItem" },
);
export type NewItem = Static<typeof NewItem>;

/** An item as it is answered. */
export const Item = t.Object({ id: t.Integer(), name: t.String(), price: t.Number() }, { title: "Item" });
export type Item = Static<typeof Item>;

/** The body of an error. */
const Problem = t.Object({ detail: t.String() }, { title: "Problem" });

/** What the document says of the error that routes have in common. */
export const NOT_FOUND = { description: "Not Found", schema: Problem };
