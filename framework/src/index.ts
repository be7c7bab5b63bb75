/** Everything that an application imports. @module */
export type * from "./asgi.js";
export {
  App,
  type AppOptions,
  type HandlerPoolOptions,
  type LifespanFunction,
  type LifespanHook,
  type RouteRecord,
} from "./app.js";
export { BackgroundTasks } from "./background.js";
export { FormData, type FormValue, HeaderList, UploadFile, type UploadFileOptions } from "./datastructures.js";
export { compileHandler, type CompiledHandler, DependencyOverrides, type ParamSpec } from "./dependencies.js";
export {
  type ExceptionHandler,
  type ExceptionHandlersInit,
  httpExceptionHandler,
  requestValidationExceptionHandler,
} from "./exception-handlers.js";
export type { ErrorCode } from "./error-codes.js";
export {
  ClientDisconnect,
  ConfigurationError,
  type ConfigurationErrorOptions,
  type Fault,
  HTTPException,
  RecursionError,
  RequestValidationError,
  ResponseValidationError,
  WebSocketException,
} from "./exceptions.js";
export type { Limits } from "./limits.js";
export type { Logger } from "./logger.js";
export type { Middleware } from "./chain.js";
export type { Instrumentation, Observation } from "./observation.js";
export {
  type Annotation,
  type ApplicationOptions,
  type Args,
  Body,
  type BodyOptions,
  type Callable,
  type Check,
  Cookie,
  type Dependency,
  Depends,
  type DependsMarkerOf,
  type DependsOptions,
  File,
  type FileOptions,
  Form,
  type FromParams,
  Header,
  type Marker,
  ParamKind,
  type Params,
  Path,
  type PathMarker,
  Query,
  Security,
  SecurityScopes,
  type SourceMarkerOf,
  type SourceOptions,
  type TextMarker,
  withParams,
  type WithParams,
} from "./params.js";
export { HTTPConnection, Request } from "./request.js";
export {
  type CookieOptions,
  type EventSourceOptions,
  EventSourceResponse,
  FileResponse,
  type FileResponseOptions,
  HTMLResponse,
  JSONResponse,
  lastEventId,
  PlainTextResponse,
  RedirectResponse,
  Response,
  ResponseHeaders,
  type ResponseOptions,
  type ServerSentEvent,
  type StreamContent,
  StreamingResponse,
} from "./response.js";
export {
  type AppDelete,
  type AppGet,
  type AppPatch,
  type AppPost,
  type AppPut,
  type CallbackOperation,
  type Callbacks,
  type DataEvent,
  type EventOf,
  type EventSchemaMap,
  type EventSchemas,
  type FromPath,
  type HandlerArgs,
  type HandlerResult,
  type IncludeOptions,
  type MediaTypeDoc,
  type NamedEvent,
  type MultiVerb,
  RadixNode,
  RadixRouter,
  type ResponseDoc,
  type ResponseDocs,
  type Returns,
  Router,
  type RouterOptions,
  type RouterLifespan,
  type RouteMetadata,
  type RouteOptions,
  type Routed,
  type RoutedHandler,
  type RoutePoolOptions,
  sse,
  type ToolOptions,
  type RouteTypes,
  type SocketVerb,
  type StreamFormat,
  type Verb,
} from "./router.js";
export { StaticFiles, type StaticFilesOptions } from "./static-files.js";
export { type AcceptOptions, WebSocket } from "./websocket.js";
export {
  type Schema,
  type SchemaBuilder,
  type SchemaInput,
  type SchemaOutput,
  type StandardSchema,
  type Static,
  t,
  type TSchema,
  type WithDefault,
} from "./schema.js";
