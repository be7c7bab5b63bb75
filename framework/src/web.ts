/** `tsgi/web`: applications under the platform's `Request` and `Response`, and the way back. @module */
export { fromFetchHandler } from "./web/from-fetch-handler.js";
export type { FetchContext } from "./web/scope.js";
export {
  type ClosableFetchHandler,
  type FetchHandler,
  type FetchHandlerOptions,
  toFetchHandler,
} from "./web/to-fetch-handler.js";
