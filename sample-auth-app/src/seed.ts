import type { Passwords } from "@tsgi/passwords";
import { isUniqueViolation } from "@tsgi/prisma";

import type { PrismaClient } from "./generated/sqlite/client.js";

/** The user that development starts with. Its password is public: production never creates it. */
export const DEMO_USER = { username: "demo", email: "demo@example.com", password: "demo-password" };

const DEMO_ITEMS = ["Notebook", "Fountain pen", "Desk lamp"]; // with items

/** Adds the demo user, unless there is a user of that name, and prints the name. */
export async function seed(db: Pick<PrismaClient, "user">, passwords: Passwords): Promise<void> {
  const { username, email, password } = DEMO_USER;
  if ((await db.user.findUnique({ where: { username } })) === null) {
    const hashed_password = await passwords.hash(password);
    const items = { create: DEMO_ITEMS.map((name) => ({ name })) }; // with items
    const data = { username, email, hashed_password, items }; // with items
    // without items: const data = { username, email, hashed_password };
    await db.user.create({ data }).catch((error: unknown) => {
      if (!isUniqueViolation(error)) {
        throw error;
      } // another process was faster
    });
  }
  console.log(`Demo user: ${username}, password: ${password}`);
}
