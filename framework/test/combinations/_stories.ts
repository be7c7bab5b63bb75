/** Stories of the tool library: several requests, of which the later ones depend on the earlier. @module */
import type { Answer, Sent } from "../support/call.js";
import type { Need } from "./_calls.js";
import type { Served } from "./_drivers.js";

export interface Story {
  /** A sentence. */
  readonly title: string;
  /** Returns all that the client has seen. */
  readonly tell: (served: Served) => Promise<unknown>;
  readonly expected: unknown;
  readonly needs?: readonly Need[];
}

const OWN = ["origin", "https://tools.example"] as const;
const BOB = ["authorization", "Bearer token-of-bob"] as const;
const ADA = ["authorization", "Bearer token-of-ada"] as const;

const statusOf = ({ status }: Answer) => status;

/** The cookie that a response sets, as the client sends it back; empty if it was removed. */
function cookieOf({ headerLines }: Answer): string {
  const lines = headerLines.filter(([name]) => name.toLowerCase() === "set-cookie").map(([, value]) => value);
  return lines.map((line) => line.split(";")[0] ?? "").find((pair) => !pair.endsWith("=")) ?? "";
}

/** The lines of the journal below a key, once there are so many. */
const journal = async ({ send }: Served, key: string, count: number) =>
  (await send("GET", `/admin/journal/${key}?count=${count}`)).json;

const login = (account: string): Sent => ({
  form: [
    ["username", "ada"],
    ["password", "password-of-ada"],
  ],
  headers: [["x-account", account]],
});

