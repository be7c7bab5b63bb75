/** The job page. */
import { describe, expect, it } from "@jest/globals";
import { App, Depends, HTTPException, Request, t, withParams } from "tsgi";
import { TestClient } from "tsgi/testing";
import { CONTROL } from "../src/control.js";
import { Jobs } from "../src/index.js";
import { createDatabase, createLog, describeWithDatabase } from "./_database.js";

const appOf = (jobs: Jobs, options?: Parameters<Jobs["router"]>[1]) => {
  const app = new App({ logger: createLog() });
  app.includeRouter(jobs.router("/admin/jobs", options));
  return app;
};

describe("the job page", () => {
  const jobs = new Jobs({ inline: true, logger: createLog() });

  it("explains that inline jobs are not listed, and is not in the OpenAPI document", async () => {
    const app = appOf(jobs);
    await using client = await TestClient.open(app);
    const response = await client.get("/admin/jobs");
    expect(response.statusCode).toBe(200);
    expect(response.text).toContain("The jobs run inline");
    expect(app.openapi().paths).toEqual({});
  });

  it("is neither executed, cached nor framed by a browser", async () => {
    await using client = await TestClient.open(appOf(jobs));
    const { headers } = await client.get("/admin/jobs");
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'/),
    });
    expect(headers["content-security-policy"]).not.toContain("script-src");
  });

  it("is only for clients on this machine without a guard", async () => {
    await using client = await TestClient.open(appOf(jobs));
    expect((await client.get("/admin/jobs").set("x-forwarded-for", "203.0.113.7")).statusCode).toBe(404);
  });

  it("is for clients that its guard accepts", async () => {
    const guard = withParams({ request: Request }, async ({ request }) => {
      if (request.header("authorization") !== "secret") throw new HTTPException(401);
    });
    await using client = await TestClient.open(appOf(jobs, { dependencies: [Depends(guard)] }));
    const get = () => client.get("/admin/jobs").set("x-forwarded-for", "203.0.113.7");
    expect((await get()).statusCode).toBe(401);
    expect((await get().set("authorization", "secret")).statusCode).toBe(200);
    expect((await client.post("/admin/jobs/1/cancel")).statusCode).toBe(401);
  });

  it.each(["jobs", "/jobs/", "/{id}", "", "/a b"])("rejects the path %p", (path) => {
    expect(() => jobs.router(path)).toThrow(expect.objectContaining({ code: "TSGI_INVALID_OPTION" }));
  });
});

describeWithDatabase("the job page with a database", () => {
  const database = createDatabase();

  /** A dead job whose payload and reason are HTML, a waiting one, and the page. */
  async function open() {
    const jobs = database.open();
    const evil = `<script>alert("'&")</script>`;
    const work = jobs.define("work", { payload: t.String(), attempts: 1 }, async ({ payload }) => {
      throw new Error(payload);
    });
    const later = jobs.define("later", {}, async () => {});
    const dead = (await work.enqueue(evil)) ?? "";
    const worker = await database.work(jobs, { queues: ["work"] });
    await database.reached(jobs, dead, "dead");
    await worker.stop();
    const delayed = (await later.enqueue(undefined, { delaySeconds: 3_600 })) ?? "";
    const client = await TestClient.open(appOf(jobs));
    return { jobs, client, dead, delayed, [Symbol.asyncDispose]: () => client.close() };
  }

  it("lists jobs, all or in one state", async () => {
    await using at = await open();
    const list = async (query: string) => (await at.client.get(`/admin/jobs${query}`)).text;
    const all = await list("");
    expect(all).toContain(`href="jobs/${at.dead}"`);
    expect(all).toContain(`href="jobs/${at.delayed}"`);
    expect(await list("?state=dead")).not.toContain(at.delayed);
    expect(await list("?state=delayed")).not.toContain(at.dead);
    expect(await list("?state=running")).toContain("No jobs.");
    expect((await at.client.get("/admin/jobs?state=lost")).statusCode).toBe(422);
  });

  it("shows a job with its payload, as text", async () => {
    await using at = await open();
    for (const path of ["/admin/jobs", `/admin/jobs/${at.dead}`]) {
      const { text } = await at.client.get(path);
      expect(text).not.toContain("<script>");
      expect(text).toContain("&lt;script&gt;alert(&quot;&#39;&amp;&quot;)&lt;/script&gt;");
    }
    expect((await at.client.get("/admin/jobs/unknown")).statusCode).toBe(404);
  });

  it("retries a dead job and cancels another, and returns to its page", async () => {
    await using at = await open();
    const { text } = await at.client.get(`/admin/jobs/${at.dead}`);
    expect(text).toContain(`action="${at.dead}/retry"`);
    expect(text).not.toContain("/cancel");
    const retried = await at.client.post(`/admin/jobs/${at.dead}/retry`).set("sec-fetch-site", "same-origin");
    expect([retried.statusCode, retried.headers["location"]]).toEqual([303, `../${at.dead}`]);
    await expect(at.jobs[CONTROL].show(at.dead)).resolves.toMatchObject({ state: "waiting", attempt: 1 });
    expect((await at.client.get(`/admin/jobs/${at.delayed}`)).text).toContain(`action="${at.delayed}/cancel"`);
    expect((await at.client.post(`/admin/jobs/${at.delayed}/cancel`)).statusCode).toBe(303);
    await expect(at.jobs[CONTROL].show(at.delayed)).resolves.toMatchObject({ state: "cancelled" });
    expect((await at.client.post("/admin/jobs/unknown/retry")).statusCode).toBe(404);
  });

  it.each([
    [{ "sec-fetch-site": "cross-site" }],
    [{ "sec-fetch-site": "same-site" }],
    [{ origin: "https://evil.example" }],
    [{ origin: "null" }],
  ])("changes no job for another site: %j", async (headers) => {
    await using at = await open();
    const request = at.client.post(`/admin/jobs/${at.delayed}/cancel`);
    for (const [name, value] of Object.entries(headers)) void request.set(name, value);
    expect((await request).statusCode).toBe(403);
    await expect(at.jobs[CONTROL].show(at.delayed)).resolves.toMatchObject({ state: "delayed" });
  });

  it("responds with 409 if a dead job cannot wait, because another one has its key", async () => {
    await using at = await open();
    const jobs = database.open();
    const unique = jobs.define("work", { payload: t.String(), attempts: 1 }, async () => {
      throw new Error("no");
    });
    const worker = await database.work(jobs);
    const id = (await unique.enqueue("first", { key: "one" })) ?? "";
    await database.reached(jobs, id, "dead");
    await worker.stop();
    await unique.enqueue("second", { key: "one" });
    const { statusCode, text } = await at.client.post(`/admin/jobs/${id}/retry`);
    expect([statusCode, text]).toEqual([409, expect.stringContaining("the same key is waiting or running")]);
  });
});
