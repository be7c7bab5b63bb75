/** The table of requests that every runtime passes, through each front end of Lambda. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { ASGIApp } from "tsgi";
import { KeptLog } from "../../test/support/kept-log.js";
import { LATIN1, observe, table } from "../../test/runtimes/_http-table.js";
import { LambdaCaller } from "./_call.js";
import { FRONT_ENDS, type FrontEnd } from "./_gateway.js";

const APP: string = "../../test/runtimes/http-app.mjs"; // not a literal, as JavaScript has no types here

/** A value of the request is lost or changed before the function is called. */
const ONE_VALUE = "a target group without multi-value headers passes the last value of a name";
const DECODED = "HTTP APIs decode the path";
const REWRITTEN = "API Gateway passes the query as names and values";
const JOINED = "payload 2.0 joins the values of a header with a comma and no space";
const TOO_LARGE = "a load balancer accepts 1 MB";

/** The rows to which a front end has another response, each with the reason. */
const CHANGED: Readonly<Record<FrontEnd, Readonly<Record<string, string>>>> = {
  "REST API": { "a query with question marks": REWRITTEN },
  "HTTP API, payload 1.0": {
    "a query with question marks": REWRITTEN,
    "an escaped slash stays in its segment": DECODED,
    "a mounted handler sees the whole URL": DECODED,
    "a mounted handler and a backslash": DECODED,
  },
  "HTTP API": {
    "an escaped slash stays in its segment": DECODED,
    "a mounted handler sees the whole URL": DECODED,
    "a mounted handler and a backslash": DECODED,
    "repeated headers are one list": JOINED,
  },
  "function URL": { "repeated headers are one list": JOINED },
  ALB: {
    "a key twice in the query": ONE_VALUE,
    "many keys of a query": ONE_VALUE,
    "values of a query": ONE_VALUE,
    "repeated headers are one list": ONE_VALUE,
    "two Authorization lines": ONE_VALUE,
    "a stream of 4 MiB": TOO_LARGE,
    "an upload over 1 MiB": TOO_LARGE,
  },
  "ALB, multi-value": { "a stream of 4 MiB": TOO_LARGE, "an upload over 1 MiB": TOO_LARGE },
};

/** Rows that no front end passes as they are. */
const ON_ALL: Readonly<Record<string, string>> = {
  [LATIN1]: "an event is JSON, whose text is UTF-8",
  "the scope of a request": "the scheme is https",
  "an escape that is none": "a decoded path may have a % that escapes nothing, so it is escaped",
};

describe.each(FRONT_ENDS)("the HTTP table through a Lambda with a %s", (frontEnd) => {
  const caller = new LambdaCaller(frontEnd);
  let app: ASGIApp;
  beforeAll(async () => {
    const { createApp } = (await import(APP)) as { createApp: (logger: object) => ASGIApp };
    app = createApp(new KeptLog());
  });
  afterAll(() => caller[Symbol.asyncDispose]());

  const changed = { ...ON_ALL, ...CHANGED[frontEnd] };
  it.each(table.filter(([title]) => !(title in changed)))("%s", async (_title, request, expected, sent) => {
    expect(await observe(request, expected, sent, (...asked) => caller.call(app, ...asked))).toEqual(expected);
  });

  it.each(Object.entries(changed))("changes %s, as %s", async (title) => {
    const [, request = "", expected = {}, sent] = table.find(([name]) => name === title) ?? [];
    expect(await observe(request, expected, sent, (...asked) => caller.call(app, ...asked))).not.toEqual(expected);
  });
});
