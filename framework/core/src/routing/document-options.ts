/** Options of routes and routers that only the OpenAPI document uses. @module */
import type { Params } from "../parameters/annotation.js";
import type { ResponseDocs } from "../parameters/response-docs.js";
import type { Schema } from "../schema/schema.js";

/** A request that the application sends to its client later, told in the words of a route. */
export interface CallbackOperation {
  /** The parameters of the request. Descriptors as in a route; a bare object schema is the body. */
  params?: Params;
  /** The schema of the expected response. */
  returns?: Schema;
  /** With which status. Defaults to 200. */
  statusCode?: number;
  responses?: ResponseDocs;
  summary?: string;
  description?: string;
  operationId?: string;
  deprecated?: boolean;
}

/** The methods that a callback can be sent with. */
type CallbackMethod = "get" | "put" | "post" | "delete" | "options" | "head" | "patch" | "trace";

/**
 * Requests by name, address and method. An address contains expressions with data of the request: `{ shipped: {
 * "{$request.body#/callback_url}": { post: { params: { event: Shipment } } } } }`.
 *
 * @see OpenAPI 3.0.3 §4.7.18
 */
export type Callbacks = Readonly<
  Record<string, Readonly<Record<string, Readonly<Partial<Record<CallbackMethod, CallbackOperation>>>>>>
>;
