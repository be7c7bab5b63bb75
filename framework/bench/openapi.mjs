/**
 * The document of an application with 1,000 routes: the processor time of the first `openapi()` in a new process,
 * including all threads of the engine, and of the second, which returns the same object.
 *
 *     npm run build --prefix framework
 *     node --expose-gc framework/bench/openapi.mjs [--routes 1000] [--structs 50]
 *
 * Each route has a path and a query parameter, a body, a result, a security scheme with scopes, and a 404. `--structs
 * 1000` uses a separate object schema for each route.
 */
import { parseArgs } from "node:util";
import { App, Depends, Query, Security, t, withParams } from "../core/dist/index.js";
import { OAuth2PasswordBearer } from "../core/dist/parameters/security/index.js";

const { values } = parseArgs({
  options: { routes: { type: "string", default: "1000" }, structs: { type: "string", default: "50" } },
});
const routes = Number(values.routes);

const structs = Array.from({ length: Number(values.structs) }, (_, index) =>
  t.Object(
    {
      name: t.String({ minLength: 1 }),
      price: t.Number(),
      tags: t.Array(t.String()),
      count: t.Integer({ default: 1 }),
    },
    { $id: `Item${index}` },
  ),
);
const oauth2 = new OAuth2PasswordBearer({ tokenUrl: "/token" });
const getUser = withParams({ token: Depends(oauth2) }, async ({ token }) => token);
const app = new App();
for (let index = 0; index < routes; index++) {
  const Item = structs[index % structs.length];
  app.post(
    `/shops/s${index}/items/{item_id}`,
    {
      tags: [`tag${index % 10}`],
      params: {
        item_id: t.Integer(),
        q: Query({ default: null }),
        item: Item,
        user: Security(getUser, { scopes: ["items"] }),
      },
      returns: Item,
      responses: { 404: { description: "There is none" } },
    },
    async ({ item }) => item,
  );
}

function measure(name) {
  const before = process.cpuUsage();
  const document = app.openapi();
  const { user, system } = process.cpuUsage(before);
  console.log(`${name}: ${((user + system) / 1000).toFixed(1)} ms`);
  return document;
}

// The garbage of the registration must not count for the document.
globalThis.gc?.();
const document = measure(`${routes} routes, ${structs.length} structs, first`);
measure("again");
console.log(`${(JSON.stringify(document).length / 1024).toFixed(0)} KiB`);
