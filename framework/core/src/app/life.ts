/** The life of a call, from its arguments to the end of its cleanup, and what a route does in it. @module */
import type { ASGIApp, HTTPScope, Send } from "../protocol/asgi.js";
import { adopt, makeArguments, validationError } from "../parameters/dependencies/arguments.js";
import { Call, type CallSettings } from "../parameters/dependencies/call.js";
import { closeExits, throwIntoExits } from "../parameters/dependencies/exits.js";
import { INVALID } from "../parameters/source.js";
import { createFindOverride, type DependencyOverrides } from "../parameters/dependencies/overrides.js";
import { type CallablePlan, type FindOverride, nameOf, type RoutePlan } from "../parameters/dependencies/plan.js";
import { isFulfilled, peek, timeoutReason } from "../common/promises.js";
import { ABORT, HAS_FILES } from "../http/request.js";
import { responseOf } from "../http/response/web.js";
import { PREPARE, type Response, type Sender } from "../http/response/response.js";
import { RESPONDER, type RespondingSend, responseFacts, type ResponseTarget } from "../protocol/response.js";
import { finishAfterCut } from "../protocol/server-context.js";
import { reportLateWork } from "../middleware/layer.js";
import { stepped } from "../middleware/observation/observed.js";
import type { StreamFormat } from "../routing/options.js";
import type { CompiledReturns } from "../schema/schema.js";
import { sendTagged } from "./entity-tag.js";
import { resultJSON, resultText, sendJSON, withDraft } from "./result.js";
import { type ErrorSettings, logError, prepareResponse, sendUnlessGone } from "./errors.js";
import { HandlerTimeout } from "./handler-timeout.js";
import { takeResponse } from "./transactions.js";
import { type CompiledResult, isHandlerStream } from "./stream.js";
import type { PathPattern } from "../routing/path-pattern.js";

/** The points at which the kinds of calls differ: of a route, of a WebSocket, of work outside of requests. */
export interface Life<Result> {
  readonly plan: CallablePlan;
  /** Calls the handler; `null` for a check of access. */
  readonly handle: ((args: object, call: Call) => unknown) | null;
  /** Ends a call whose handler has returned: cleans up scope `"function"`, ends transactions, and responds. */
  result(call: Call, value: unknown): Promise<Result> | Result;
  /** Hears of an error before the dependencies do. */
  interrupt?(call: Call, error: unknown): void;
  /** Ends a call that has failed, after its dependencies got the error. */
  failure(call: Call, error: unknown): Promise<Result> | Result;
}

/**
 * Runs the call from the arguments of the handler to the end of the cleanup, in the same order for each kind. Cleanup of scope
 * `"request"` and tasks run at last, whether it has failed or not.
 */
export async function live<Result>(life: Life<Result>, call: Call, find: FindOverride | null): Promise<Result> {
  const { plan, handle } = life;
  let ended: Result;
  try {
    const made = makeArguments(plan, call, find);
    const args = made instanceof Promise ? await made : made;
    if (args === INVALID) throw validationError(call);
    let value: unknown;
    if (handle !== null) {
      const { observed } = call;
      const given =
        observed === null
          ? handle(args, call)
          : stepped(observed, "handler", nameOf(plan), () => adopt(handle(args, call)));
      value = peek !== null && isFulfilled(given) ? peek(given) : await given;
    }
    const result = life.result(call, value);
    ended = result instanceof Promise ? await result : result;
  } catch (error) {
    return fail(life, call, error);
  }
  if (call.hasMore || call.requestIfMade?.[HAS_FILES]) await call.finish();
  return ended;
}

async function fail<Result>(life: Life<Result>, call: Call, cause: unknown): Promise<Result> {
  // The handler has done its work: it is not undone because its client did not wait for the end.
  const isDone = call.hasBegun && call.isDisconnect(cause);
  if (!isDone) life.interrupt?.(call, cause);
  const error = isDone || call.exits === null ? cause : await throwIntoExits(call.exits, cause, call.settings.logger);
  let ended: Result;
  try {
    ended = await life.failure(call, error);
  } catch (failure) {
    // The server cuts a response in its middle as soon as it hears of the error, and then waits for the rest.
    if (!call.hasBegun) await call.finish();
    else if (call.hasMoreAfterCut) finishAfterCut(call.scope as HTTPScope, call.finish());
    throw failure;
  }
  await call.finish();
  return ended;
}

/** The key under which a mounting App hands its overrides on. */
export const OVERRIDES: unique symbol = Symbol("tsgi.overrides");

/** A scope that a mounting App has handed on. */
export interface MountedScope {
  [OVERRIDES]?: readonly DependencyOverrides[];
}

/** The `send` of a call as a function. */
function sendOf(to: ResponseTarget): Send {
  const send: RespondingSend = (message) => to.send(message);
  if (to.responder) send[RESPONDER] = to.responder;
  return send;
}

/** Sends a response that is ready. */
type Sending = (send: Send) => Promise<void> | void;

/** The JSON text of a result, or what sends it. */
type Rendered = Promise<string | Sending> | string | Sending;

/** One route, compiled. */
export interface CompiledRoute extends CompiledResult {
  readonly plan: RoutePlan;
  readonly handle: (args: object, call: Call) => unknown;
  /** `true` for the route option `etag`. */
  readonly hasTag: boolean;
  readonly settings: CallSettings;
  readonly errors: ErrorSettings;
  readonly overrides: DependencyOverrides;
  readonly pattern: PathPattern;
}

