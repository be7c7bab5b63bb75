/** The queries on `pg`, as prepared statements. @module */
import { Pool } from "pg";

const WORLD = { name: "world", text: "SELECT id, randomnumber FROM tsgi_bench.world WHERE id = $1" };
const SAVE_WORLDS = {
  name: "save worlds",
  text: `UPDATE tsgi_bench.world SET randomnumber = new.randomnumber
    FROM unnest($1::int[], $2::int[]) AS new (id, randomnumber) WHERE world.id = new.id`,
};
const FORTUNES = { name: "fortunes", text: "SELECT id, message FROM tsgi_bench.fortune" };
const ACCOUNT = {
  name: "account",
  text: 'SELECT id, username, password_hash AS "passwordHash" FROM tsgi_bench.account WHERE username = $1',
};
const ADD_SESSION = {
  name: "add session",
  text: "INSERT INTO tsgi_bench.session (token_hash, account_id, expires_at) VALUES ($1, $2, $3)",
};
const ITEMS = { name: "items", text: "SELECT id, name FROM tsgi_bench.item WHERE owner_id = $1 ORDER BY id LIMIT $2" };

export class Database {
  #pool;

  constructor({ url, connections }) {
    this.#pool = new Pool({ connectionString: url, max: connections });
  }

  async #query(statement, ...values) {
    return (await this.#pool.query({ ...statement, values })).rows;
  }

  async findWorld(id) {
    const [world] = await this.#query(WORLD, id);
    return world;
  }

  async saveWorlds(worlds) {
    const ids = worlds.map(({ id }) => id);
    const numbers = worlds.map(({ randomnumber }) => randomnumber);
    await this.#query(SAVE_WORLDS, ids, numbers);
  }

  findFortunes() {
    return this.#query(FORTUNES);
  }

  async findAccount(username) {
    const [account = null] = await this.#query(ACCOUNT, username);
    return account;
  }

  async addSession({ tokenHash, accountId, expiresAt }) {
    await this.#query(ADD_SESSION, tokenHash, accountId, expiresAt);
  }

  findItems(ownerId, limit) {
    return this.#query(ITEMS, ownerId, limit);
  }

  close() {
    return this.#pool.end();
  }
}
