/** The exports of a module for direct calls. @module */
import type { ASGIApp } from "tsgi";
import type { Answer } from "../examples.js";

/** The argument of Fastify's `inject`. */
export interface InjectRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
}

/** The result of Fastify's `inject`. */
export interface InjectAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly payload: string;
}

/** An ASGI application. */
export interface ASGIContender {
  readonly kind: "asgi";
  readonly handle: ASGIApp;
}

/** A function from a web-standard request to a web-standard response. */
export interface FetchContender {
  readonly kind: "fetch";
  readonly handle: (request: Request) => Response | Promise<Response>;
}

/** Fastify's own way to be called without a socket. */
export interface InjectContender {
  readonly kind: "inject";
  readonly handle: (request: InjectRequest) => Promise<InjectAnswer>;
}

/** The application of one framework, called without a socket. */
export type Contender = ASGIContender | FetchContender | InjectContender;

/** One contender with one example. Everything that is the same for each request is prepared here. */
export interface Caller {
  /** Sends one request and returns the whole response. */
  ask(): Promise<Answer>;
  /**
   * Sends requests one at a time and returns the number of wrong responses. A request includes everything that a server
   * creates for each one, such as the argument of the framework.
   */
  repeat(requests: number, right: Answer): Promise<number>;
}

/** Imports a contender's module. @throws TypeError when it exports no `kind` and `handle`. */
export async function loadContender(url: string): Promise<Contender> {
  const module: unknown = await import(url);
  return toContender(module, url);
}

/** Checks the exports of a module. @throws TypeError without `kind` and `handle`. */
export function toContender(given: unknown, url: string): Contender {
  if (isContender(given)) return given;
  throw new TypeError(`Expected ${url} to give a kind ("asgi", "fetch" or "inject") and a function named handle.`);
}

function isContender(module: unknown): module is Contender {
  return (
    typeof module === "object" &&
    module !== null &&
    "kind" in module &&
    (module.kind === "asgi" || module.kind === "fetch" || module.kind === "inject") &&
    "handle" in module &&
    typeof module.handle === "function"
  );
}
