/** Guards, users and dependencies of the route under test. @module */
import { Body, Depends, HTTPException, Security, SecurityScopes, t, withParams } from "../../core/src/index.js";
import type { Annotation } from "../../core/src/parameters/annotation.js";
import type { Marker } from "../../core/src/parameters/marker.js";
import { APIKeyCookie, APIKeyHeader, APIKeyQuery } from "../../core/src/parameters/security/api-key.js";
import { HTTPBasic, HTTPBearer } from "../../core/src/parameters/security/http.js";
import type { Combination } from "./_pairs-factors.js";
import { generatorOf, scopeOf } from "./_pairs-generators.js";
import { numberOf } from "./_pairs-parameters.js";
import { SECRET } from "./_pairs-samples.js";
import { Broken, type Trace } from "./_pairs-trace.js";

type AnyFunction = (args: never) => unknown;

/** The context in which the parts of one application are made. */
export interface Parts {
  readonly c: Combination;
  readonly trace: Trace;
  /** Dependencies, each with what replaces it. */
  readonly overrides: [original: AnyFunction, replacement: AnyFunction][];
}

/** Options of an exception with a challenge. */
const challenging = (challenge: string) => ({ headers: { "WWW-Authenticate": challenge } });

export function guardOf({ c, trace: { push } }: Parts): Marker<unknown> {
  const { guard } = c;
  if (guard === "reads a body") return Depends(withParams({ whole: Body(t.Object({})) }, async () => {}));
  const params = { level: numberOf(c, "level") };
  if (guard === "generator" || guard === "function generator") {
    const run = generatorOf({ name: "guard ", level: guard, start: () => push("guard"), push });
    return Depends(withParams(params, run), { scope: scopeOf(guard) });
  }
  return Depends(
    withParams(params, async () => {
      push("guard");
      if (guard === "refuses") throw new HTTPException(403);
      if (guard === "challenges") throw new HTTPException(401, "Who?", challenging("Guard"));
      if (guard === "fails") throw new Broken("guard");
    }),
  );
}

const schemesWith = (autoError: boolean) => ({
  bearer: new HTTPBearer({ autoError }),
  token: new HTTPBearer({ scheme: "Token", autoError }),
  basic: new HTTPBasic({ autoError }),
  "key header": new APIKeyHeader({ name: "x-key", autoError }),
  "key query": new APIKeyQuery({ name: "key", autoError }),
  "key cookie": new APIKeyCookie({ name: "key", autoError }),
});
const STRICT = schemesWith(true);
const LENIENT = schemesWith(false);

/** The secret in the credentials of any scheme. */
function secretOf(credentials: unknown): unknown {
  if (typeof credentials !== "object" || credentials === null) return credentials;
  return "password" in credentials ? credentials.password : (credentials as { credentials: string }).credentials;
}

export function userOf({ c, trace: { push }, overrides }: Parts): Annotation {
  const { credentials, scheme, scopes } = c;
  if (credentials === "optional, no scheme") return Depends(async () => "ada", { optional: true });
  const isLenient = credentials.startsWith("lenient");
  const { challenge } = STRICT[scheme];
  const found = Depends((isLenient ? LENIENT : STRICT)[scheme] as HTTPBearer);
  const getUser = withParams({ found, asked: SecurityScopes }, async ({ found: given, asked }) => {
    push("user");
    if (given !== null && secretOf(given) !== SECRET) throw new HTTPException(401, "Unknown", challenging(challenge));
    if (asked.scopes.includes("write")) throw new HTTPException(403, "Not enough", challenging("Scope"));
    return given === null ? "nobody" : "ada";
  });
  if (c.override === "user") overrides.push([getUser, async () => (push("other user"), "eve")]);
  const optional = !isLenient && !credentials.startsWith("required");
  if (scopes === "none") return Depends(getUser, { optional });
  return Security(getUser, { optional, scopes: [scopes === "granted" ? "read" : "write"] });
}

export function dependencyOf(parts: Parts, user: Annotation | null): Annotation {
  const { c, trace, overrides } = parts;
  const fn = dependencyFunction(parts, user);
  const scope = c.dependency.startsWith("app") ? "app" : scopeOf(c.dependency);
  const marker: Annotation = Depends(fn as () => unknown, { scope } as object);
  if (c.override === "dependency") overrides.push([fn, async () => (trace.push("replacement"), "replaced")]);
  if (c.override === "wrapper") {
    const wrapper = withParams({ inner: marker }, async ({ inner }) => {
      trace.push("wrapper");
      return inner;
    });
    overrides.push([fn, wrapper]);
  }
  return marker;
}

function dependencyFunction({ c, trace: { push } }: Parts, user: Annotation | null): AnyFunction {
  const start = (value = "made") => {
    push("start");
    return value;
  };
  switch (c.dependency) {
    case "plain":
      return () => start();
    case "async":
      return async () => start();
    case "class":
      return Made.starting(start) as unknown as AnyFunction;
    case "of the user":
      return withParams({ user: user ?? t.Null() }, async ({ user: name }) => start(`made for ${String(name)}`));
    case "own fault":
      return withParams({ page: numberOf(c, "page") }, async () => start());
    case "refuses":
    case "fails":
      return async () => {
        start();
        throw c.dependency === "refuses" ? new HTTPException(409, "Busy") : new Broken("dependency");
      };
    case "outlives another":
    case "app, of a request": {
      const inner = generatorOf({ name: "", level: "function generator", start, push });
      const outer = generatorOf({ name: "", level: "request generator", start, push });
      return withParams({ inner: Depends(inner, { scope: "function" }) }, outer);
    }
    default:
      return generatorOf({ name: "", level: c.dependency, start, push });
  }
}

/** A dependency that is a class. */
export class Made {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  static starting(start: () => string): new () => Made {
    return class extends Made {
      constructor() {
        super(start());
      }
    };
  }
}
