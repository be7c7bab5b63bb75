/** The servers that carry messages in these tests: each is the test's own, so that it can be stopped. */
import { describe } from "@jest/globals";
import { startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { HAS_REDIS, startRedis } from "../../test/support/redis-server.js";
import { type Backplane, postgresBackplane, redisBackplane } from "../src/index.js";

export interface Server extends AsyncDisposable {
  /** Connects another process to it. */
  connect(): Backplane;
  stop(): Promise<void>;
  start(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

export interface Kind {
  /** With the reason if it cannot run here. */
  readonly name: string;
  /** Skips its tests if it cannot run here. */
  readonly describe: (name: string, tests: () => void) => void;
  readonly start: () => Promise<Server>;
}

export const REDIS: Kind = {
  name: HAS_REDIS ? "Redis" : "Redis (redis-server is not installed)",
  describe: HAS_REDIS ? describe : describe.skip,
  start: async () => {
    const server = await startRedis();
    return { ...server, connect: () => redisBackplane(server.path) };
  },
};

export const POSTGRESQL: Kind = {
  name: WITHOUT_CLUSTER === null ? "PostgreSQL" : `PostgreSQL (${WITHOUT_CLUSTER})`,
  describe: WITHOUT_CLUSTER === null ? describe : describe.skip,
  start: async () => {
    const server = await startCluster();
    return { ...server, connect: () => postgresBackplane(server.url) };
  },
};
