/** `@tsgi/webhooks`: sends events to endpoints of others, and verifies received ones. @module */
export type { Delivery } from "./deliveries.js";
export type { Endpoint, SendOptions, WebhooksOptions } from "./options.js";
export { type VerifiedWebhook, verifyWebhook } from "./verify.js";
export { Webhooks } from "./webhooks.js";
