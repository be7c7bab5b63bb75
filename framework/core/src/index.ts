/** Everything that an application imports. @module */
export type * from "./protocol/asgi.js";
export { App } from "./app/app.js";
export { type AppOptions } from "./app/application.js";
export { type HandlerPoolOptions } from "./app/pool-rules.js";
export { type ShedOptions } from "./app/shed-options.js";
export { type LifespanFunction, type LifespanHook } from "./app/lifespan.js";
export { type RouteRecord } from "./routing/entries.js";
export { BackgroundTasks } from "./http/background.js";
export { type ContentHeaders, HeaderList } from "./protocol/header-list.js";
export { FormData, type FormValue } from "./http/upload-file.js";
export { UploadFile, type UploadFileOptions } from "./http/upload-file.js";
export { compileHandler, type CompiledHandler } from "./app/compile-handler.js";
export { DependencyOverrides } from "./parameters/dependencies/overrides.js";
export { type ParamSpec } from "./parameters/dependencies/plan.js";
export {
  type ExceptionHandler,
  type ExceptionHandlersInit,
  httpExceptionHandler,
  requestValidationExceptionHandler,
} from "./http/exception-handlers.js";
export { type ErrorFormat, errorFormat, type ErrorFormatOptions } from "./openapi/error-format.js";
export type { ErrorFacts } from "./protocol/error-format.js";
export type { ErrorCode } from "./common/error-codes.js";
export {
  ClientDisconnect,
  ConfigurationError,
  type ConfigurationErrorOptions,
  type Fault,
  HTTPException,
  RecursionError,
  RequestValidationError,
  ResponseValidationError,
  type ValidationIssue,
  WebSocketException,
} from "./common/exceptions.js";
export type { Limits } from "./http/limits.js";
export type { Logger } from "./common/logger.js";
export type { Middleware } from "./middleware/chain.js";
export type { Instrumentation, Observation } from "./middleware/observation/types.js";
export {
  type Annotation,
  type Args,
  type FromParams,
  type Params,
  SecurityScopes,
  withParams,
  type WithParams,
  type WithParamsOptions,
} from "./parameters/annotation.js";
export {
  type ApplicationOptions,
  type Callable,
  type Check,
  type Dependency,
  Depends,
  type DependsMarkerOf,
  type DependsOptions,
  Security,
} from "./parameters/depends.js";
export { Body } from "./parameters/body.js";
export {
  type BodyOptions,
  type FileOptions,
  type Marker,
  ParamKind,
  type PathMarker,
  type SourceMarkerOf,
  type SourceOptions,
  type TextMarker,
} from "./parameters/marker.js";
export { Cookie, Header, Path, Query } from "./parameters/head.js";
export { File } from "./parameters/file.js";
export { Form } from "./parameters/form.js";
export { HTTPConnection, Request } from "./http/request.js";
export { type CookieOptions } from "./http/response/cookies.js";
export {
  event,
  type EventSourceOptions,
  EventSourceResponse,
  lastEventId,
  type MarkedEvent,
  type Notice,
  type ServerSentEvent,
} from "./http/response/event-source.js";
export { FileResponse, type FileResponseOptions } from "./http/response/file.js";
export { HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse } from "./http/response/kinds.js";
export { Response, type ResponseOptions } from "./http/response/response.js";
export { ResponseHeaders } from "./http/response/headers.js";
export { type StreamContent, StreamingResponse } from "./http/response/streaming.js";
export { type AppDelete, type AppGet, type AppPatch, type AppPost, type AppPut } from "./routing/common-verbs.js";
export { type CallbackOperation, type Callbacks } from "./routing/options.js";
export type { ErrorSource } from "./http/error-format.js";
export type { Translate } from "./protocol/error-format.js";
export { type MediaTypeDoc, type ResponseDoc, type ResponseDocs } from "./parameters/annotation.js";
export {
  type DataEvent,
  type EventOf,
  type EventSchemaMap,
  type EventSchemas,
  type NamedEvent,
  sse,
} from "./routing/options.js";
export { type FromPath, type HandlerArgs, type HandlerResult } from "./routing/route-types.js";
export {
  type IncludeOptions,
  type MessageSchemas,
  type Returns,
  type RouterOptions,
  type RouterLifespan,
  type RouteMetadata,
  type RouteOptions,
  type RoutePoolOptions,
  type ToolOptions,
  type StreamFormat,
  type WebSocketOptions,
} from "./routing/options.js";
export { type MultiVerb, type SocketContext, type SocketVerb, type Verb } from "./routing/verbs.js";
export { RadixNode } from "./routing/radix-node.js";
export { RadixRouter } from "./routing/radix-router.js";
export { Router } from "./routing/router.js";
export {
  type Routed,
  type SocketTypesOf,
  type SocketTypesOfDecorated,
  type TypesOf,
  type TypesOfDecorated,
  type TypesOfHandler,
  type RouteTypes,
} from "./routing/routed.js";
export { StaticFiles, type StaticFilesOptions } from "./http/static-files.js";
export { type AcceptOptions, type MessageRules, type TypedWebSocket, WebSocket } from "./http/websocket.js";
export { type Schema, type SchemaInput, type SchemaOutput, t } from "./schema/schema.js";
export { type SchemaBuilder, type WithDefault } from "./schema/schema.js";
export { type StandardSchema } from "./schema/standard.js";
export type {
  ArrayOptions,
  Assert as TAssert,
  DateOptions,
  Evaluate as TEvaluate,
  IntegerOptions,
  NumberOptions,
  ObjectOptions,
  SchemaOptions,
  Static,
  StringOptions,
  TAny,
  TArray,
  TBigInt,
  TBoolean,
  TDate,
  TEnum,
  TImport,
  TIndexFromPropertyKey,
  TInteger,
  TIntersect,
  TIntersectEvaluated,
  TKeyOf,
  TKeyOfPropertyKeys,
  TLiteral,
  TModule,
  TNever,
  TNot,
  TNull,
  TNumber,
  TObject,
  TOmit,
  TOptional,
  TPartial,
  TPick,
  TProperties,
  TReadonly,
  TReadonlyOptional,
  TRecord,
  TRecursive,
  TRef,
  TRegExp,
  TRequired,
  TSchema,
  TSetDistinct,
  TString,
  TTemplateLiteral,
  TTemplateLiteralSyntax,
  TThis,
  TTransform,
  TTuple,
  TUint8Array,
  TUndefined,
  TUnion,
  TUnknown,
  TUnsafe,
  TVoid,
} from "@sinclair/typebox";
/**
 * A compiler names the types of schemas by these in the declarations of routes that it writes. In the folders of pnpm a
 * project cannot name them by TypeBox, which it does not list (TS2742, TS2883).
 */
