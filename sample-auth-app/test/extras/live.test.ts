import { createInterface } from "node:readline";
import { Readable } from "node:stream";

import { expect, it } from "@jest/globals";

import { openApp } from "../support.js";

type OpenApp = Awaited<ReturnType<typeof openApp>>;

/** The stream of a user's new items. It is subscribed when this returns. */
async function follow(url: string, token: string, lastEventId = "0") {
  const leave = new AbortController();
  const headers = { authorization: `Bearer ${token}`, "last-event-id": lastEventId };
  const { body } = await fetch(`${url}/items/live`, { headers, signal: leave.signal });
  const lines = createInterface(body ? Readable.fromWeb(body) : Readable.from([]))[Symbol.asyncIterator]();
  await lines.next(); // of the first event, which is sent after the subscription
  return {
    next: async () => {
      for (let line = await lines.next(); !line.done; line = await lines.next()) {
        if (line.value.startsWith("data: ")) {
          return JSON.parse(line.value.slice("data: ".length));
        }
      }
      return null;
    },
    [Symbol.dispose]: () => leave.abort(),
  };
}

const add = async ({ request }: OpenApp, token: string, name: string) =>
  (await request.post("/items").auth(token, { type: "bearer" }).send({ name }).expect(201)).body;

it("sends each new item of the user, and no other user's", async () => {
  await using app = await openApp();
  await app.register("alice");
  await app.register("bob");
  const [alice, bob] = [await app.login("alice"), await app.login("bob")];
  using events = await follow(app.url, alice.token);
  await add(app, bob.token, "lamp");
  const pen = await add(app, alice.token, "pen");
  expect(await events.next()).toEqual(pen);
  using later = await follow(app.url, alice.token, String(pen.id));
  const book = await add(app, alice.token, "book");
  expect(await later.next()).toEqual(book);
});

it("finds the user's items as the user types", async () => {
  await using app = await openApp();
  await app.register();
  const { token } = await app.login();
  const book = await add(app, token, "book");
  await using socket = await app.websocket("/items/search", { headers: { authorization: `Bearer ${token}` } });
  await socket.sendText("oo");
  expect(await socket.receiveJson()).toEqual([book]);
  await expect(app.websocket("/items/search")).rejects.toMatchObject({ statusCode: 401 });
});
