/** Webhooks of the OpenAPI document. @module */
import { configurationError, withPlace } from "../common/exceptions.js";
import { ANYTHING, assertOptions, FLAG, LIST, OBJECT, type OptionRules, TEXT, whole } from "../common/options.js";
import type { CallbackOperation } from "../routing/options.js";
import { describedRoute } from "./operation.js";
import type { DocumentedRoute } from "./route.js";
import type { DocumentedMethod } from "./types.js";

/** A webhook, described with the options of a route. */
export interface WebhookOptions extends CallbackOperation {
  /** Groups in the document. */
  tags?: readonly string[];
}

const OPTIONS: OptionRules<WebhookOptions> = {
  params: OBJECT,
  returns: ANYTHING,
  statusCode: whole(100),
  responses: OBJECT,
  summary: TEXT,
  description: TEXT,
  operationId: TEXT,
  deprecated: FLAG,
  tags: LIST,
};

/**
 * Describes a request with this method.
 *
 * @param name - Unique together with the method, such as `"order.shipped"`.
 * @throws ConfigurationError when method and name are taken, or an option cannot work.
 */
export type WebhookVerb = (name: string, options?: WebhookOptions) => void;

/**
 * One verb for each method. The application does not serve them: the receiver implements them from the document.
 *
 * @example
 * ```ts
 * import { App, t } from "tsgi";
 *
 * const app = new App({ openapiVersion: "3.1" });
 * const Shipment = t.Object({ id: t.Integer() }, { $id: "Shipment" });
 * app.webhooks.post("order.shipped", { params: { event: Shipment }, statusCode: 204 });
 * console.log(Object.keys(app.openapi().webhooks ?? {})); // [ 'order.shipped' ]
 * ```
 */
export type Webhooks = { readonly [Method in DocumentedMethod]: WebhookVerb };

/** Makes the verbs that add to `routes`. `onAdd` is called before each registration, and may refuse it. */
export function webhookVerbs(routes: DocumentedRoute[], onAdd: (place: string) => void): Webhooks {
  const verb =
    (key: DocumentedMethod): WebhookVerb =>
    (name, options = {}) => {
      const place = `webhooks.${key}(${JSON.stringify(name)})`;
      const method = key.toUpperCase();
      onAdd(place);
      if (typeof name !== "string" || name === "") throw configurationError("TSGI_INVALID_WEBHOOK.name", place);
      assertOptions(place, options, OPTIONS);
      if (routes.some(({ record }) => record.method === method && record.path === name)) {
        throw configurationError("TSGI_INVALID_WEBHOOK.duplicate", place);
      }
      withPlace(place, () => routes.push(describedRoute({ method, address: name, name }, options)));
    };
  return Object.freeze({
    get: verb("get"),
    put: verb("put"),
    post: verb("post"),
    delete: verb("delete"),
    options: verb("options"),
    head: verb("head"),
    patch: verb("patch"),
    trace: verb("trace"),
  });
}
