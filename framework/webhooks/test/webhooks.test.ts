/** Deliveries, over TLS to receivers on loopback. */
import { createHmac } from "node:crypto";
import dns from "node:dns";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { InvalidPayloadError, Jobs } from "@tsgi/jobs";
import { Webhook } from "standardwebhooks";
import { App, t } from "tsgi";
import { observable } from "tsgi/internals";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { type Endpoint, Webhooks, type WebhooksOptions } from "../src/index.js";
import { createLog, LOOPBACK, openReceiver, type Respond, SECRET, status } from "./_receiver.js";

const Order = t.Object({ orderId: t.Integer(), at: t.Optional(t.Date()) });
const EVENTS = { "order.paid": Order, "order.lost": t.String() };
const OTHER = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;

const slow = IS_SLOW ? it : it.skip;

/** Webhooks with endpoints that a test can change. */
function create(endpoints: Record<string, Partial<Endpoint>>, options: Partial<WebhooksOptions<typeof EVENTS>> = {}) {
  const log = createLog();
  const jobs = new Jobs({ inline: true, logger: log });
  const all = new Map<string, Endpoint>();
  const set = (id: string, endpoint: Partial<Endpoint>) =>
    all.set(id, { id, url: "https://localhost", secrets: [SECRET], events: ["order.paid"], ...endpoint });
  for (const [id, endpoint] of Object.entries(endpoints)) set(id, endpoint);
  const webhooks = new Webhooks({
    jobs,
    events: EVENTS,
    endpoints: async (owner) => [...all.values()].filter(({ id }) => id.startsWith(owner)),
    endpoint: async (id) => all.get(id) ?? null,
    allow: LOOPBACK,
    backoffSeconds: 0.01,
    ...options,
  });
  const list = () => webhooks.deliveries({ owner: "ada" });
  return {
    webhooks,
    jobs,
    log,
    all,
    set,
    list,
    send: () => webhooks.send("order.paid", { orderId: 1 }, { owner: "ada" }),
  };
}

