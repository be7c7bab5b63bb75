/**
 * `tsgi/internals`: for the official packages, and for tools that describe or measure an application; applications do
 * not need it. It may change in a minor version, together with those packages.
 *
 * @module
 */
// The application as it was compiled.
export { accessRefusal } from "./app/access.js";
export { documentSourceOf, endpointsOf, mountPublic, plansOf, poolOf } from "./app/application.js";
export { startPoolsEagerly } from "./app/pool-rules.js";
export { type Entrance, entranceOf } from "./app/dispatcher.js";
export type { Endpoint } from "./app/endpoint.js";
export {
  type CheckedValue,
  compileCheckOf,
  compileTextOf,
  type Work,
  WorkScope,
  type WrittenValue,
} from "./app/work.js";
export { reportSettings } from "./contrib/settings/settings.js";
export type { CheckParams, PathNames } from "./parameters/annotation.js";
export { type DependencyStep, nameOf, type ParamSpec, type RoutePlan } from "./parameters/dependencies/plan.js";
export { isDependency } from "./parameters/depends.js";
export {
  createTransactional,
  EarlyResponse,
  type ReadyResponse,
  type Transaction,
  type TransactionalDependency,
} from "./parameters/dependencies/transaction.js";
export { QUERY } from "./parameters/head.js";
export type { CallResult, FormattedResult, HTTPValidationError } from "./routing/call-result.js";
export type { CallOptions, FormHeaders, Optional, ParametersOption } from "./routing/call-arguments.js";
export { routeNameOf } from "./routing/entries.js";
export type { PathParams, Resolved } from "./routing/radix-node.js";
export type { ProblemDetails, ValidationProblem, ValidationProblemIssue } from "./routing/call-result.js";
export type {
  ROUTE,
  ROUTE_RESULT,
  ROUTE_ARGUMENTS,
  ROUTE_METHOD,
  ROUTE_PATH,
  ROUTE_PROBLEM,
  Takes,
} from "./routing/routed.js";
export { isRecord } from "./schema/structs.js";
export { describeRoute } from "./openapi/document.js";
export { describedRoute, isListedSocket } from "./openapi/operation.js";

// Options, messages, errors and logs.
export {
  ConnectError,
  describeError,
  inTime,
  isConnectionLost,
  isUnavailable,
  observable,
  postgresqlStart,
  quoteWord,
  REDIS_OPTIONS,
  RedisScript,
  whenEnded,
} from "./common/databases.js";
export { type CodeOf, codeOf, type FactsOf, formatMessage } from "./common/error-codes.js";
export { SERVER_START } from "./common/error-codes/servers.js";
export { type ErrorMaker, errorsOf, missingPackage, statusPhrase, withPlace } from "./common/exceptions.js";
export {
  consoleLogger,
  errorChain,
  errorMessage,
  errorText,
  guardLogger,
  isForeignFrame,
  loggerOf,
  oneLine,
  ownFramesFirst,
} from "./common/logger.js";
export { sha256 } from "./common/digest.js";
export { describe, nearest, plural, show } from "./common/messages.js";
export {
  ANYTHING,
  assertOptions,
  expecting,
  FLAG,
  FUNCTION,
  isObject,
  LIST,
  OBJECT,
  oneOf,
  type OptionRule,
  type OptionRules,
  TEXT,
  whole,
  withDefaults,
} from "./common/options.js";
export { missingModule } from "./common/runtime.js";
export { Deferred, markHandled, MAX_TIMER_MS, NEVER, nextTurn, unlessAborted } from "./common/promises.js";
export { discoveryUrlOf, IDENTIFIER, isSecure } from "./common/addresses.js";

// Credentials, and sessions.
export { AUTHORIZATION, parseAuthorization } from "./parameters/security/credentials.js";
export { SCHEME_OPTIONS } from "./parameters/security/scheme.js";
export { findSessionSettings, type SessionSettings, sessionSettingsOf } from "./middleware/sessions.js";

// Stores, and repeated requests.
export { addText, deleteText, replaceText, STORE, StoreFailure, StoreLog, swapOf } from "./middleware/stores.js";
export { isKept, KEY_HEADER } from "./middleware/idempotency.js";
export {
  type CallerOf as Caller,
  fingerprintOf,
  refusal,
  REPLAYED_HEADER,
  storageKeyOf,
} from "./middleware/idempotency-key.js";

// Observation of requests, and the context that workers carry on.
export { observedOf, observing } from "./middleware/observation/observed.js";
export type { StepKind } from "./middleware/observation/types.js";
export {
  addMetricSources,
  type MetricSample,
  type MetricSource,
  metricSourcesOf,
} from "./middleware/observation/types.js";
export { type WorkFields, withWorkFields } from "./middleware/log-context.js";
export {
  type CarriedContext,
  carriedContext,
  type ContextCarrier,
  runInContext,
  setContextCarrier,
} from "./platforms/concurrency/protocol.js";
export { setEntry } from "./platforms/concurrency/entry.js";

// The protocol between a driver and an application.
export { readBody, type ReceivedEvent, readServerSentEvents } from "./http/read-body.js";
export { isMarkedEvent } from "./http/response/event-source.js";
export { FAILURE, OPEN, type OpenableStream, type StreamFailure } from "./http/response/streaming.js";
export { decodeLatin1 } from "./protocol/bytes.js";
export { assertApplication } from "./protocol/callable.js";
export {
  type Acceptance,
  CLOSE,
  type OpenWebSocket,
  type PendingHandshake,
  type WebSocketEvents,
} from "./protocol/websocket-handshake.js";
export type { ResponseStream } from "./protocol/engine.js";
export { ErrorResponse } from "./protocol/error-response.js";
export { Exchange } from "./protocol/exchange.js";
export { headerValue, headerValues } from "./protocol/header-list.js";
export { HeldMessages, MessageQueue } from "./protocol/message-queue.js";
export { isAuthority, isFieldValue, isToken, parseAddress, parseMediaType } from "./protocol/http-grammar.js";
export { LazyServer } from "./protocol/lazy-server.js";
export type { Lifespan } from "./protocol/lifespan.js";
export { isWellFormed } from "./protocol/path.js";
export { type BodyFlow, RequestBody } from "./protocol/request-body.js";
export { responseFacts, type ServerResponseHead as ResponseHead } from "./protocol/response.js";
export { createScope, toWebSocketScope } from "./protocol/scope.js";
export type { ServerContext } from "./protocol/server-context.js";
export { WebSocketSession } from "./protocol/websocket-session.js";

// The server on Node, for drivers on another loop.
export { findLoopPackage, type NativeLoop } from "./platforms/concurrency/loop.js";
export { serverStartError } from "./platforms/node/stoppable-server.js";
export { MAX_UNSEEN_BYTES, SlowReader } from "./platforms/node/slow-reader.js";
export { SlowResponses, type WaitingResponse } from "./platforms/node/slow-responses.js";
export { onEndRequest } from "./platforms/node/end-request.js";
export { type Closable, closeOnSignals } from "./platforms/node/signals.js";
export type { RequestLimits } from "./platforms/node/header-section.js";
export type { LoopDriver, LoopServerSettings } from "./platforms/node/loop-driver.js";
export { checkTarget, createHead, type RequestHead } from "./platforms/node/request-head.js";
export { TrustedProxies } from "./platforms/node/trusted-proxies.js";
export { StoppableServer, toUrl } from "./platforms/node/stoppable-server.js";
export { maxMessageBytes, parseHandshake, type WebSocketRules } from "./platforms/node/websocket/handshake-rules.js";
