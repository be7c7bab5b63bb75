/** `tsgi/middleware`: the middleware that most applications add. @module */
export type { Middleware } from "./chain.js";
export { accessLog, type AccessLogOptions } from "./middleware/access-log.js";
export { bodyLimit } from "./middleware/body-limit.js";
export { clientNetwork } from "./middleware/client-network.js";
export { cors, type CORSOptions } from "./middleware/cors.js";
// oxlint-disable-next-line typescript/no-deprecated -- the name that the alias is exported by
export { compress, type CompressOptions, type ContentCoding, gzip } from "./middleware/compress.js";
export { httpMiddleware, type HTTPMiddlewareFunction, type ResponseHead } from "./middleware/http-middleware.js";
export { httpsRedirect, type HTTPSRedirectOptions } from "./middleware/https-redirect.js";
export { logContext, type LogContext, type LogFields } from "./middleware/log-context.js";
export { rateLimit, type RateLimitOptions } from "./middleware/rate-limit.js";
export { requestId, type RequestIdOptions } from "./middleware/request-id.js";
export { securityHeaders, type SecurityHeadersOptions } from "./middleware/security-headers.js";
export { serverTiming } from "./middleware/server-timing.js";
export { clearSession, sessionOf, sessions, type SessionsOptions } from "./middleware/sessions.js";
export { type Count, memoryStore, type MemoryStoreOptions, type Store } from "./middleware/stores.js";
export { timeLimit } from "./middleware/time-limit.js";
export { trustedHost, type TrustedHostOptions } from "./middleware/trusted-host.js";
