/** The statements, the pool and the page that all servers of this section share. @module */
import { Pool } from "pg";

/** The connections of each server. */
const POOL_SIZE = 16;
/** The ids of `world` run from 1 to this. */
const WORLDS = 10_000;

const SELECT = { name: "world", text: "SELECT id, randomnumber FROM tsgi_bench.world WHERE id = $1" };
const SELECT_FORTUNES = { name: "fortunes", text: "SELECT id, message FROM tsgi_bench.fortune" };
const UPDATE = {
  name: "update",
  text: `UPDATE tsgi_bench.world SET randomnumber = new.randomnumber
    FROM unnest($1::int[], $2::int[]) AS new (id, randomnumber) WHERE world.id = new.id`,
};

export const openPool = () => new Pool({ connectionString: process.env.DATABASE_URL, max: POOL_SIZE });

const random = () => 1 + Math.floor(Math.random() * WORLDS);

/** Ascending and all different, so that two updates never wait for each other. */
function randomIds(count) {
  const ids = new Set();
  while (ids.size < count) ids.add(random());
  return [...ids].toSorted((left, right) => left - right);
}

async function selectWorld(pool, id) {
  const { rows } = await pool.query({ ...SELECT, values: [id] });
  return rows[0];
}

export const findWorld = (pool) => selectWorld(pool, random());

export const findWorlds = (pool, count) => Promise.all(randomIds(count).map((id) => selectWorld(pool, id)));

export async function updateWorlds(pool, count) {
  const found = await findWorlds(pool, count);
  const worlds = found.map(({ id }) => ({ id, randomnumber: random() }));
  const columns = [worlds.map(({ id }) => id), worlds.map(({ randomnumber }) => randomnumber)];
  await pool.query({ ...UPDATE, values: columns });
  return worlds;
}

/** All fortunes with one more, in the order of their messages. */
export async function findFortunes(pool) {
  const { rows } = await pool.query(SELECT_FORTUNES);
  const fortunes = [...rows, { id: 0, message: "Additional fortune added at request time." }];
  return fortunes.toSorted((left, right) => (left.message < right.message ? -1 : 1));
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escapeHTML = (text) => text.replace(/[&<>"']/g, (character) => ENTITIES[character]);

export function renderFortunes(fortunes) {
  const rows = fortunes.map(({ id, message }) => `<tr><td>${id}</td><td>${escapeHTML(message)}</td></tr>`).join("");
  return `<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>${rows}</table></body></html>`;
}

/** The parameter `queries` for frameworks that leave text to the handler: 1 to 500. */
export const countOf = (text) => Math.min(Math.max(Math.trunc(Number(text)) || 1, 1), 500);
