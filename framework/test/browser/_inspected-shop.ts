/** An application with dependencies and each kind of response, under the inspector, and requests to it. */
import { setTimeout as wait } from "node:timers/promises";
import { inspected } from "../../cli/src/inspector.js";
import { App, BackgroundTasks, Depends, HTTPException, t, withParams } from "../../core/src/index.js";
import { TestClient } from "../../core/src/platforms/testing/index.js";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

async function getSettings() {
  await wait(2);
  return { pageSize: 20 };
}

async function* getSession() {
  await wait(5);
  yield { query: () => wait(12) };
}

const getCurrentUser = withParams(
  { session: Depends(getSession), settings: Depends(getSettings) },
  async function getCurrentUser({ session }) {
    await session.query();
    return { name: "ada" };
  },
);

const Item = t.Object({ name: t.String({ minLength: 1 }), price: t.Number({ minimum: 0 }) });

function createShop(): App {
  const app = new App({ title: "Shop", logger: quiet });
  const user = Depends(getCurrentUser);
  app.get(
    "/items/{item_id}",
    { params: { item_id: t.Integer(), user, session: Depends(getSession) } },
    async function readItem({ item_id, session }) {
      await session.query();
      if (item_id > 90) throw new HTTPException(404, "No such item");
      return { item_id };
    },
  );
  app.post(
    "/items",
    { params: { item: Item, tasks: BackgroundTasks, user }, statusCode: 201 },
    async function createItem({ item, tasks }) {
      tasks.addTask(async function notify() {
        await wait(8);
      });
      return item;
    },
  );
  app.get("/report", async function readReport() {
    throw new Error("<b>No report</b> was written.");
  });
  return app;
}

/** Serves the shop under the inspector. */
export function serveShop(): Promise<TestClient> {
  return TestClient.open(inspected(createShop()));
}

/** Sends one request of each kind, one at a time: successful, rejected by validation, not found, failing. */
export async function visitShop(url: string): Promise<void> {
  const post = (item: object) => ({
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(item),
  });
  for (const [path, init] of [
    ["/items/1", {}],
    ["/items", post({ name: "Lamp", price: 39.9 })],
    ["/report", {}],
    ["/items/99", {}],
    ["/items", post({ name: "", price: -1 })],
  ] as const) {
    await (await fetch(url + path, init)).arrayBuffer();
  }
}
