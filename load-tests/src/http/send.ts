/** Sends one request many times. @module */
import autocannon from "autocannon";
import { watchProcessor } from "../processor-time.js";

/** The load on one server. */
export interface Load {
  /** The requests: the routes of the reference protocol, or those on a database by its driver. */
  readonly suite: "routes" | "pg" | "prisma";
  readonly url: string;
  /** The server's process, whose processor time is read; 0 if that is unknown. */
  readonly serverPid: number;
  /** Connections that are open at the same time. */
  readonly connections: number;
  /** Requests that are sent on a connection before the first response has arrived; one run for each. */
  readonly pipelining: readonly number[];
  /** Measured requests for each route and each pipelining. */
  readonly requests: number;
  /** Untimed requests before each measurement. */
  readonly warmUp: number;
  /** The database of the server, where the suite has one. */
  readonly databaseUrl?: string;
}

/** autocannon looks this often whether it is done; its default of a second would round every time up to seconds. */
const SAMPLE_MS = 10;

/** A server that is not done by then has hung. */
const MAX_SECONDS = 60;

/** One request, and the check of each of its responses. */
export interface Shot {
  /** Its name in tables and errors. */
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly status: number;
  /** The body of every response, or its check if responses differ. */
  readonly expected: string | ((body: string) => boolean);
}

/** The amount of requests, and the depth of pipelining. */
export interface Amount {
  readonly requests: number;
  readonly pipelining: number;
}

/**
 * Sends one request many times. autocannon checks the body of each response, and counts each status.
 *
 * Its own `amount` cannot be used: it closes a connection that has sent its share, so that pipelined requests lose
 * their responses, and a share below the pipelining never ends. The responses are counted here instead, and end the
 * run.
 *
 * @returns The results, or the error in one line.
 */
export async function sendMany(
  load: Pick<Load, "url" | "serverPid" | "connections">,
  shot: Shot,
  { requests: amount, pipelining }: Amount,
): Promise<Record<string, number> | string> {
  const before = process.cpuUsage();
  const serverUsed = watchProcessor(load.serverPid);
  const started = performance.now();
  let answered = 0;
  let finished = started;
  const clients: autocannon.Client[] = [];
  const options = {
    ...optionsOf(load, shot),
    pipelining,
    setupClient: (client: autocannon.Client) => clients.push(client),
  };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(options, (error: Error | null, whole) => (error === null ? resolve(whole) : reject(error)));
    run.on("response", () => {
      answered++;
      if (answered === amount) {
        finished = performance.now();
        clients.forEach(cut);
        run.stop();
      }
    });
  });
  const used = process.cpuUsage(before);
  const serverSeconds = serverUsed() ?? 0;
  const seconds = (finished - started) / 1_000;
  const good = result.statusCodeStats?.[`${shot.status}`]?.count ?? 0;
  const wrong = Math.max(amount, answered) - good + result.mismatches + result.errors;
  if (wrong > 0) return `${shot.name}: ${wrong} of ${amount} responses over HTTP were wrong or missing`;
  return {
    perSecond: amount / seconds,
    clientLoad: (used.user + used.system) / 1e6 / seconds,
    ...(serverSeconds > 0 ? { perCPUSecond: answered / serverSeconds, serverLoad: serverSeconds / seconds } : {}),
  };
}

function optionsOf(
  { url, connections }: Pick<Load, "url" | "connections">,
  { method, path, headers, body, expected }: Shot,
): autocannon.Options {
  return {
    url: url + path,
    method,
    connections,
    duration: MAX_SECONDS,
    sampleInt: SAMPLE_MS,
    headers: { ...headers },
    ...(body === null ? {} : { body }),
    ...(typeof expected === "string"
      ? { expectBody: expected }
      : { verifyBody: (text) => expected(typeof text === "string" ? text : String(text)) }),
  };
}

/** Ends a connection at once: what stops a run is looked at every few milliseconds only. Not in autocannon's types. */
function cut(client: autocannon.Client): void {
  if ("destroy" in client && typeof client.destroy === "function") Reflect.apply(client.destroy, client, []);
}
