/** The receiving side. */
import { createHmac } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { App, Depends } from "tsgi";
import { TestClient } from "tsgi/testing";
import { verifyWebhook } from "../src/index.js";
import { SECRET } from "./_receiver.js";

const NOW = Math.floor(Date.now() / 1_000);
const BODY = '{"type":"order.paid","data":{"id":1}}';
const OTHER = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;

/** The text of the signature of `msg_1`, `NOW` and a body that is a number, divided at other dots. */
const MOVED = { id: `msg_1.${NOW}`, timestamp: String(NOW + 1) };

/** A signature by Node.js, not by the library. */
function sign(body: string | Buffer, { id = "msg_1", timestamp = String(NOW), secret = SECRET } = {}) {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}

const headersOf = (signature: string, { id = "msg_1", timestamp = String(NOW) } = {}) => ({
  "webhook-id": id,
  "webhook-timestamp": timestamp,
  "webhook-signature": signature,
  "content-type": "application/json",
});

function createApp(options: { problemDetails?: boolean } = {}) {
  const app = new App({ ...options, logger: { debug() {}, info() {}, warn() {}, error() {} } });
  const webhook = Depends(verifyWebhook({ secret: SECRET }));
  app.post("/hooks", { params: { webhook } }, async ({ webhook: received }) => received);
  return app;
}

async function post(body: string | Buffer, headers: Record<string, string | string[]>, app = createApp()) {
  await using client = await TestClient.open(app);
  const request = client.post("/hooks");
  for (const [name, value] of Object.entries(headers)) void request.set(name, value as string);
  const { statusCode, body: json } = await request.send(typeof body === "string" ? body : body);
  return { statusCode, json: json as unknown };
}

describe("a webhook", () => {
  it("with a valid signature is the value of the dependency", async () => {
    expect(await post(BODY, headersOf(sign(BODY)))).toEqual({
      statusCode: 200,
      json: { id: "msg_1", timestamp: NOW, payload: JSON.parse(BODY) as unknown },
    });
  });

  it("needs one valid signature among all of the header", async () => {
    const valid = sign(BODY);
    for (const signature of [`${sign(BODY, { secret: OTHER })} ${valid}`, `v1a,AAAA v1 ${valid} v1,AAAA`]) {
      expect((await post(BODY, headersOf(signature))).statusCode).toBe(200);
    }
  });

  it.each<[string, string | Buffer, Record<string, string>]>([
    ["another body", `${BODY} `, headersOf(sign(BODY))],
    ["another secret", BODY, headersOf(sign(BODY, { secret: OTHER }))],
    ["another id", BODY, headersOf(sign(BODY), { id: "msg_2" })],
    ["another time", BODY, headersOf(sign(BODY), { timestamp: String(NOW + 1) })],
    ["a time of six minutes ago", BODY, old(NOW - 360)],
    ["a time in six minutes", BODY, old(NOW + 360)],
    ["a time that is no number", BODY, headersOf(sign(BODY), { timestamp: `${NOW}x` })],
    ["another version", BODY, headersOf(sign(BODY).replace("v1,", "v2,"))],
    ["no version", BODY, headersOf(sign(BODY).replace("v1,", ""))],
    ["half of a signature", BODY, headersOf(sign(BODY).slice(0, -4))],
    ["an empty signature", BODY, headersOf("v1,")],
    ["parts that were moved into the id", "5", headersOf(sign(`${NOW + 1}.5`), MOVED)],
    ["a body that is not UTF-8", Buffer.from([0xff]), headersOf(sign(Buffer.from("\uFFFD")))],
  ])("with %s is rejected with 401", async (_what, body, headers) => {
    expect(await post(body, headers)).toEqual({
      statusCode: 401,
      json: { detail: "The signature of the webhook is not valid" },
    });
  });

  it.each(["webhook-id", "webhook-timestamp", "webhook-signature"])(
    "without %s, or with two, is rejected",
    async (name) => {
      const { [name]: value = "", ...others } = headersOf(sign(BODY)) as Record<string, string>;
      expect((await post(BODY, others)).statusCode).toBe(401);
      expect((await post(BODY, { ...others, [name]: [value, value] })).statusCode).toBe(401);
    },
  );

  it("is rejected with 400 if it is signed but is not JSON", async () => {
    for (const body of ["{", ""]) {
      expect((await post(body, headersOf(sign(body)))).statusCode).toBe(400);
    }
  });

  it("is rejected in the error format of the App", async () => {
    const app = createApp({ problemDetails: true });
    expect((await post(BODY, headersOf("v1,AAAA"), app)).json).toMatchObject({ status: 401, title: "Unauthorized" });
    expect(Object.keys(app.openapi().paths["/hooks"]?.post?.responses ?? {})).toEqual(
      expect.arrayContaining(["200", "400", "401"]),
    );
  });
});

function old(seconds: number) {
  const timestamp = String(seconds);
  return headersOf(sign(BODY, { timestamp }), { timestamp });
}

it.each([undefined, "", "whsec_", "not base64!", 7])("rejects the secret %p without showing it", (secret) => {
  const create = () => verifyWebhook({ secret: secret as string });
  expect(create).toThrow(expect.objectContaining({ name: "ConfigurationError", code: "TSGI_INVALID_WEBHOOK_SECRET" }));
  expect(create).not.toThrow(/not base64!/);
});
