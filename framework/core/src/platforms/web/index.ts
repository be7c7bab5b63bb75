/** `tsgi/web`: applications under the platform's `Request` and `Response`, and the way back. @module */
export { fromFetchHandler } from "./from-fetch-handler.js";
export type { FetchContext } from "./scope.js";
export {
  type ClosableFetchHandler,
  type FetchHandler,
  type FetchHandlerOptions,
  toFetchHandler,
} from "./to-fetch-handler.js";
