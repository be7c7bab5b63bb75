/** The middleware of the library: the framework's, and custom ones. @module */
import {
  type ASGIApp,
  type HTTPResponseStartMessage,
  type HTTPScope,
  type Middleware,
  PlainTextResponse,
  ResponseHeaders,
  type SendMessage,
} from "tsgi";
import {
  bodyLimit,
  clientNetwork,
  compress,
  type CompressOptions,
  type ContentCoding,
  cors,
  type CORSOptions,
  type Count,
  csrf,
  type CSRFOptions,
  decompress,
  type DecompressOptions,
  httpMiddleware,
  type HTTPMiddlewareFunction,
  httpsRedirect,
  type HTTPSRedirectOptions,
  idempotency,
  type IdempotencyOptions,
  memoryStore,
  type MemoryStoreOptions,
  rateLimit,
  type RateLimitOptions,
  requestId,
  type RequestIdOptions,
  type ResponseHead,
  securityHeaders,
  type SecurityHeadersOptions,
  sessions,
  type SessionsOptions,
  type Store,
  timeLimit,
  trustedHost,
  type TrustedHostOptions,
} from "tsgi/middleware";
import type { Settings } from "./settings.js";

/** Identifies the part of the application that responds. Written on the protocol itself. */
export const servedBy =
  (name: string): Middleware =>
  (app: ASGIApp): ASGIApp =>
  async (scope, receive, send) => {
    if (scope.type !== "http") return app(scope, receive, send);
    await app(scope, receive, (message: SendMessage) =>
      send(message.type === "http.response.start" ? withHeader(message, scope, name) : message),
    );
  };

function withHeader(start: HTTPResponseStartMessage, { root_path = "" }: HTTPScope, name: string): SendMessage {
  const headers = new ResponseHeaders(
    Array.from(start.headers ?? [], ([key, value]) => [latin1(key), latin1(value)] as const),
  );
  headers.append("x-served-by", name + root_path);
  return { ...start, headers: headers.toList() };
}

const latin1 = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);

/** Closed parts of the library: responds without calling the application. */
const closes: HTTPMiddlewareFunction = async (request, next) => {
  if (request.queryParams.has("closed")) return new PlainTextResponse("Closed", { statusCode: 503 });
  const head: ResponseHead = await next();
  if (head.statusCode === 404) head.headers.set("cache-control", "no-store");
  return head;
};

/** Measures a body before the application reads it. */
const measures: HTTPMiddlewareFunction = async (request, next) => {
  const { length } = await request.body();
  (await next()).headers.set("x-body-bytes", String(length));
};

export const closable = httpMiddleware(closes);
export const measured = httpMiddleware(measures);

const idOptions: RequestIdOptions = { trustIncoming: true, generate: () => "made-here" };
const hostOptions: TrustedHostOptions = { allowedHosts: ["127.0.0.1", "localhost", "tools.example"] };
const headerOptions: SecurityHeadersOptions = { permissionsPolicy: "camera=()", frameOptions: "SAMEORIGIN" };
const codings: readonly ContentCoding[] = ["gzip"];
const compressOptions: CompressOptions = { minimumSize: 400, encodings: codings };

/** Around the whole application; the last one is outermost. */
export function appMiddleware({ ownOrigins }: Settings): Middleware[] {
  const corsOptions: CORSOptions = {
    allowOrigins: ownOrigins,
    allowCredentials: true,
    allowHeaders: ["x-desk-key"],
    exposeHeaders: ["x-error"],
  };
  return [
    compress(compressOptions),
    cors(corsOptions),
    securityHeaders(headerOptions),
    requestId(idOptions),
    trustedHost(hostOptions),
  ];
}

/** Sessions of the account's pages. */
export function accountSessions({ sessionSecret }: Settings): Middleware {
  const options: SessionsOptions = { secret: sessionSecret, secure: false, sameSite: "strict" };
  return sessions(options);
}

/** Rejects changes that the page of another site requests. */
export function sameSite({ ownOrigins }: Settings): Middleware {
  const options: CSRFOptions = { trustedOrigins: ownOrigins };
  return csrf(options);
}

/** Makes a request with a key safe to repeat. */
export function once(store: Store): Middleware {
  const options: IdempotencyOptions = { store, ttlSeconds: 3600, header: "Idempotency-Key" };
  return idempotency(options);
}

/** Limits the logins of one network, or to one account. @param store - Of the counts. */
export function loginLimit(store: Store = createStore()): Middleware {
  const options: RateLimitOptions = {
    name: "login",
    limit: 3,
    windowSeconds: 3600,
    store,
    key: ({ headers, client }) => headers["x-account"] ?? clientNetwork(client?.host ?? ""),
  };
  return rateLimit(options);
}

const storeOptions: MemoryStoreOptions = { maxKeys: 1000 };

export const createStore = (): Store => memoryStore(storeOptions);

/** Counts a visit, and returns their number in this hour. */
export async function countVisit(store: Store, name: string): Promise<Count["count"]> {
  const { count } = await store.increment(`visit:${name}`, 3600);
  return count;
}

export const smallBodies = bodyLimit(64);
export const inTime = timeLimit(60_000);
export const zipped = compress({ minimumSize: 10, level: 9 });

const decompressOptions: DecompressOptions = { maxBytes: 1024 };

export const unzipped = decompress(decompressOptions);

const redirectOptions: HTTPSRedirectOptions = { statusCode: 308, port: 8443 };

export const secured = httpsRedirect(redirectOptions);