describe("a delivery", () => {
  it("is signed as Standard Webhooks specifies, and delivered by a 2xx", async () => {
    await using receiver = await openReceiver();
    const { webhooks, jobs } = create({ "ada-1": { url: receiver.url } });
    const at = new Date("2026-01-02T03:04:05Z");
    const payload = { orderId: 7, at, secret: "not in the schema" };
    const [id] = await webhooks.send("order.paid", payload, { owner: "ada" });
    expect(await webhooks.deliveries({ owner: "ada" })).toMatchObject([{ id, state: "pending", attempts: 0 }]);
    await jobs.drain();
    const [{ headers, body, path } = { headers: {}, body: "", path: "" }] = receiver.received;
    expect(path).toBe("/hooks");
    expect(JSON.parse(body)).toEqual({
      type: "order.paid",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { orderId: 7, at: "2026-01-02T03:04:05.000Z" },
    });
    expect(headers).toMatchObject({ "webhook-id": id, "content-type": "application/json" });
    expect(new Webhook(SECRET).verify(body, headers)).toEqual(JSON.parse(body));
    const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
    const signed = `${id}.${headers["webhook-timestamp"]}.${body}`;
    expect(headers["webhook-signature"]).toBe(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
    expect(await webhooks.deliveries({ owner: "ada" })).toEqual([
      {
        id,
        event: "order.paid",
        endpoint: "ada-1",
        state: "delivered",
        attempts: 1,
        status: 204,
        reason: null,
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ]);
  });

  it("has a signature for each secret during a rotation", async () => {
    await using receiver = await openReceiver();
    const { jobs, send } = create({ "ada-1": { url: receiver.url, secrets: [OTHER, SECRET] } });
    await send();
    await jobs.drain();
    const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
    for (const secret of [OTHER, SECRET]) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(String(receiver.received[0]?.headers["webhook-signature"]).split(" ")).toHaveLength(2);
  });

  it("goes to each endpoint of the owner that receives the event", async () => {
    await using receiver = await openReceiver();
    const url = receiver.url;
    const { jobs, list, send } = create({
      "ada-1": { url: `${url}/1` },
      "ada-2": { url: `${url}/2`, events: ["order.lost", "order.paid"] },
      "ada-3": { url: `${url}/3`, events: ["order.lost"] },
      "bob-1": { url: `${url}/4` },
    });
    expect(await send()).toHaveLength(2);
    await jobs.drain();
    expect(receiver.received.map(({ path }) => path).toSorted()).toEqual(["/hooks/1", "/hooks/2"]);
    expect((await list()).map(({ state }) => state)).toEqual(["delivered", "delivered"]);
  });

  it("is tried again with the same id and body, and reads the endpoint each time", async () => {
    await using receiver = await openReceiver(
      status(500),
      status(302, { location: "https://localhost/" }),
      status(200),
    );
    const at = create({ "ada-1": { url: receiver.url } });
    const endpoint = at.all.get("ada-1");
    let reads = 0;
    jest.spyOn(at.all, "get").mockImplementation(() => {
      reads++;
      return reads === 1 ? endpoint : { id: "ada-1", url: `${receiver.url}/new`, secrets: [OTHER], events: [] };
    });
    await at.send();
    await at.jobs.drain();
    expect(receiver.received.map(({ path }) => path)).toEqual(["/hooks", "/hooks/new", "/hooks/new"]);
    expect(new Set(receiver.received.map(({ body, headers }) => `${headers["webhook-id"]} ${body}`)).size).toBe(1);
    const [, , { headers, body } = { headers: {}, body: "" }] = receiver.received;
    expect(new Webhook(OTHER).verify(body, headers)).toEqual(JSON.parse(body));
    expect(await at.list()).toMatchObject([{ state: "delivered", attempts: 3, status: 200, reason: null }]);
  });

  it("has failed after its last attempt, with the status", async () => {
    await using receiver = await openReceiver(status(503));
    const { jobs, log, list, send } = create({ "ada-1": { url: receiver.url } }, { attempts: 3 });
    await send();
    await jobs.drain();
    expect(receiver.received).toHaveLength(3);
    const reason = "The receiver responded with status 503";
    expect(await list()).toMatchObject([{ state: "failed", attempts: 3, status: 503, reason }]);
    expect(log.lines).toContain(`error The job webhooks/deliver is dead: ${reason}`);
  });

  it.each([
    ["a number", "0"],
    ["a date", new Date(0).toUTCString()],
  ])("is tried again at the time of Retry-After: %s", async (_what, value) => {
    await using receiver = await openReceiver(status(429, { "retry-after": value }), status(204));
    const { jobs, list, send } = create({ "ada-1": { url: receiver.url } }, { backoffSeconds: 80_000 });
    await send();
    await jobs.drain();
    expect(await list()).toMatchObject([{ state: "delivered", attempts: 2 }]);
  });

  it("ends with 410, and reports the endpoint", async () => {
    await using receiver = await openReceiver(status(410));
    const gone: string[] = [];
    const onGone = async ({ id }: Endpoint) => void gone.push(id);
    const { jobs, list, send } = create({ "ada-1": { url: receiver.url } }, { onGone });
    await send();
    await jobs.drain();
    expect(gone).toEqual(["ada-1"]);
    expect(await list()).toMatchObject([{ state: "gone", attempts: 1, status: 410 }]);
  });

  it("ends if its endpoint was removed", async () => {
    await using receiver = await openReceiver();
    const { jobs, all, list, send } = create({ "ada-1": { url: receiver.url } });
    await send();
    all.clear();
    await jobs.drain();
    expect(receiver.received).toEqual([]);
    expect(await list()).toMatchObject([{ state: "gone", status: null, reason: "The endpoint no longer exists" }]);
  });

  it("does not show the errors of the application to the owner", async () => {
    const { jobs, list, send } = create(
      { "ada-1": {} },
      { endpoint: () => Promise.reject(new Error("password of the database")), attempts: 2 },
    );
    await send();
    await jobs.drain();
    expect(await list()).toMatchObject([
      { state: "failed", attempts: 2, reason: "The application could not read or remove the endpoint" },
    ]);
  });

  it.each<[string, Respond]>([
    ["never ends", (response) => void response.writeHead(200).write("x".repeat(200_000))],
    ["is cut", (response) => response.writeHead(200, { "content-length": "9" }).write("x", () => response.destroy())],
  ])("is delivered by the head of a 2xx whose body %s", async (_what, respond) => {
    await using receiver = await openReceiver(respond);
    const { jobs, list, send } = create({ "ada-1": { url: receiver.url } });
    await send();
    await jobs.drain();
    expect(await list()).toMatchObject([{ state: "delivered", attempts: 1, status: 200 }]);
  });

  it("fails if the receiver closes the connection, or has a certificate for another name", async () => {
    await using receiver = await openReceiver((response) => void response.destroy());
    const { jobs, list, send } = create(
      { "ada-1": { url: receiver.url }, "ada-2": { url: `https://127.0.0.2:${receiver.port}/` } },
      { attempts: 1 },
    );
    await send();
    await jobs.drain();
    const reasons = (await list()).map(({ endpoint, state, reason }) => `${endpoint} ${state}: ${reason}`).toSorted();
    expect(reasons).toEqual([
      "ada-1 failed: The connection failed: ECONNRESET",
      expect.stringMatching(/^ada-2 failed: The connection failed: E[A-Z_]+$/),
    ]);
  });

  slow("fails if the response takes longer than 15 s", async () => {
    await using receiver = await openReceiver((response) => void response.flushHeaders, status(200));
    const { jobs, list, send } = create({ "ada-1": { url: receiver.url } }, { attempts: 1 });
    await send();
    await jobs.drain();
    expect(await list()).toMatchObject([{ state: "failed", reason: "No response within 15 s" }]);
  });
});

describe("an endpoint that must not be reached", () => {
  afterEach(() => void jest.restoreAllMocks());

  /** Makes names have these addresses, one after the other. */
  function resolveTo(...addresses: readonly (readonly string[])[]) {
    let count = 0;
    return jest.spyOn(dns, "lookup").mockImplementation(((_host: string, _options: object, callback: unknown) => {
      const found = addresses[Math.min(count++, addresses.length - 1)] ?? [];
      const list = found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      (callback as (error: null, list: object[]) => void)(null, list);
    }) as unknown as typeof dns.lookup);
  }

  it.each([
    "https://127.0.0.1",
    "https://2130706433",
    "https://0x7f.1",
    "https://0177.0.0.1",
    "https://127.0.0.1.",
    "https://[::1]",
    "https://[::ffff:127.0.0.1]",
    "https://[::ffff:8.8.8.8]",
    "https://[64:ff9b::7f00:1]",
    "https://[2002:7f00:1::]",
    "https://169.254.169.254",
    "https://0.0.0.0",
    "https://localhost",
    "https://LOCALHOST",
    "https://①②⑦.0.0.1",
  ])("by its address: %s", async (origin) => {
    await using receiver = await openReceiver();
    const { jobs, log, list, send } = create({ "ada-1": { url: `${origin}:${receiver.port}/` } }, { allow: [] });
    await send();
    await jobs.drain();
    expect(receiver.received).toEqual([]);
    expect(await list()).toMatchObject([
      {
        state: "refused",
        attempts: 1,
        status: null,
        reason: expect.stringMatching(/^The address of \S+ is not public$/),
      },
    ]);
    expect(log.lines).toContainEqual(expect.stringMatching(/^error The job webhooks\/deliver is dead: The address of/));
  });

  it.each([["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::ffff:127.0.0.1"], ["fd00:ec2::254"]])(
    "by the addresses of its name: %s %s",
    async (...addresses) => {
      await using receiver = await openReceiver();
      resolveTo(addresses);
      const { jobs, list, send } = create(
        { "ada-1": { url: `https://rebind.example:${receiver.port}/` } },
        { allow: [] },
      );
      await send();
      await jobs.drain();
      expect(receiver.received).toEqual([]);
      const reason = "The address of rebind.example is not public";
      expect(await list()).toMatchObject([{ state: "refused", reason }]);
    },
  );

  it("by a second lookup: the checked address is the one that is used", async () => {
    await using receiver = await openReceiver();
    const lookup = resolveTo(["127.0.0.1"], ["10.0.0.1"]);
    const { jobs, list, send } = create({ "ada-1": { url: receiver.url } });
    await send();
    await jobs.drain();
    expect(lookup).toHaveBeenCalledTimes(1);
    expect(await list()).toMatchObject([{ state: "delivered" }]);
    await send();
    await jobs.drain();
    expect(receiver.received).toHaveLength(1);
    expect((await list())[0]).toMatchObject({ state: "refused" });
  });

  it.each(["http://localhost/", "ftp://localhost/", "javascript:alert(1)", "//localhost", "localhost", "", undefined])(
    "because its URL is not an https: URL: %p",
    async (url) => {
      const { jobs, list, send } = create({ "ada-1": { url } });
      await send();
      await jobs.drain();
      const reason = "The URL of the endpoint is not an https: URL";
      expect(await list()).toMatchObject([{ state: "refused", attempts: 1, reason }]);
    },
  );

  it.each([[[]], [[""]], [["not base64!"]]])("because it has no usable secret: %p", async (secrets) => {
    const { jobs, list, send } = create({ "ada-1": { secrets } });
    await send();
    await jobs.drain();
    const reason = "The endpoint has no secret, or one that is not in base64";
    expect(await list()).toMatchObject([{ state: "refused", reason }]);
  });
});

describe("webhooks", () => {
  it("check the payload before a delivery is written", async () => {
    const { webhooks, list } = create({ "ada-1": {} });
    const wrong = webhooks.send("order.paid", { orderId: "1" } as unknown as { orderId: number }, { owner: "ada" });
    await expect(wrong).rejects.toBeInstanceOf(InvalidPayloadError);
    await expect(wrong).rejects.toThrow("The payload of the event order.paid does not fit");
    await expect(webhooks.send("order.payed" as "order.paid", { orderId: 1 }, { owner: "ada" })).rejects.toMatchObject({
      code: "TSGI_UNKNOWN_WEBHOOK_EVENT",
    });
    for (const owner of [undefined, ""] as string[]) {
      await expect(webhooks.send("order.paid", { orderId: 1 }, { owner })).rejects.toThrow("owner");
      await expect(webhooks.deliveries({ owner })).rejects.toThrow("owner");
      await expect(webhooks.redeliver("id", owner)).rejects.toThrow("owner");
    }
    expect(await list()).toEqual([]);
  });

  it("write deliveries if the transaction commits", async () => {
    await using receiver = await openReceiver();
    const { webhooks, jobs, list } = create({ "ada-1": { url: receiver.url } });
    const [first, second] = [{}, {}];
    const [commit, rollBack] = [observable(first), observable(second)];
    const send = (tx: object) => webhooks.send("order.paid", { orderId: 1 }, { owner: "ada", tx });
    const [id] = await send(first);
    await send(second);
    expect(await list()).toEqual([]);
    commit(true);
    rollBack(false);
    await jobs.drain();
    expect(await list()).toMatchObject([{ id, state: "delivered" }]);
    await expect(send({})).rejects.toMatchObject({ code: "TSGI_JOBS_INLINE_TRANSACTION" });
    expect(await list()).toHaveLength(1);
  });

  it("send a delivery again with the same id and body, for its owner only", async () => {
    await using receiver = await openReceiver(status(500), status(200));
    const { webhooks, jobs, list, send } = create({ "ada-1": { url: receiver.url } }, { attempts: 1 });
    const [id = ""] = await send();
    await jobs.drain();
    expect(await list()).toMatchObject([{ id, state: "failed", attempts: 1 }]);
    expect(await webhooks.redeliver(id, "bob")).toBe(false);
    expect(await webhooks.redeliver("unknown", "ada")).toBe(false);
    expect(await webhooks.redeliver(id, "ada")).toBe(true);
    await jobs.drain();
    expect(await list()).toMatchObject([{ id, state: "delivered", attempts: 2, status: 200, reason: null }]);
    const [first, second] = receiver.received;
    expect([second?.body, second?.headers["webhook-id"]]).toEqual([first?.body, id]);
  });

  it("send a delivery once if it is sent again before its first attempt", async () => {
    await using receiver = await openReceiver();
    const { webhooks, jobs, list, send } = create({ "ada-1": { url: receiver.url } });
    const [id = ""] = await send();
    expect(await webhooks.redeliver(id, "ada")).toBe(true);
    await jobs.drain();
    expect(receiver.received).toHaveLength(1);
    expect(await list()).toMatchObject([{ id, state: "delivered", attempts: 1 }]);
  });

  it("list 100 deliveries of an owner, the newest first, after an id", async () => {
    const { webhooks, send } = create({ "ada-1": {} }, { endpoint: () => null });
    const ids: string[] = [];
    for (let count = 0; count < 103; count++) ids.unshift(...(await send()));
    const page = await webhooks.deliveries({ owner: "ada" });
    expect(page.map(({ id }) => id)).toEqual(ids.slice(0, 100));
    const after = page.at(-1)?.id ?? "";
    expect((await webhooks.deliveries({ owner: "ada", after })).map(({ id }) => id)).toEqual(ids.slice(100));
    expect(await webhooks.deliveries({ owner: "bob", after })).toEqual([]);
    expect(await webhooks.deliveries({ owner: "ada", after: "unknown" })).toEqual([]);
  });

  it("are described in the OpenAPI document", () => {
    const app = new App({ openapiVersion: "3.1" });
    create({}).webhooks.describe(app);
    const { webhooks = {} } = app.openapi();
    expect(Object.keys(webhooks)).toEqual(["order.paid", "order.lost"]);
    expect(webhooks["order.paid"]?.post).toMatchObject({
      parameters: [{ name: "webhook-id" }, { name: "webhook-timestamp" }, { name: "webhook-signature" }],
      responses: { 204: {} },
    });
    expect(JSON.stringify(app.openapi())).toMatch(/"data":.*"orderId"/);
  });

  it.each<[string, object]>([
    ["jobs", { jobs: undefined }],
    ["jobs", { jobs: {} }],
    ["endpoint", { endpoint: undefined }],
    ["attempts", { attempts: 0 }],
    ["backoffSeconds", { backoffSeconds: -1 }],
    ["endpoints", { endpoints: [] }],
    ["allow", { allow: ["localhost"] }],
  ])("reject a wrong option: %s", (name, options) => {
    expect(() => create({}, options)).toThrow(expect.objectContaining({ name: "ConfigurationError" }));
    expect(() => create({}, options)).toThrow(name);
  });
});
