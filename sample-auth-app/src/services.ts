import type { Redis } from "ioredis";

import { Accounts } from "./accounts.js";
import type { Config } from "./config.js";
import { openDatabase, type Database } from "./database.js";
import type { Log } from "./logging.js";
import { Passwords } from "./security/passwords.js";
import { RefreshTokens } from "./security/refresh-tokens.js";
import { Throttle } from "./security/throttle.js";
import { AccessTokens } from "./security/tokens.js";

/** What lives as long as the application, and is shared by all its requests. */
export class Services {
  readonly config: Config;
  readonly log: Log;
  readonly db: Database;
  readonly accounts: Accounts;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly #redis: Redis | null;

  private constructor(config: Config, log: Log, db: Database, redis: Redis | null) {
    this.config = config;
    this.log = log;
    this.db = db;
    this.accounts = new Accounts(db, new Passwords(config.passwordHashCost), new Throttle(redis));
    this.accessTokens = new AccessTokens(config.secretKey);
    this.refreshTokens = new RefreshTokens(db);
    this.#redis = redis;
  }

  static async open(config: Config, log: Log): Promise<Services> {
    const db = await openDatabase(config.database);
    const redis = config.redisUrl === null ? null : await (await import("./redis.js")).openRedis(config.redisUrl, log);
    return new Services(config, log, db, redis);
  }

  async close(): Promise<void> {
    this.#redis?.disconnect();
    await this.db.$disconnect();
  }
}
