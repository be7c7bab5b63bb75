/** Reports that keep a processor busy: their handlers are not async, and run in the pool. @module */
import {
  Depends,
  HTTPException,
  JSONResponse,
  Request,
  Response,
  type RoutePoolOptions,
  Router,
  t,
  withParams,
} from "tsgi";
import { getMember } from "../auth.js";
import { BorrowedError, library } from "../library.js";
import { Kind, Tool } from "../models.js";

const ended: RoutePoolOptions = { endOnDisconnect: true };

/** The bytes of a request, for a handler that cannot be given the request itself. */
const readBytes = withParams({ request: Request }, async ({ request }) => request.body());

const listTools = withParams({ library }, async ({ library }) => [...library.tools.values()]);

export const router = new Router({ prefix: "/reports", tags: ["reports"] });

export const primes = router.get(
  "/primes/{below}",
  { params: { below: t.Integer({ minimum: 2, maximum: 1000 }) }, returns: t.Array(t.Integer()) },
  ({ below }) => {
    const isPrime = (n: number) => Array.from({ length: n - 2 }, (_, k) => k + 2).every((k) => n % k !== 0);
    return Array.from({ length: below - 2 }, (_, k) => k + 2).filter(isPrime);
  },
);

/**
 * Dates, absent values and nested data are sent to the worker and back; properties outside the schema are removed here.
 */
export const newest = router.get(
  "/newest",
  {
    params: { tools: Depends(listTools), kind: t.Optional(Kind), since: t.Optional(t.Date()) },
    returns: t.Union([Tool, t.Null()]),
  },
  ({ tools, kind, since }) => {
    const found = tools.filter((tool) => (kind ?? tool.kind) === tool.kind && (since ?? tool.added) <= tool.added);
    return found.length === 0 ? null : { ...found[0]!, internal: new Map([["a", 1]]) };
  },
);

/** Bytes in, bytes out. */
export const turn = router.post("/turned", { params: { bytes: Depends(readBytes) } }, ({ bytes }) => {
  return new Response(bytes.toReversed(), {
    mediaType: "application/octet-stream",
    headers: { "x-bytes": String(bytes.length) },
  });
});

export const body = router.post(
  "/summed",
  { params: { numbers: t.Array(t.Object({ n: t.Number() })), member: Depends(getMember) }, pool: ended },
  ({ numbers, member }) =>
    new JSONResponse({ sum: numbers.reduce((sum, { n }) => sum + n, 0), by: member.name }, { statusCode: 202 }),
);

export const refused = router.get("/refused", () => {
  throw new HTTPException(402, { costs: 5 }, { headers: { "x-price": "5" } });
});

export const lost = router.get("/lost", () => {
  throw new BorrowedError("Report", "Nobody");
});

export const where = router.get("/where", () => ({ process: process.pid }));

export const here = router.get("/here", { pool: false }, () => ({ process: process.pid }));
