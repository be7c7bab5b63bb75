/** The database routes on tsgi: the database is a dependency of the application, the account one of the request. @module */
import { App, Depends, Form, HTMLResponse, HTTPException, Query, Response, t, withParams } from "tsgi";
import { serve } from "tsgi/node";
import { OAuth2PasswordBearer } from "tsgi/security";
import { quietLogger } from "../../../load-tests/dist/http/quiet-logger.js";
import { announce } from "../http/announce.js";
import { COOKIE, COOKIE_NAME, findAccount, listItems, logIn } from "./accounts.js";
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

const Item = t.Object({ id: t.Integer(), name: t.String(), owner: t.String() });
const Token = t.Object({ access_token: t.String(), token_type: t.String() });

const unauthorized = () => new HTTPException(401, undefined, { headers: { "WWW-Authenticate": "Bearer" } });

const currentAccount = withParams(
  { db: database, token: Depends(new OAuth2PasswordBearer({ tokenUrl: "/auth/token" })) },
  async ({ db, token }) => {
    const account = await findAccount(db, token);
    if (account === null) throw unauthorized();
    return account;
  },
);

app.post(
  "/auth/token",
  { params: { db: database, username: Form(), password: Form(), response: Response }, returns: Token },
  async ({ db, username, password, response }) => {
    const session = await logIn(db, username, password);
    if (session === null) throw unauthorized();
    response.setCookie(COOKIE_NAME, session.refreshToken, { ...COOKIE, sameSite: "strict" });
    return session.answer;
  },
);
app.get(
  "/items",
  { params: { db: database, account: Depends(currentAccount) }, returns: t.Array(Item) },
  async ({ db, account }) => listItems(db, account),
);

const { url } = await serve(app, { port: 0, loop: "libuv", logger: quietLogger });
announce(new URL(url).port);
