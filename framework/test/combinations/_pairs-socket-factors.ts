/** The features of WebSocket routes that are combined. @module */
import type { Rule, Space } from "./_pairs-array.js";

const ORDINARY = {
  parameter: ["none", "path", "query", "header", "cookie", "object"],
  guard: ["none", "passes", "generator", "function generator"],
  place: ["route", "router", "app"],
  credentials: ["none", "required", "optional", "absent"],
  scheme: ["bearer", "key query", "key cookie"],
  dependency: [
    "none",
    "async",
    "connection",
    "socket",
    "request generator",
    "function generator",
    "late failure",
    "swallows",
    "app",
  ],
  opening: ["accepts", "with subprotocol and header"],
  receives: ["text", "bytes", "fits", "extra", "iterates"],
  sends: ["text", "bytes", "no schema", "fits", "extra"],
  end: ["returns", "closes", "client closes", "iteration ends", "client terminates"],
  task: ["none", "one", "failing"],
  middleware: ["none", "http"],
  mount: ["none", "router", "app", "app in app"],
  observed: ["no", "yes"],
  driver: ["memory", "serve", "node:http"],
} as const;

const ENDS = {
  parameter: ["path, unfit", "query, unfit", "header, unfit", "cookie, missing"],
  guard: ["refuses", "challenges", "fails", "closes", "own fault"],
  credentials: ["required, missing", "required, malformed", "required, unknown", "optional, malformed"],
  dependency: ["refuses", "fails", "closes", "failing commit"],
  opening: [
    "returns",
    "closes 4001",
    "closes 1008",
    "throws 4002",
    "throws 1008",
    "HTTP error",
    "error",
    "sends",
    "receives",
  ],
  receives: ["unfit", "not JSON", "binary", "text for bytes"],
  sends: ["unfit"],
  end: ["error", "HTTP error", "throws 4010", "throws 1011"],
} as const;

type EndOf<F> = F extends keyof typeof ENDS ? (typeof ENDS)[F][number] : never;

/** One level of each factor. */
export type SocketCombination = {
  readonly [F in keyof typeof ORDINARY]:
    | (typeof ORDINARY)[F][number]
    | EndOf<F>
    | (F extends "driver" ? "uWebSockets.js" : never);
};

function rule<F extends keyof SocketCombination>(
  of: readonly F[],
  allows: (row: Pick<SocketCombination, F>) => boolean,
): Rule<SocketCombination> {
  return { of, allows };
}

const RULES: readonly Rule<SocketCombination>[] = [
  rule(["guard", "place"], ({ guard, place }) => guard !== "none" || place === "route"),
  rule(["mount", "place"], ({ mount, place }) => mount === "router" || place !== "router"),
  rule(["credentials", "scheme"], ({ credentials, scheme }) => credentials !== "none" || scheme === "bearer"),
];

/** The space of all combinations. */
export function socketSpaceFor(hasUws: boolean): Space<SocketCombination> {
  const driver = hasUws ? ([...ORDINARY.driver, "uWebSockets.js"] as const) : ORDINARY.driver;
  return { ordinary: { ...ORDINARY, driver }, ends: ENDS, rules: RULES };
}
