/** One call of a handler: its request, its cached dependencies and its cleanup. @module */
import type {
  HeaderPair,
  HTTPScope,
  Receive,
  ReceiveMessage,
  Send,
  SendMessage,
  WebSocketScope,
} from "../../protocol/asgi.js";
import { BackgroundTasks, DISCARD, END } from "../../http/background.js";
import type { Limits } from "../../http/limits.js";
import { errorText, type Logger } from "../../common/logger.js";
import { OBSERVED, type Observed, type ObservedScope, runTasks } from "../../middleware/observation/observed.js";
import type { FormBody, JSONBody, LoadingParts } from "../source.js";
import { HAS_FILES, LEFT, MARK_FINISHED, Request } from "../../http/request.js";
import { Response, type Sender } from "../../http/response/response.js";
import { Faults } from "../../schema/faults.js";
import { type MessageRules, SIGNAL, WebSocket } from "../../http/websocket.js";
import { ClientDisconnect } from "../../common/exceptions.js";
import { isAbort } from "../../common/promises.js";
import { type Responder, RESPONDER, type RespondingSend, type ResponseTarget } from "../../protocol/response.js";
import { closeExits, type Exit } from "./exits.js";

/** The rank of each parameter of a route by the location of its errors. */
export type FaultOrder = ReadonlyMap<string, number>;

/** Settings of the route and the application that a call serves. */
export interface CallSettings {
  readonly limits: Readonly<Limits>;
  readonly logger: Logger;
  /** `true` where each body parameter is a member of the body's object. */
  readonly embedBody: boolean;
  readonly faultOrder: FaultOrder;
  /** `true` if a parameter is a file, which only a multipart form can contain. */
  readonly takesFiles: boolean;
  readonly statusCode: number;
  /** `true` if dependencies may begin transactions: there is a response, and it is sent whole. */
  readonly mayHoldTransactions: boolean;
  /** The rules of a WebSocket's JSON messages. */
  readonly messages?: MessageRules;
}

/** A `receive` that returns a consumed message again. */
function repeatFirst(message: ReceiveMessage, receive: Receive): Receive {
  let first: ReceiveMessage | null = message;
  return () => {
    if (first === null) return receive();
    const taken = first;
    first = null;
    return Promise.resolve(taken);
  };
}

/**
 * Everything that belongs to one call of one handler, made when it is first asked for.
 *
 * Its fields are declared, and only the constructor sets them: class fields are set before it in a separate function,
 * which took 2 % of a request (Node 20).
 */
export class Call implements LoadingParts, Responder, ResponseTarget {
  declare readonly scope: HTTPScope | WebSocketScope;
  declare readonly receive: Receive;
  /** The `send` of the server or of the middleware. */
  declare readonly forward: Send;
  declare readonly settings: CallSettings;
  /** This call, if the server and each middleware in between take a whole response in one go. */
  declare readonly responder: this | undefined;
  /** The observation of the request; `null` if it is not observed. */
  declare readonly observed: Observed | null;
  /** Results of dependencies by their cache key. */
  declare cache: Map<object, unknown> | null;
  /** Generators that wait for the end of the request, in the order in which they were started. */
  declare exits: Exit[] | null;
  /** Dependencies that still run after the request has failed; `null` if all have settled. */
  declare late: Promise<unknown>[] | null;
  /** `true` if the parameters of an authentication are invalid: then no other dependency is called. */
  declare isUnauthenticated: boolean;
  /** The response that the handler returned. */
  declare response: Response | null;
  /** Sends that response; `null` until it is prepared. */
  declare sender: Sender | null;
  /** `true` if something is left to do after the response: tasks, or the cleanup of dependencies. */
  declare hasMore: boolean;
  /** `true` once `http.response.start` has been sent: from then on no other response can be made. */
  declare hasBegun: boolean;
  declare firstMessage: ReceiveMessage | null;
  declare json: JSONBody | null;
  declare form: FormBody | null;
  declare requestIfMade: Request | null;
  /** The injected `Response`, if a parameter requested it. */
  declare draftIfMade: Response | null;
  /** The tasks, if a parameter requested them. */
  declare backgroundIfMade: BackgroundTasks | null;
  /** The errors, if they have been accessed. */
  declare faultsIfMade: Faults | null;
  /** The WebSocket, if a parameter requested it. */
  declare websocketIfMade: WebSocket | null;

  constructor(scope: HTTPScope | WebSocketScope, receive: Receive, send: Send, settings: CallSettings) {
    this.scope = scope;
    this.receive = receive;
    this.forward = send;
    this.settings = settings;
    const marked: object & ObservedScope = scope;
    const forward: RespondingSend = send;
    this.observed = marked[OBSERVED] ?? null;
    this.responder = forward[RESPONDER] === undefined ? undefined : this;
    this.cache = null;
    this.exits = null;
    this.late = null;
    this.isUnauthenticated = false;
    this.response = null;
    this.sender = null;
    this.hasMore = false;
    this.hasBegun = false;
    this.firstMessage = null;
    this.json = null;
    this.form = null;
    this.requestIfMade = null;
    this.draftIfMade = null;
    this.backgroundIfMade = null;
    this.faultsIfMade = null;
    this.websocketIfMade = null;
  }

