import { describe, expect, it } from "@jest/globals";
import { app } from "../src/app.js";
import { ASGICaller } from "../src/direct/asgi-caller.js";
import type { Answer } from "../src/examples.js";

function ask(method: "GET" | "POST", path: string, body: unknown = null): Promise<Answer> {
  const text = body === null ? null : JSON.stringify(body);
  return new ASGICaller(app, { name: "", method, path, body: text, status: 200, answer: null }).ask();
}

describe("the benchmark application", () => {
  it("responds to GET /health", async () => {
    expect(await ask("GET", "/health")).toEqual({
      status: 200,
      contentType: "application/json",
      body: '{"status":"ok"}',
    });
  });

  it("responds to GET /users/{id} with the id as text", async () => {
    expect((await ask("GET", "/users/007")).body).toBe('{"id":"007"}');
  });

  it("responds to POST /users with 201 and only the fields of the schema", async () => {
    const answer = await ask("POST", "/users", { name: "Ada", email: "a@b", age: 36, admin: true });
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.body)).toEqual({ id: 1, name: "Ada", email: "a@b", age: 36 });
  });

  it("responds with 422 and every error of a body", async () => {
    const answer = await ask("POST", "/users", { name: "", age: "old" });
    expect(answer.status).toBe(422);
    const { detail } = JSON.parse(answer.body) as { detail: { loc: string[] }[] };
    expect(detail.map(({ loc }) => loc.join(".")).toSorted()).toEqual(["body.age", "body.email", "body.name"]);
  });

  it("responds with 422 to a request without a body", async () => {
    expect((await ask("POST", "/users")).status).toBe(422);
  });
});