export const stories: readonly Story[] = [
  {
    title: "keeps a session from request to request, and forgets it when it is cleared",
    async tell({ send }) {
      const first = await send("POST", "/v1/basket/saw", { headers: [OWN] });
      const second = await send("POST", "/v1/basket/drill", { headers: [OWN, ["cookie", cookieOf(first)]] });
      const cookie = ["cookie", cookieOf(second)] as const;
      const paid = await send("PUT", "/v1/basket/paid", { headers: [OWN, cookie] });
      const cleared = await send("DELETE", "/v1/basket", { headers: [OWN, cookie] });
      const gone = cleared.headerLines.filter(([name]) => name.toLowerCase() === "set-cookie");
      return [second.json, paid.json, cleared.status, gone.length, cookieOf(cleared)];
    },
    expected: [{ tools: ["saw", "drill"] }, { paid: 2 }, 204, 1, ""],
  },
  {
    title: "keeps a session in a store, under a new id once the locker is open, and deletes it",
    async tell({ send }) {
      const first = await send("POST", "/v1/locker/saw");
      const before = ["cookie", cookieOf(first)] as const;
      const opened = await send("POST", "/v1/locker/open", { headers: [before] });
      const cookie = ["cookie", cookieOf(opened)] as const;
      const own = await send("GET", "/v1/locker", { headers: [cookie] });
      const cleared = await send("DELETE", "/v1/locker", { headers: [cookie] });
      const copied = await send("GET", "/v1/locker", { headers: [cookie] });
      return [first.json, opened.json, own.json, cleared.status, copied.json];
    },
    expected: [
      { tools: ["saw"], isOpen: false },
      { tools: ["saw"], isOpen: true },
      { tools: ["saw"], isOpen: true },
      204,
      { tools: [], isOpen: false },
    ],
  },
  {
    title: "runs a request with an idempotency key once",
    async tell({ send }) {
      const headers = [
        ["idempotency-key", "fill-1"],
        ["authorization", "Bearer of-a-story"],
      ] as const;
      const first = await send("POST", "/v1/locker/axe", { headers });
      const again = await send("POST", "/v1/locker/axe", { headers });
      const other = await send("POST", "/v1/locker/saw", { headers });
      return [again.text === first.text, again.headers["idempotency-replayed"], other.json];
    },
    expected: [true, "true", { detail: "This idempotency key was used for another request" }],
  },
  {
    title: "does not send a result again that the client has",
    async tell({ send }) {
      const first = await send("GET", "/v1/locker/sizes");
      const tag = first.headers["etag"] ?? "";
      const again = await send("GET", "/v1/locker/sizes", { headers: [["if-none-match", tag]] });
      const other = await send("GET", "/v1/locker/sizes", { headers: [["if-match", '"other"']] });
      return [
        first.json,
        /^"[\w-]{22}"$/.test(tag),
        again.status,
        again.text,
        again.headers["etag"] === tag,
        other.json,
      ];
    },
    expected: [{ small: 30, large: 60 }, true, 304, "", true, { detail: "Precondition Failed" }],
  },
  {
    title: "takes the cookie of a login as credentials",
    async tell({ send }) {
      const loggedIn = await send("POST", "/v1/login", login("cookie"));
      return (await send("GET", "/v1/who/badge", { headers: [["cookie", cookieOf(loggedIn)]] })).json;
    },
    expected: "ada",
    needs: ["passwords"],
  },
  {
    title: "limits the logins of one account, and of no other",
    async tell({ send }) {
      const statuses: number[] = [];
      for (let n = 0; n < 4; n++) statuses.push(statusOf(await send("POST", "/v1/login", login("limited"))));
      const refused = await send("POST", "/v1/login", login("limited"));
      const other = await send("POST", "/v1/login", login("another"));
      return [statuses, refused.json, Number(refused.headers["retry-after"]) > 3590, other.status];
    },
    expected: [[200, 200, 200, 429], { detail: "Too Many Requests" }, true, 200],
    needs: ["passwords"],
  },
  {
    title: "commits a change before its response, and tells the others after it",
    async tell(served) {
      const added = await served.send("POST", "/v1/tools", { json: { name: "Plane", kind: "hand" }, headers: [BOB] });
      const listed = await served.send("GET", "/v1/tools?limit=10");
      const { items } = listed.json as { items: { name: string }[] };
      return [
        added.status,
        items.map(({ name }) => name),
        await journal(served, "changes", 1),
        await journal(served, "tasks", 1),
      ];
    },
    expected: [201, ["Drill", "Saw", "Ladder", "Plane"], ["committed"], ["bob told the others of Plane"]],
  },
  {
    title: "rolls a change back if the handler throws, and tells nobody",
    async tell(served) {
      const sent = { json: { name: "Saw", kind: "hand", tags: ["refused"] }, headers: [BOB] };
      const refused = await served.send("POST", "/v1/tools", sent);
      const { items } = (await served.send("GET", "/v1/tools?limit=10")).json as { items: object[] };
      return [refused.status, items.length, await journal(served, "changes", 1)];
    },
    expected: [409, 3, ["rolled back"]],
  },
  {
    title: "lends a tool once, and runs the tasks behind one that fails",
    async tell(served) {
      const lent = await served.send("POST", "/v1/loans/1", { headers: [BOB] });
      const tasks = await journal(served, "tasks", 2);
      const refused = await served.send("POST", "/v1/loans/1", { headers: [ADA] });
      const read = await served.send("GET", "/v1/loans/1");
      return [lent.status, tasks, refused.status, refused.json, (read.json as { by: string }).by];
    },
    expected: [
      201,
      ["bob borrowed Drill", "the next task runs"],
      409,
      { detail: "bob has the Drill", path: "/v1/loans/1" },
      "bob",
    ],
  },
  {
    title: "shows the loan of one client in the stream of another",
    async tell({ send }) {
      await send("POST", "/v1/tools", { json: { name: "Rake", kind: "hand" }, headers: [BOB] });
      const lines = (await send("GET", "/v1/feeds/tools")).text.trim().split("\n");
      return (JSON.parse(lines.at(-1) ?? "{}") as { name: string }).name;
    },
    expected: "Rake",
  },
  {
    title: "cleans up a dependency of a stream behind its last item",
    async tell(served) {
      await served.send("GET", "/v1/feeds/tools");
      return journal(served, "streams", 1);
    },
    expected: ["cleaned up"],
  },
  {
    title: "notes each visit in the guard of a router, and none for a path without a route",
    async tell(served) {
      await served.send("GET", "/v1/tools/1");
      await served.send("GET", "/v1/nothing");
      await served.send("HEAD", "/v1/tools/2");
      const visits = (await journal(served, "visits", 2)) as string[];
      return visits.map((visit) => visit.replace(/ from \w+$/, ""));
    },
    expected: ["http /v1/tools/1", "http /v1/tools/2"],
  },
  {
    title: "ends a generator without end when its client leaves",
    async tell(served) {
      const first = await served.leave("/v1/feeds/endless");
      return [first.startsWith('{"n":0}\n'), await journal(served, "streams", 1)];
    },
    expected: [true, ["endless ended"]],
  },
  {
    title: "lets no client take a stream that failed for a whole one",
    async tell({ send }) {
      return send("GET", "/v1/feeds/failing").then(
        ({ text }) => `whole: ${text}`,
        () => "cut",
      );
    },
    expected: "cut",
  },
  {
    title: "answers a page of the documentation and its files below the middleware of the App",
    async tell({ send }) {
      const [page, document] = [await send("GET", "/docs"), await send("GET", "/openapi.json")];
      const again = await send("GET", "/openapi.json", {
        headers: [["if-none-match", document.headers["etag"] ?? ""]],
      });
      const partner = await send("GET", "/partner/openapi.json");
      const { info, servers } = partner.json as { info: object; servers: object };
      return [page.status, page.headers["x-request-id"], again.status, info, servers];
    },
    expected: [200, "made-here", 304, { title: "Partners", version: "0.1.0" }, [{ url: "/partner" }]],
  },
];
