/** The database routes on tsgi: the database is a dependency of the application. @module */
import { App, Depends, HTMLResponse, Query, t } from "tsgi";
import { serve } from "tsgi/node";
import { quietLogger } from "../../../load-tests/dist/http/server-process.js";
import { announce } from "../http/announce.js";
import { findFortunes, findWorld, findWorlds, openDatabase, renderFortunes, updateWorlds } from "./queries.js";

const database = Depends(
  async function* () {
    const db = openDatabase();
    yield db;
    await db.close();
  },
  { scope: "app" },
);
const World = t.Object({ id: t.Integer(), randomnumber: t.Integer() });
const queries = Query(t.Integer({ minimum: 1, maximum: 500, default: 1 }));

const app = new App({ title: "Database" });
app.get("/db", { params: { db: database }, returns: World }, async ({ db }) => findWorld(db));
app.get("/queries", { params: { db: database, queries }, returns: t.Array(World) }, async ({ db, queries: count }) =>
  findWorlds(db, count),
);
app.get("/updates", { params: { db: database, queries }, returns: t.Array(World) }, async ({ db, queries: count }) =>
  updateWorlds(db, count),
);
app.get(
  "/fortunes",
  { params: { db: database } },
  async ({ db }) => new HTMLResponse(renderFortunes(await findFortunes(db))),
);

const { url } = await serve(app, { port: 0, loop: "libuv", logger: quietLogger });
announce(new URL(url).port);
