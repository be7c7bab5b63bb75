import { HTTPException, t, withParams } from "tsgi";

import { database } from "./database.js";

/** An id. 2,147,483,647 is the largest `Int` of Prisma. */
export const Id = t.Integer({ minimum: 1, maximum: 2_147_483_647 });

/** The item of the path, or 404. */
export const findItem = withParams({ item_id: Id, db: database }, async ({ item_id, db }) => {
  const item = await db.item.findUnique({ where: { id: item_id } });
  if (item === null) {
    throw new HTTPException(404);
  }
  return item;
});
