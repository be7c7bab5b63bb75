import { defineConfig } from "prisma/config";

const url = process.env.DATABASE_URL ?? "file:./dev.db";
const isSQLite = url.startsWith("file:");

/** Prisma's commands work on the database that `DATABASE_URL` names; `npm run generate` writes the second schema. */
export default defineConfig({
  schema: isSQLite ? "prisma/schema.prisma" : "src/generated/postgresql.prisma",
  migrations: { path: `prisma/migrations/${isSQLite ? "sqlite" : "postgresql"}` },
  datasource: { url },
});
