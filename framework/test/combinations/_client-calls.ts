/** Calls that the inferred client and the generated one take as they are written here, and what they give. @module */
import type { LibraryClient } from "./_the-client.js";

export interface ClientCall {
  /** A sentence. */
  readonly title: string;
  readonly call: (client: LibraryClient) => Promise<unknown>;
  readonly expected: unknown;
}

const ADA = { headers: { authorization: "Bearer token-of-ada" } };
const BOB = { headers: { authorization: "Bearer token-of-bob" } };
const added = "2026-01-02T03:04:05.000Z";

export const clientCalls: readonly ClientCall[] = [
  {
    title: "reads a page and the next one",
    async call(client) {
      const first = await client.GET("/v1/tools");
      const next: string | null | undefined = first.data?.next;
      const second = await client.GET("/v1/tools", { params: { query: { cursor: next ?? "", limit: 5 } } });
      return [first, second].map(({ data }) => data?.items.map(({ name }): string => name));
    },
    expected: [["Drill", "Saw"], ["Ladder"]],
  },
  {
    title: "sends lists, aliases and dates in the query",
    async call(client) {
      const { data } = await client.GET("/v1/tools/search", {
        params: { query: { "search-text": "dr", tags: ["wood", "metal"], kind: "power", since: added, free: true } },
      });
      return [data?.count, data?.items[0]?.name];
    },
    expected: [1, "Drill"],
  },
  {
    title: "sends the properties of an object as parameters of their own",
    async call(client) {
      const { data } = await client.GET("/v1/tools/filter", {
        params: { query: { kind: "hand", max_price: 3 }, header: { "x-size": 2 } },
      });
      return data;
    },
    expected: { filter: { kind: "hand", max_price: 3 }, wanted: { "x-color": "any", "x-size": 2 }, cookies: { n: 0 } },
  },
  {
    title: "reads one thing, and the error where there is none",
    async call(client) {
      const { data } = await client.GET("/v1/tools/{tool_id}", { params: { path: { tool_id: 1 } } });
      const { error, response } = await client.GET("/v1/tools/{tool_id}", { params: { path: { tool_id: 99 } } });
      return [data?.name, data?.added, error?.detail, response.status];
    },
    expected: ["Drill", added, "There is no tool 99", 404],
  },
  {
    title: "reads a thing as a visitor who is known",
    async call(client) {
      const { response } = await client.GET("/v1/tools/{tool_id}", {
        params: { path: { tool_id: 1 } },
        headers: { authorization: "Token token-of-ada" },
      });
      return response.headers.get("x-visitor");
    },
    expected: "ada",
  },
  {
    title: "leaves values with a default out of a body",
    async call(client) {
      const { data, response } = await client.POST("/v1/tools", { body: { name: "Plane", kind: "hand" }, ...BOB });
      return [data?.id, data?.tags, data?.price, response.status, response.headers.get("location")];
    },
    expected: [4, [], null, 201, "/v1/tools/4"],
  },
  {
    title: "gives the faults of a body as an error",
    async call(client) {
      const { error, response } = await client.POST("/v1/tools", { body: { name: "", kind: "hand" }, ...BOB });
      return [response.status, JSON.stringify(error?.detail).includes("string_too_short")];
    },
    expected: [422, true],
  },
  {
    title: "sends two members of a body, and one that is embedded",
    async call(client) {
      const path = { tool_id: 2 };
      const changed = await client.PATCH("/v1/tools/{tool_id}", { params: { path }, body: { name: "Fretsaw" } });
      const priced = await client.PUT("/v1/tools/{tool_id}/price", { params: { path }, body: { price: 2.5 } });
      return [changed.data?.was, changed.data?.name, priced.data];
    },
    expected: ["Saw", "Fretsaw", 2.5],
  },
  {
    title: "deletes, which gives no data, and is refused without the scope",
    async call(client) {
      const params = { path: { tool_id: 3 } };
      const refused = await client.DELETE("/v1/tools/{tool_id}", { params, ...BOB });
      const { data, response } = await client.DELETE("/v1/tools/{tool_id}", { params, ...ADA });
      return [refused.response.status, data ?? "none", response.status];
    },
    expected: [403, "none", 204],
  },
  {
    title: "tells the members of a union apart",
    async call(client) {
      const states = await Promise.all(
        [1, 2].map((tool_id) => client.GET("/v1/tools/{tool_id}/availability", { params: { path: { tool_id } } })),
      );
      return states.map(({ data }) => (data?.state === "borrowed" ? data.by : data?.state));
    },
    expected: ["bob", "free"],
  },
  {
    title: "sends what Zod and Valibot check",
    async call(client) {
      const params = { path: { tool_id: 1 } };
      const review = await client.POST("/v1/tools/{tool_id}/reviews", {
        params,
        body: { stars: 4, by: { name: "ada" } },
      });
      const note = await client.POST("/v1/tools/{tool_id}/notes", { params, body: { text: "rusty" } });
      return [review.data?.text, review.data?.by?.name, note.data?.pinned];
    },
    expected: ["", "ada", false],
  },
  {
    title: "sends a schema that contains itself",
    async call(client) {
      const { data } = await client.POST("/v1/tools/categories", {
        body: { name: "a", parts: [{ name: "b", parts: [] }] },
      });
      return data?.parts[0]?.name;
    },
    expected: "b",
  },
  {
    title: "logs in with a form",
    async call(client) {
      const { data } = await client.POST("/v1/login", {
        body: { username: "ada", password: "password-of-ada" },
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
      });
      return [data?.access_token, data?.token_type];
    },
    expected: ["token-of-ada", "bearer"],
  },
  {
    title: "computes in the pool, with and without a body",
    async call(client) {
      const primes = await client.GET("/v1/reports/primes/{below}", { params: { path: { below: 8 } } });
      const newest = await client.GET("/v1/reports/newest", { params: { query: { since: "2027-01-01T00:00:00Z" } } });
      const summed = await client.POST("/v1/reports/summed", { body: [{ n: 1 }, { n: 2 }], ...ADA });
      return [primes.data, newest.data, summed.response.status];
    },
    expected: [[2, 3, 5, 7], null, 202],
  },
  {
    title: "lends a thing with the parameters of the route and of its dependencies",
    async call(client) {
      const { data } = await client.POST("/v1/loans/{tool_id}", {
        params: { path: { tool_id: 1 }, query: { days: 1 } },
        ...ADA,
      });
      const again = await client.POST("/v1/loans/{tool_id}", { params: { path: { tool_id: 1 } }, ...BOB });
      return [data?.tool.name, data?.by, data?.until, again.error];
    },
    expected: ["Drill", "ada", "2026-01-03T03:04:05.000Z", { detail: "ada has the Drill", path: "/v1/loans/1" }],
  },
  {
    title: "sends a header that a dependency reads, by its name",
    async call(client) {
      const { data } = await client.GET("/v1/kiosk/slots/{slot}", {
        params: { path: { slot: 7 }, query: { amount: 2 }, header: { language: "de" } },
      });
      return data?.text;
    },
    expected: "de: 2 × slot 7",
  },
  {
    title: "encodes a path parameter as one segment",
    async call(client) {
      const { data } = await client.GET("/v1/tools/decorated/{word}", {
        params: { path: { word: "a/b ü" }, query: { times: 2 } },
      });
      return data;
    },
    expected: "a/b üa/b ü",
  },
  {
    title: "publishes a bulletin, and gets the error of an outage",
    async call(client) {
      const topic = (name: string) => ({ params: { path: { topic: name } }, body: { text: "hi" } });
      const published = await client.POST("/v1/bulletins/{topic}", topic("news"));
      const failed = await client.POST("/v1/bulletins/{topic}", topic("outage"));
      return [published.response.status, failed.response.status, failed.response.headers.has("retry-after")];
    },
    expected: [204, 503, true],
  },
  {
    title: "starts a log, reads all of it, and is refused as another owner",
    async call(client) {
      const path = { id: crypto.randomUUID() };
      const header = { "x-owner": "ada" };
      const started = await client.PUT("/v1/bulletins/logs/{id}", { params: { path, header, query: { last: 3 } } });
      const again = await client.PUT("/v1/bulletins/logs/{id}", { params: { path, header, query: { last: 3 } } });
      const { data } = await client.GET("/v1/bulletins/logs/{id}/all", { params: { path, header } });
      const other = await client.GET("/v1/bulletins/logs/{id}/all", { params: { path } });
      const stopped = await client.DELETE("/v1/bulletins/logs/{id}", { params: { path, header } });
      return [started.response.status, again.response.status, data, other.response.status, stopped.data];
    },
    expected: [202, 409, { lines: ["1: 1", "2: 2", "3: 3"], failed: false, status: "done" }, 403, { stopped: false }],
  },
];