/** Runs the calls of one route: from the scope to the response. */
export class RouteLife implements Life<void> {
  readonly plan: CallablePlan;
  readonly handle: (args: object, call: Call) => unknown;
  readonly #returns: CompiledReturns | null;
  readonly #format: StreamFormat | null;
  readonly #hasTag: boolean;
  readonly #isBodyless: boolean;
  readonly #settings: CallSettings;
  readonly #errors: ErrorSettings;
  readonly #overrides: DependencyOverrides;
  readonly #pattern: PathPattern;

  constructor({ plan, handle, returns, format, hasTag, settings, errors, overrides, pattern }: CompiledRoute) {
    this.plan = plan.handler;
    this.handle = handle;
    this.#returns = returns;
    this.#format = format;
    this.#hasTag = hasTag;
    this.#isBodyless = responseFacts(settings.statusCode, "GET").bodyless;
    this.#settings = settings;
    this.#errors = errors;
    this.#overrides = overrides;
    this.#pattern = pattern;
  }

  /** Responds to one request. */
  readonly run: ASGIApp = (given, receive, send) => {
    const scope = given as HTTPScope & MountedScope;
    const call = new Call(scope, receive, send, this.#settings);
    const outer = scope[OVERRIDES];
    return live(this, call, outer === undefined && this.#overrides.size === 0 ? null : this.#findOverride(outer));
  };

  /** Looks up overrides of this App and of the Apps that mount it. */
  #findOverride(outer: readonly DependencyOverrides[] = []): FindOverride | null {
    return createFindOverride([...outer, this.#overrides], this.#pattern.names);
  }

  result(call: Call, result: unknown): Promise<void> | void {
    const { observed } = call;
    // Items that are yielded are made while they are sent: then sending is the step.
    const isSerialized = observed !== null && this.#format === null;
    const rendered = isSerialized
      ? stepped(observed, "serialization", nameOf(this.plan), () => this.#render(call, result))
      : this.#render(call, result);
    return rendered instanceof Promise || call.exits !== null
      ? this.#endTransactions(call, rendered)
      : this.#send(call, rendered, call);
  }

  /** The handler cannot be stopped: it hears that its time is up. */
  interrupt(call: Call, error: unknown): void {
    if (!(error instanceof HandlerTimeout)) return;
    call.requestIfMade?.[ABORT](timeoutReason());
    reportLateWork(call.scope as HTTPScope, error.ended);
  }

  /** Responds to an error, unless the client has disconnected. @throws an error after the head: the server cuts the response. */
  async failure(call: Call, error: unknown): Promise<void> {
    const scope = call.scope as HTTPScope;
    try {
      if (call.isDisconnect(error)) return;
      if (call.hasBegun) throw error;
      const { response, sender } = await prepareResponse(error, call.request, this.#errors);
      call.response = response;
      await sendUnlessGone(sender, sendOf(call));
    } catch (failure) {
      logError(failure, scope, this.#settings.logger);
      throw failure;
    }
  }

  /**
   * Runs the parts of a response that can fail before its head is sent: returns the JSON text, or a function that sends
   * the response.
   */
  #render(call: Call, result: unknown): Rendered {
    const isData =
      typeof result !== "object" || result === null || result.constructor === Object || Array.isArray(result);
    const response = isData ? null : responseOf(result);
    if (response !== null) return this.#prepare(call, response);
    return this.#returns === null ? resultText(result) : resultJSON(this.#returns, result);
  }

  #prepare(call: Call, response: Response): Promise<Sending> | Sending {
    call.response = response;
    call.hasMore = true;
    const sender = response[PREPARE]((call.scope as HTTPScope).method === "HEAD", call.request);
    return sender instanceof Promise
      ? sender.then((prepared) => this.#sendingOf(call, response, prepared))
      : this.#sendingOf(call, response, sender);
  }

  #sendingOf(call: Call, response: Response, sender: Sender): Sending {
    const isResult = this.#format !== null && isHandlerStream(response);
    const draft = call.draftIfMade;
    if (draft && isResult) response.statusCode = draft.statusCode;
    call.sender = sender;
    const sending: Sending = (send) => sender(draft ? withDraft(send, draft, isResult) : send);
    const { observed } = call;
    if (observed === null || this.#format === null) return sending;
    return (send) => stepped(observed, "serialization", nameOf(this.plan), () => sending(send));
  }

  /** Cleans up and ends transactions before the response is sent, which one may have stored. */
  async #endTransactions(call: Call, rendered: Rendered): Promise<void> {
    let content = await rendered;
    await call.closeFunctionScope(async (exits) => {
      const taken = await takeResponse(exits, (send) => this.#send(call, content, { scope: call.scope, send }));
      if (taken !== null) content = taken;
      await closeExits(exits, "transaction", this.#settings.logger);
    });
    await this.#send(call, content, call);
  }

  #send(call: Call, rendered: string | Sending, to: Pick<Call, "scope"> & ResponseTarget): Promise<void> | void {
    if (typeof rendered !== "string") return rendered(sendOf(to));
    const draft = call.draftIfMade;
    if (this.#hasTag) {
      const scope = call.scope as HTTPScope;
      const status = draft?.statusCode ?? this.#settings.statusCode;
      return sendTagged({ scope, send: sendOf(to), request: call.request, status, text: rendered, draft });
    }
    if (draft === null) return sendJSON(to, this.#settings.statusCode, rendered, this.#isBodyless);
    const { statusCode } = draft;
    const { bodyless } = responseFacts(statusCode, "GET");
    const send = withDraft(sendOf(to), draft, true);
    return sendJSON({ scope: call.scope, send }, statusCode, rendered, bodyless);
  }
}
