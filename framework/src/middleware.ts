/** Middleware: functions from one ASGI app to another, and those that most applications add. @module */
export type { Middleware } from "./chain.js";
export { bodyLimit } from "./middleware/body-limit.js";
export { cors, type CorsOptions } from "./middleware/cors.js";
export { gzip, type ContentCoding, type GzipOptions } from "./middleware/gzip.js";
export { httpMiddleware, type HTTPMiddlewareFunction, type ResponseHead } from "./middleware/http-middleware.js";
export { httpsRedirect, type HttpsRedirectOptions } from "./middleware/https-redirect.js";
export { requestId, type RequestIdOptions } from "./middleware/request-id.js";
export { securityHeaders, type SecurityHeadersOptions } from "./middleware/security-headers.js";
export { clearSession, sessionOf, sessions, type SessionsOptions } from "./middleware/sessions.js";
export { timeLimit } from "./middleware/time-limit.js";
export { trustedHost, type TrustedHostOptions } from "./middleware/trusted-host.js";
