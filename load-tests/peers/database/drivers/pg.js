/** The queries on `pg`, as prepared statements. @module */
import { Pool } from "pg";

const WORLD = { name: "world", text: "SELECT id, randomnumber FROM tsgi_bench.world WHERE id = $1" };
const SAVE_WORLDS = {
  name: "save worlds",
  text: `UPDATE tsgi_bench.world SET randomnumber = new.randomnumber
    FROM unnest($1::int[], $2::int[]) AS new (id, randomnumber) WHERE world.id = new.id`,
};
const FORTUNES = { name: "fortunes", text: "SELECT id, message FROM tsgi_bench.fortune" };

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

  close() {
    return this.#pool.end();
  }
}
