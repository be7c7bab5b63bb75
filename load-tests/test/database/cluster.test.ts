import { describe, expect, it } from "@jest/globals";
import { openDatabase } from "../../src/database/cluster.js";

describe("openDatabase", () => {
  it("uses the PostgreSQL in DATABASE_URL", async () => {
    const url = "postgresql://somebody@db.example/bench";
    await using database = await openDatabase({ DATABASE_URL: url });
    expect(database?.url).toBe(url);
  });

  it("uses no existing database, and starts a separate one if PostgreSQL is installed", async () => {
    await using database = await openDatabase({ DATABASE_URL: "file:some.db" });
    expect(database?.url ?? "postgresql://").toMatch(/^postgresql:/);
  });
});
