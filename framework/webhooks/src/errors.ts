/**
 * Webhooks: `@tsgi/webhooks`.
 *
 * These errors are thrown when you create `Webhooks` or `verifyWebhook`, or send an event. See [webhooks.md](webhooks.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** The event that you send is not in the option `events` of `Webhooks`. */
  TSGI_UNKNOWN_WEBHOOK_EVENT: (event: string, known: readonly string[]) =>
    `The event ${JSON.stringify(event)} is not in the option events. Declared are: ${known.join(", ") || "no events"}.`,
  /**
   * The option `allow` of `Webhooks` contains a value that is not a range of addresses.
   *
   * Write an address or a range in CIDR notation, such as `10.0.0.0/8` or `fd12:3456:789a::/48`. Names of hosts cannot be allowed, because
   * their addresses change.
   */
  TSGI_INVALID_WEBHOOK_ALLOW: (range: string) =>
    `allow must list addresses or ranges such as "10.0.0.0/8", not ${JSON.stringify(range)}.`,
  /**
   * The secret of `verifyWebhook` is missing, empty or not in base64.
   *
   * It is the secret that the sender shows you, with or without `whsec_`. Check that the environment variable is set.
   */
  TSGI_INVALID_WEBHOOK_SECRET:
    "verifyWebhook({ secret }) requires the sender's secret in base64, such as whsec_…. Check that its variable is set.",
};

/** Makes an error of this package. */
export const webhooksError = errorsOf(MESSAGES);
