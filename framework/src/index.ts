/** Everything that an application imports. @module */
export * from "./asgi.js";
export { HeaderList } from "./datastructures.js";
export {
  ConfigurationError,
  HTTPException,
  RecursionError,
  RequestValidationError,
  WebSocketException,
  type Fault,
} from "./exceptions.js";
