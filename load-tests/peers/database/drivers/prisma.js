/** The queries on Prisma, over its adapter for `pg`. @module */
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "../client/client.js";

export class Database {
  #prisma;

  constructor({ url, connections }) {
    const adapter = new PrismaPg({ connectionString: url, max: connections }, { schema: "tsgi_bench" });
    // On a busy machine a transaction waits longer for a connection than the two seconds of the default.
    this.#prisma = new PrismaClient({ adapter, transactionOptions: { maxWait: 30_000, timeout: 30_000 } });
  }

  /** Not `findUnique`: Prisma makes one query of those that are called at once. */
  findWorld(id) {
    return this.#prisma.world.findFirst({ where: { id } });
  }

  async saveWorlds(worlds) {
    const updates = worlds.map(({ id, ...data }) => this.#prisma.world.update({ where: { id }, data }));
    await this.#prisma.$transaction(updates);
  }

  findFortunes() {
    return this.#prisma.fortune.findMany();
  }

  close() {
    return this.#prisma.$disconnect();
  }
}
