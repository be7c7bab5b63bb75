import type { Database } from "./database.js";
import { isUniqueViolation } from "./database.js";
import type { Passwords } from "./security/passwords.js";

/** The user that development starts with. Its password stands here for all to read: production never makes it. */
export const DEMO_USER = { username: "demo", email: "demo@example.com", password: "demo-password" };

const DEMO_ITEMS = ["Notebook", "Fountain pen", "Desk lamp"];

/** Adds the demo user and three items, unless there is a user of that name. */
export async function seed(db: Database, passwords: Passwords): Promise<void> {
  const { username, email, password } = DEMO_USER;
  if ((await db.user.findUnique({ where: { username } })) !== null) {
    return;
  }
  const hashed_password = await passwords.hash(password);
  try {
    await db.user.create({
      data: { username, email, hashed_password, items: { create: DEMO_ITEMS.map((name) => ({ name })) } },
    });
  } catch (error) {
    if (!isUniqueViolation(error)) {
      throw error;
    } // another process was faster
  }
}
