/** A function of AWS Lambda: AWS's runtime interface client, its runtime API on loopback, and its front end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { binaryOf, installOnDemand } from "../support/on-demand.js";
import {
  type FrontEnd,
  type GatewayRequest,
  type GatewayResponse,
  readHead,
  readResult,
  toEvent,
} from "../../lambda/test/_gateway.js";
import type { LambdaResult } from "../../lambda/src/index.js";
import type { LambdaHead } from "../../lambda/src/result.js";
import type { Running } from "./_platform.js";

/** It compiles a native module in about a minute. */
export const RUNTIME_CLIENT = "aws-lambda-ric@4.0.2";

/** The path of AWS's runtime interface client. */
export function findRuntimeClient(): string {
  return path.join(installOnDemand("lambda", [RUNTIME_CLIENT]), "node_modules/aws-lambda-ric/index.mjs");
}

/** Makes events of requests, and responses of results. */
export interface Gateway {
  toEvent(request: GatewayRequest): object;
  readHead(head: LambdaHead): GatewayResponse;
  readResult(result: LambdaResult): GatewayResponse & { readonly body: Buffer };
}

/** A front end of AWS. */
export const gatewayOf = (frontEnd: FrontEnd): Gateway => ({
  toEvent: (request) => toEvent(frontEnd, request),
  readHead: (head) => readHead(frontEnd, head),
  readResult: (result) => readResult(frontEnd, result),
});

/** A request of a client, until the function has responded. */
interface Invocation {
  readonly event: object;
  readonly response: ServerResponse;
}

const CONNECTION = new Set(["connection", "content-length", "transfer-encoding", "keep-alive", "date"]);

/** The runtime API, which the client polls, and the front end, which makes events of requests. */
export class LambdaService implements AsyncDisposable {
  readonly #gateway: Gateway;
  readonly #waiting: Invocation[] = [];
  readonly #running = new Map<string, Invocation>();
  readonly #server = createServer((req, res) => void this.#serve(req, res));
  #next: ServerResponse | null = null;
  #count = 0;
  /** Errors that the client reports. */
  readonly errors: string[] = [];

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  async listen(): Promise<string> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [, , runtime, invocation, id = "", action] = (req.url ?? "").split("/");
    if (runtime !== "runtime") return this.#invoke(req, res);
    if (invocation === "invocation" && id === "next") {
      this.#next = res;
      return this.#deliver();
    }
    if (action === "response") return this.#respond(req, res, id);
    const error = Buffer.concat((await req.toArray()) as Buffer[]).toString();
    this.errors.push(error);
    this.#running.get(id)?.response.writeHead(502).end(error);
    res.writeHead(202).end();
  }

  async #invoke(req: IncomingMessage, response: ServerResponse): Promise<void> {
    const headers: [string, string][] = [];
    for (let index = 0; index < req.rawHeaders.length; index += 2) {
      headers.push([req.rawHeaders[index] ?? "", req.rawHeaders[index + 1] ?? ""]);
    }
    const body = Buffer.concat((await req.toArray()) as Buffer[]);
    const request = { method: req.method ?? "", target: req.url ?? "", headers, body, sourceIp: "127.0.0.1" };
    this.#waiting.push({ event: this.#gateway.toEvent(request), response });
    this.#deliver();
  }

  /** An instance of a function handles one event at a time. */
  #deliver(): void {
    const next = this.#next;
    const invocation = next === null ? undefined : this.#waiting.shift();
    if (next === null || invocation === undefined) return;
    this.#next = null;
    const id = `invocation-${++this.#count}`;
    this.#running.set(id, invocation);
    next.writeHead(200, {
      "content-type": "application/json",
      "lambda-runtime-aws-request-id": id,
      "lambda-runtime-deadline-ms": String(Date.now() + 60_000),
      "lambda-runtime-invoked-function-arn": "arn:aws:lambda:eu-west-1:123456789012:function:anywhere",
    });
    next.end(JSON.stringify(invocation.event));
  }

  async #respond(req: IncomingMessage, res: ServerResponse, id: string): Promise<void> {
    const { response } = this.#running.get(id) as Invocation;
    this.#running.delete(id);
    if (req.headers["lambda-runtime-function-response-mode"] === "streaming") await this.#stream(req, response);
    else this.#return(Buffer.concat((await req.toArray()) as Buffer[]), response);
    res.writeHead(202).end();
  }

  #return(bytes: Buffer, response: ServerResponse): void {
    const { status, headerLines, body } = this.#gateway.readResult(JSON.parse(bytes.toString()) as LambdaResult);
    const headers = headerLines.filter(([name]) => !CONNECTION.has(name.toLowerCase())).flat();
    response.writeHead(status, headers).end(body);
  }

  /** The head of a streamed response is JSON, which ends with eight zero bytes. */
  async #stream(req: IncomingMessage, response: ServerResponse): Promise<void> {
    let before = Buffer.alloc(0);
    let hasHead = false;
    for await (const chunk of req as AsyncIterable<Buffer>) {
      if (hasHead) {
        response.write(chunk); // after a disconnect too: Lambda reads the rest
        continue;
      }
      before = Buffer.concat([before, chunk]);
      const end = before.indexOf(Buffer.alloc(8));
      if (end === -1) continue;
      hasHead = true;
      const { status, headerLines } = this.#gateway.readHead(
        JSON.parse(before.subarray(0, end).toString()) as LambdaHead,
      );
      response.writeHead(status, headerLines.filter(([name]) => !CONNECTION.has(name.toLowerCase())).flat());
      response.flushHeaders();
      if (before.length > end + 8) response.write(before.subarray(end + 8));
    }
    response.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }
}

/** Starts the runtime interface client for a function. */
export async function startLambda(
  gateway: Gateway,
  folder: string,
  { handler = "index.handler", env = {} }: { handler?: string; env?: Record<string, string> } = {},
): Promise<Running & { readonly child: ChildProcess; readonly service: LambdaService }> {
  const client = findRuntimeClient();
  const service = new LambdaService(gateway);
  const address = await service.listen();
  const child = spawn(binaryOf("node22"), [client, handler], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      AWS_LAMBDA_RUNTIME_API: address,
      AWS_LAMBDA_FUNCTION_NAME: "anywhere",
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "512",
      AWS_LAMBDA_FUNCTION_VERSION: "1",
      AWS_LAMBDA_LOG_GROUP_NAME: "anywhere",
      AWS_LAMBDA_LOG_STREAM_NAME: "anywhere",
      AWS_REGION: "eu-west-1",
      LAMBDA_TASK_ROOT: folder,
      _HANDLER: handler,
      ...env,
    },
    stdio: ["ignore", "ignore", process.env["TSGI_SHOW"] === undefined ? "ignore" : "inherit"],
  });
  const ended = once(child, "close");
  return {
    child,
    service,
    url: `http://${address}`,
    close: async () => {
      child.kill("SIGKILL");
      await ended;
      await service[Symbol.asyncDispose]();
    },
  };
}
