import { describe, expect, it } from "@jest/globals";
import { LOGIN } from "../../src/database/accounts.js";
import { UPDATES } from "../../src/database/cases.js";
import { isPrismaRow, onPrisma } from "../../src/database/prisma.js";

describe("a case on Prisma", () => {
  it("has a name of its own, the same request and check, and fewer requests", () => {
    const { name, share, method, path, check } = onPrisma(UPDATES);
    expect(UPDATES).toMatchObject({ method, path, check });
    expect(isPrismaRow(name)).toBe(true);
    expect(isPrismaRow(UPDATES.name)).toBe(false);
    expect(share).toBeLessThan(UPDATES.share);
  });

  it("has as many logins as on pg", () => {
    expect(onPrisma(LOGIN)).toEqual({ ...LOGIN, name: `${LOGIN.name}, Prisma` });
  });
});
