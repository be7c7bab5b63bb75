import { describe, expect, it } from "@jest/globals";
import { App } from "../src/index.js";
import { TestClient } from "../src/testing.js";

describe("TestClient", () => {
  it("runs the lifespan around its requests, and hands its state on", async () => {
    const notes: string[] = [];
    const app = new App({
      async *lifespan() {
        notes.push("starts");
        yield { db: "open" };
        notes.push("ends");
      },
    });
    app.get("/", async () => "ok");
    {
      await using client = await TestClient.open(app);
      await client.get("/").expect(200, '"ok"');
      expect(notes).toEqual(["starts"]);
    }
    expect(notes).toEqual(["starts", "ends"]);
  });

  it("keeps cookies from one request to the next", async () => {
    const app = new App();
    const { Request, Response } = await import("../src/index.js");
    app.get("/set", { params: { response: Response } }, async ({ response }) => response.setCookie("seen", "yes"));
    app.get("/get", { params: { request: Request } }, async ({ request }) => request.cookies);
    await using client = await TestClient.open(app);
    await client.get("/set").expect(200);
    await client.get("/get").expect(200, { seen: "yes" });
  });

  it("fails to open when start-up fails, and closes once", async () => {
    const failing = new App({ logger: { debug() {}, info() {}, warn() {}, error() {} } });
    failing.onStartup(() => {
      throw new Error("no database");
    });
    await expect(TestClient.open(failing)).rejects.toThrow("no database");
    const client = await TestClient.open(new App());
    await Promise.all([client.close(), client.close()]);
    await client.close();
  });

  it("lists the overrides that were never used", async () => {
    const app = new App();
    const original = async () => 1;
    app.dependencyOverrides.set(original, async () => 2);
    await using client = await TestClient.open(app);
    expect(client.unusedOverrides()).toEqual([original]);
  });
});
