// Written by `tsgi client` from the document of "tsgi", version "0.1.0". Changes are overwritten.
import createTypedFetch, { type Client, type ClientOptions } from "openapi-fetch";

/** Creates a client. `baseUrl` is the URL of the application; `headers` are sent with each request. */
export function createClient(options: ClientOptions): Client<paths> {
  return createTypedFetch<paths>(options);
}

export interface paths {}

export interface webhooks {}

export interface components {
  schemas: never;
}

export interface operations {}
