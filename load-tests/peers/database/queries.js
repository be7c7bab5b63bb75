/** The work that all servers of this section share, on the driver that DATABASE_DRIVER names. @module */

const { Database } = await import(`./drivers/${process.env.DATABASE_DRIVER}.js`);

/** The connections of each server. */
const CONNECTIONS = 16;
/** The ids of `world` run from 1 to this. */
const WORLDS = 10_000;

export const openDatabase = () => new Database({ url: process.env.DATABASE_URL, connections: CONNECTIONS });

const random = () => 1 + Math.floor(Math.random() * WORLDS);

/** Ascending and all different, so that two updates never wait for each other. */
function randomIds(count) {
  const ids = new Set();
  while (ids.size < count) ids.add(random());
  return [...ids].toSorted((left, right) => left - right);
}

export const findWorld = (db) => db.findWorld(random());

export const findWorlds = (db, count) => Promise.all(randomIds(count).map((id) => db.findWorld(id)));

export async function updateWorlds(db, count) {
  const found = await findWorlds(db, count);
  const worlds = found.map(({ id }) => ({ id, randomnumber: random() }));
  await db.saveWorlds(worlds);
  return worlds;
}

/** All fortunes with one more, in the order of their messages. */
export async function findFortunes(db) {
  const fortunes = [...(await db.findFortunes()), { id: 0, message: "Additional fortune added at request time." }];
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