/** Each scheme with its credentials and the result of a call. */
export const waysIn: readonly {
  readonly scheme: string;
  readonly path:
    | "/v1/who/oauth2"
    | "/v1/who/bearer"
    | "/v1/who/token"
    | "/v1/who/basic"
    | "/v1/who/badge"
    | "/v1/who/card"
    | "/v1/who/ticket";
  readonly send: (request: Request) => Request;
  readonly expected: unknown;
  /** The status without credentials. */
  readonly refused: number;
}[] = [
  {
    scheme: "OAuth2PasswordBearer",
    path: "/v1/who/oauth2",
    send: withHeader("authorization", "Bearer token-of-ada"),
    expected: { name: "ada", scopes: ["tools", "desk"] },
    refused: 401,
  },
  {
    scheme: "HTTPBearer",
    path: "/v1/who/bearer",
    send: withHeader("authorization", "Bearer x"),
    expected: { scheme: "Bearer", credentials: "x" },
    refused: 401,
  },
  {
    scheme: "HTTPBearer of another word",
    path: "/v1/who/token",
    send: withHeader("authorization", "Token token-of-bob"),
    expected: { name: "bob", scopes: ["tools"] },
    refused: 401,
  },
  {
    scheme: "HTTPBasic",
    path: "/v1/who/basic",
    send: withHeader("authorization", `Basic ${btoa("ada:password-of-ada")}`),
    expected: "ada",
    refused: 401,
  },
  {
    scheme: "APIKeyCookie",
    path: "/v1/who/badge",
    send: withHeader("cookie", "badge=ada"),
    expected: "ada",
    refused: 404,
  },
  {
    scheme: "a scheme of the application's own",
    path: "/v1/who/card",
    send: withHeader("x-card", "Card 7"),
    expected: 7,
    refused: 401,
  },
  {
    scheme: "APIKeyQuery, which is optional",
    path: "/v1/who/ticket",
    send: inQuery("ticket", "t1"),
    expected: { ticket: "t1", theme: "light" },
    refused: 200,
  },
];

function withHeader(name: string, value: string): (request: Request) => Request {
  return (request) => {
    request.headers.set(name, value);
    return request;
  };
}

function inQuery(name: string, value: string): (request: Request) => Request {
  return (request) => {
    const url = new URL(request.url);
    url.searchParams.set(name, value);
    return new Request(url, request);
  };
}
