/** Every HTTP test in memory, over a socket in both versions of HTTP, and by `fetch`, from one table. */
import { afterAll, describe } from "@jest/globals";
import { call, type CallApp } from "./call.js";
import { FetchCaller } from "./fetch.js";
import { IS_SLOW } from "./on-demand.js";
import { probe, type ProbeOptions, returning } from "./probe.js";
import { SocketCaller } from "./socket.js";
import type { Params } from "../../core/src/parameters/annotation.js";

/**
 * Features of a request or a response that the platform's classes may change. A row that needs one of them asks for it.
 */
interface Kept {
  /** The method TRACE, which Fetch §2.2.1 forbids. */
  readonly trace: boolean;
  /** Segments of `.` and `..`, which the platform's URL resolves: URL §4.4, "path state". */
  readonly dotSegments: boolean;
  /** Repeated header lines as several, which the platform's `Headers` combines: Fetch §2.2.2. */
  readonly headerLines: boolean;
}

/** `socket`, `http2`: the application is served by the Node server. Except for `memory`, its lifespan has run. */
export type Transport = "memory" | "socket" | "http2" | "fetch";

/** One way to reach an application. */
export interface MatrixClient {
  readonly transport: Transport;
  readonly keeps: Kept;
  /** Sends one request, and waits until the application has settled, background tasks included. */
  readonly call: CallApp;
  /** A route with these params, whose handler records its arguments. */
  readonly probe: (params: Params, options?: ProbeOptions) => ReturnType<typeof probe>;
  /** A route that returns this result. */
  readonly returning: (result: unknown, options?: Parameters<typeof returning>[1]) => ReturnType<typeof returning>;
}

function clientOf(transport: Transport, callApp: CallApp): MatrixClient {
  const isWritten = transport !== "fetch";
  return {
    transport,
    keeps: { trace: isWritten, dotSegments: isWritten, headerLines: isWritten },
    call: callApp,
    probe: (params, options) => probe(params, options, callApp),
    returning: (result, options) => returning(result, options, callApp),
  };
}

/** Each transport with its name in the titles of tests, and with its client; the client in memory has no state. */
const TRANSPORTS: readonly (readonly [Transport, string, (() => SocketCaller | FetchCaller) | null])[] = [
  ["memory", "in memory", null],
  ["socket", "over a socket", () => new SocketCaller()],
  ["http2", "over HTTP/2", () => new SocketCaller(true)],
  ["fetch", "by fetch", () => new FetchCaller()],
];

/**
 * Defines the same tests four times: with an application that is called in memory, with one that the Node server serves
 * over HTTP/1.1 and over HTTP/2, and with the `fetch` that an App has. Headers about only the connection (`date`,
 * `connection`, `transfer-encoding`) are omitted from the responses.
 *
 * @param always - The transports over which the tests always run. Over the others they run with `TSGI_SLOW=1`, and are
 * skipped otherwise.
 * @example
 * ```ts
 * describeMatrix("an App", ({ call }) => {
 *   it("answers 404", async () => expect(await call(new App(), "GET", "/none")).toMatchObject({ status: 404 }));
 * });
 * ```
 */
export function describeMatrix(
  title: string,
  define: (client: MatrixClient) => void,
  always: readonly Transport[] = ["memory"],
): void {
  for (const [transport, name, open] of TRANSPORTS) {
    const describeOrSkip = IS_SLOW || always.includes(transport) ? describe : describe.skip;
    describeOrSkip(`${title} (${name})`, () => {
      const caller = open?.();
      if (caller !== undefined) afterAll(() => caller[Symbol.asyncDispose]());
      define(clientOf(transport, caller?.call ?? call));
    });
  }
}