  /** Sends, and keeps how far the response has come: `hasBegun`, and that the request is finished. */
  send(message: SendMessage): Promise<void> | void {
    if (message.type === "http.response.start") this.hasBegun = true;
    // Before it is passed on: a server immediately reports that no more data follows.
    else if (message.type === "http.response.body" && message.more_body !== true) this.requestIfMade?.[MARK_FINISHED]();
    const { forward } = this;
    return forward(message);
  }

  /** Sends a whole response in one go. */
  respond(status: number, headers: Iterable<HeaderPair>, body: Uint8Array | string): Promise<void> | void {
    this.hasBegun = true;
    this.requestIfMade?.[MARK_FINISHED]();
    const forward: RespondingSend = this.forward;
    return forward[RESPONDER]?.respond(status, headers, body);
  }

  /** The errors of the request so far. */
  get faults(): Faults {
    return (this.faultsIfMade ??= new Faults());
  }

  get hasFaults(): boolean {
    return this.faultsIfMade !== null && this.faultsIfMade.count > 0;
  }

  /** The request, one object for all who ask. */
  get request(): Request {
    if (this.requestIfMade === null) {
      const receive = this.firstMessage === null ? this.receive : repeatFirst(this.firstMessage, this.receive);
      this.requestIfMade = new Request(this.scope as HTTPScope, receive, this.settings.limits);
    }
    return this.requestIfMade;
  }

  /** The WebSocket, one object for all who ask. */
  get websocket(): WebSocket {
    const scope = this.scope as WebSocketScope;
    return (this.websocketIfMade ??= new WebSocket(
      scope,
      this.receive,
      (message) => this.send(message),
      this.settings.limits,
      this.settings.messages,
    ));
  }

  /** Aborts when the client disconnects, or the time of the handler is up. */
  get signal(): AbortSignal {
    return this.scope.type === "websocket" ? this.websocket[SIGNAL] : this.request.signal;
  }

  /** Tells if an error only reports that the client has disconnected. It needs neither a response nor a log entry. */
  isDisconnect(error: unknown): boolean {
    if (error instanceof ClientDisconnect) return true;
    return isAbort(error) && (this.requestIfMade ?? this.websocketIfMade)?.[LEFT] === true;
  }

  /** The draft on which a handler or a dependency sets headers, cookies and the status. */
  get draft(): Response {
    this.hasMore = true;
    return (this.draftIfMade ??= new Response(null, { statusCode: this.settings.statusCode }));
  }

  /** The tasks for after the response. */
  get background(): BackgroundTasks {
    this.hasMore = true;
    return (this.backgroundIfMade ??= new BackgroundTasks(this.settings.logger));
  }

  /** Adds the cleanup of a dependency that has started. */
  addExit(exit: Exit): void {
    this.hasMore = true;
    (this.exits ??= []).push(exit);
  }

  /** The query string's names and values. */
  get query(): URLSearchParams {
    return this.request.queryParams;
  }

  /** Tells if work remains after a response that was cut: its dependencies are cleaned up already. */
  get hasMoreAfterCut(): boolean {
    if (this.backgroundIfMade !== null || this.late !== null || this.requestIfMade?.[HAS_FILES]) return true;
    return this.response?.background !== undefined || this.draftIfMade?.background !== undefined;
  }

  /** Runs the tasks and the cleanup of scope `"request"`, after the response. Never rejects. */
  async finish(): Promise<void> {
    await this.#runTasks();
    if (this.exits !== null) await closeExits(this.exits, "request", this.settings.logger);
    // A dependency that still runs although the call has failed may start others, which the iterator finds.
    for (const dependency of this.late ?? []) await dependency;
    await this.#runTasks(); // the ones that were added meanwhile
    this.backgroundIfMade?.[END]();
    await this.requestIfMade?.close();
  }

  /**
   * Cleans up the dependencies of scope `"function"` and then ends the transactions, after the handler and before anything is sent.
   * If that fails, the result is discarded: its tasks do not run, and a prepared response releases its file or source.
   *
   * @param endTransactions - Ends the transactions.
   */
  async closeFunctionScope(endTransactions: (exits: Exit[]) => Promise<void>): Promise<void> {
    if (this.exits === null) return;
    try {
      await closeExits(this.exits, "function", this.settings.logger);
      if (this.exits.some(({ scope }) => scope === "transaction")) await endTransactions(this.exits);
    } catch (error) {
      this.discardTasks();
      this.draftIfMade = null;
      await this.#cancelSender();
      throw error;
    }
  }

  /** Drops the tasks of a call without a result. */
  discardTasks(): void {
    this.backgroundIfMade?.[DISCARD]();
  }

  /** An error of it is logged: the caller has another one to throw. */
  async #cancelSender(): Promise<void> {
    try {
      await this.sender?.cancel?.();
    } catch (error) {
      this.settings.logger.error({ err: error }, `The response could not be released: ${errorText(error)}`);
    }
  }

  /** Runs the tasks of the call and its response until all lists are empty: a task may add one to another list. */
  async #runTasks(): Promise<void> {
    let lists: readonly (BackgroundTasks | null | undefined)[];
    do {
      lists = [this.backgroundIfMade, this.response?.background, this.draftIfMade?.background];
      for (const tasks of lists) await runTasks(tasks, this.observed);
    } while (lists.some((tasks) => tasks && tasks.size > 0));
  }
}
