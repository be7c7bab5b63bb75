/** `tsgi/middleware`: the middleware that most applications add. @module */
export type { Middleware } from "./chain.js";
export { accessLog, type AccessLogOptions } from "./access-log.js";
export { bodyLimit } from "./body-limit.js";
export { clientNetwork, rateLimit, type RateLimitOptions } from "./rate-limit.js";
export { cors, type CORSOptions } from "./cors.js";
export { csrf, type CSRFOptions } from "./csrf.js";
// oxlint-disable-next-line typescript/no-deprecated -- the name that the alias is exported by
export { compress, type CompressOptions, type ContentCoding, gzip } from "./compress.js";
export { decompress, type DecompressOptions } from "./decompress.js";
export { httpMiddleware, type HTTPMiddlewareFunction, type ResponseHead } from "./http-middleware.js";
export { httpsRedirect, type HTTPSRedirectOptions } from "./https-redirect.js";
export { idempotency, type IdempotencyOptions } from "./idempotency.js";
export { logContext, type LogContext, type LogFields } from "./log-context.js";
export { requestId, type RequestIdOptions } from "./request-id.js";
export { securityHeaders, type SecurityHeadersOptions } from "./security-headers.js";
export { serverTiming } from "./server-timing.js";
export { clearSession, renewSession, sessionOf, sessions, type SessionsOptions } from "./sessions.js";
export { type Count, memoryStore, type MemoryStoreOptions, type Store } from "./stores.js";
export { timeLimit } from "./time-limit.js";
export { trustedHost, type TrustedHostOptions } from "./trusted-host.js";
