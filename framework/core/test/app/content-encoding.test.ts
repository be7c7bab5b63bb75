import { gzipSync } from "node:zlib";
import { expect, it } from "@jest/globals";
import { App } from "../../src/app/app.js";
import { Body, File, Form, Request, t } from "../../src/index.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";
const MULTIPART_TYPE = "multipart/form-data; boundary=b";

const BODIES: Readonly<Record<string, string>> = {
  [JSON_TYPE]: '{"name":"Ada"}',
  [FORM_TYPE]: "name=Ada",
  [MULTIPART_TYPE]: '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nAda\r\n--b--\r\n',
};

function create() {
  let calls = 0;
  const app = new App({ logger: new KeptLog() });
  const params = { request: Request };
  const count = async (): Promise<number> => ++calls;
  app.post("/body", { params: { item: Body(t.Object({ name: t.String() })) } }, count);
  app.post("/embedded", { params: { name: Body(t.String(), { embed: true }) } }, count);
  app.post("/form", { params: { name: Form() } }, count);
  app.post("/file", { params: { name: File() } }, count);
  app.post("/request-json", { params }, async ({ request }) => [await request.json(), await count()]);
  app.post("/request-form", { params }, async ({ request }) => [(await request.form()).get("name"), await count()]);
  app.post("/bytes", { params }, async ({ request }) => Buffer.from(await request.body()).toString("hex"));
  app.post("/stream", { params }, async ({ request }) => {
    let hex = "";
    for await (const part of request.stream()) hex += Buffer.from(part).toString("hex");
    return hex;
  });
  return { app, calls: () => calls };
}

describeMatrix("a request with a Content-Encoding", ({ call }) => {
  it.each([
    ["/body", JSON_TYPE],
    ["/embedded", JSON_TYPE],
    ["/request-json", JSON_TYPE],
    ["/form", FORM_TYPE],
    ["/form", MULTIPART_TYPE],
    ["/file", MULTIPART_TYPE],
    ["/request-form", FORM_TYPE],
    ["/request-form", MULTIPART_TYPE],
  ])("is a 415 that asks for identity when its body is read: %s, %s", async (path, type) => {
    const { app, calls } = create();
    for (const coding of ["gzip", "br", "x-unknown", "identity, gzip"]) {
      const headers = [
        ["content-type", type],
        ["content-encoding", coding],
      ] as const;
      for (const body of [gzipSync(BODIES[type] ?? ""), Buffer.from(BODIES[type] ?? "")]) {
        const answer = await call(app, "POST", path, { headers, body });
        expect([answer.status, answer.json]).toEqual([415, { detail: "Content-Encoding should be identity" }]);
        expect(answer.headers["accept-encoding"]).toBe("identity");
      }
    }
    expect(calls()).toBe(0);
  });

  it.each([
    ["/body", JSON_TYPE],
    ["/request-json", JSON_TYPE],
    ["/form", FORM_TYPE],
    ["/request-form", MULTIPART_TYPE],
  ])("is read if the coding is identity: %s, %s", async (path, type) => {
    const { app } = create();
    for (const coding of ["identity", "IDENTITY", ""]) {
      const headers = [
        ["content-type", type],
        ["content-encoding", coding],
      ] as const;
      const answer = await call(app, "POST", path, { headers, body: Buffer.from(BODIES[type] ?? "") });
      expect([coding, answer.status]).toEqual([coding, 200]);
    }
  });

  it.each(["/bytes", "/stream"])("returns its bytes as they were sent: %s", async (path) => {
    const body = gzipSync("hello");
    const headers = [["content-encoding", "gzip"]] as const;
    expect((await call(create().app, "POST", path, { headers, body })).json).toBe(body.toString("hex"));
  });
});
