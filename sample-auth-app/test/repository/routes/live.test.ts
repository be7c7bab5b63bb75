import { describe, expect, it } from "@jest/globals";

import { setDisabled } from "../../../src/accounts.js";
import { openApp } from "../support.js";
import { forEachRow } from "../support/cases.js";
import { follow } from "../support/live-items.js";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.js";

type OpenApp = Awaited<ReturnType<typeof openApp>>;

const add = ({ request }: OpenApp, token: string, name: string) =>
  request.post("/items").auth(token, { type: "bearer" }).send({ name }).expect(201);

describe("GET /items/live", () => {
  it("sends each new item of the user, and no other user's", async () => {
    await using app = await openApp();
    await app.register("alice");
    await app.register("bob");
    const [alice, bob] = [await app.login("alice"), await app.login("bob")];
    using events = await follow(app.url, alice.token);
    await add(app, alice.token, "pen");
    expect(await events.next()).toMatchObject({ id: "1", data: { id: 1, name: "pen", owner: "alice" } });
    await add(app, bob.token, "lamp");
    await add(app, alice.token, "book");
    expect(await events.next()).toMatchObject({ data: { name: "book" } });
  });

  it("continues after the item that the client received last", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    for (const name of ["pen", "lamp", "book"]) {
      await add(app, token, name);
    }
    using events = await follow(app.url, token, "1");
    expect(await events.next()).toMatchObject({ id: "2", data: { name: "lamp" } });
    expect(await events.next()).toMatchObject({ id: "3", data: { name: "book" } });
  });

  it("sends all items that the client has missed, however many", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    const { id: ownerId } = await app.db.user.findFirstOrThrow();
    const names = Array.from({ length: 250 }, (_, index) => `item ${index + 1}`);
    await app.db.item.createMany({ data: names.map((name) => ({ name, ownerId })) });
    using events = await follow(app.url, token);
    const received = new Set<string>();
    while (received.size < names.length) {
      received.add((await events.next())?.data.name);
    }
    expect([...received]).toEqual(names);
  });

  it("rejects an invalid Last-Event-ID with 422", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    await forEachRow(["-1", "1.5", "x", "2147483648"], async (lastEventId) => {
      const request = app.request.get("/items/live").auth(token, { type: "bearer" });
      await request.set("Last-Event-ID", lastEventId).expect(422);
    });
  });

  it("sends no item that is added after the user was disabled, even if enabled again", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    using events = await follow(app.url, token);
    await add(app, token, "pen");
    expect(await events.next()).toMatchObject({ data: { name: "pen" } });
    await setDisabled(app.db, "alice", true);
    await setDisabled(app.db, "alice", false);
    const { token: current } = await app.login();
    using others = await follow(app.url, current, "1");
    await add(app, current, "lamp");
    expect(await others.next()).toMatchObject({ data: { name: "lamp" } });
    await app[Symbol.asyncDispose](); // ends the streams
    expect(await events.next()).toBeNull();
  });

  it("requires a token: 401", async () => {
    await using app = await openApp();
    await app.request.get("/items/live").expect(401);
  });
});

const withRedis = WITHOUT_REDIS === null ? describe : describe.skip;

withRedis(`GET /items/live with Redis${WITHOUT_REDIS === null ? "" : ` (${WITHOUT_REDIS})`}`, () => {
  it("sends the items that are added on another replica", async () => {
    await using redis = await startRedis();
    await using one = await openApp({ env: { REDIS_URL: redis.url } });
    await using two = await openApp({ env: { REDIS_URL: redis.url, DATABASE_URL: one.databaseUrl } });
    await one.register();
    const { token } = await one.login();
    using events = await follow(two.url, token);
    await add(one, token, "pen");
    expect(await events.next()).toMatchObject({ data: { name: "pen" } });
  });
});
