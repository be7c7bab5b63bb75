import { Accounts } from "./accounts.js";
import type { Config } from "./config.js";
import { openDatabase, type Database } from "./database.js";
import type { Log } from "./logging.js";
import { Passwords } from "./security/passwords.js";
import { RefreshTokens } from "./security/refresh-tokens.js";
import { AccessTokens } from "./security/tokens.js";

/** What lives as long as the application, and is shared by all its requests. */
export class Services {
  readonly config: Config;
  readonly log: Log;
  readonly db: Database;
  readonly accounts: Accounts;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;

  constructor(config: Config, log: Log) {
    this.config = config;
    this.log = log;
    this.db = openDatabase(config.databaseUrl, config.databaseBusyMs);
    this.accounts = new Accounts(this.db, new Passwords(config.passwordHashCost));
    this.accessTokens = new AccessTokens(config.secretKey);
    this.refreshTokens = new RefreshTokens(this.db);
  }

  async close(): Promise<void> {
    await this.db.$disconnect();
  }
}
