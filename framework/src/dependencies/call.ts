import type { HTTPScope, Receive, ReceiveMessage, Send, WebSocketScope } from "../asgi.js";
import { BackgroundTasks } from "../background.js";
import { createBytes, type FormData } from "../datastructures.js";
import type { Limits } from "../limits.js";
import type { Logger } from "../logger.js";
import { RequestValidationError } from "../exceptions.js";
import { headerValue, isJSON, JSONError, mediaTypeOf, MULTIPART, parseJSON, Request, URLENCODED } from "../request.js";
import type { JSONBody, RequestParts } from "../params.js";
import { Response } from "../response.js";
import { Faults } from "../schema.js";
import { WebSocket } from "../websocket.js";
import type { Exit } from "./exits.js";

const FORM_TYPES: ReadonlySet<string> = new Set([URLENCODED, MULTIPART]);
const FILE_TYPES: ReadonlySet<string> = new Set([MULTIPART]);

const NO_BYTES = createBytes(0);

/** A `receive` that gives a message that was taken from it once more. */
function repeatFirst(message: ReceiveMessage, receive: Receive): Receive {
  let first: ReceiveMessage | null = message;
  return () => {
    if (first === null) return receive();
    const taken = first;
    first = null;
    return Promise.resolve(taken);
  };
}

/** The rank of each parameter of a route by the place of its faults. */
export type FaultOrder = ReadonlyMap<string, number>;

/** What a call needs to know of the route and the application that it serves. */
export interface CallSettings {
  readonly limits: Readonly<Limits>;
  readonly logger: Logger;
  /** Whether each body parameter is a member of the body's object. */
  readonly embedBody: boolean;
  readonly faultOrder: FaultOrder;
  /** Whether a parameter is a file, which only a multipart form has. */
  readonly takesFiles: boolean;
  readonly statusCode: number;
}

/** Everything that belongs to one call of one handler, made when it is first asked for. */
export class Call implements RequestParts {
  readonly scope: HTTPScope | WebSocketScope;
  readonly receive: Receive;
  readonly send: Send;
  readonly pathParams: Readonly<Record<string, string>>;
  readonly settings: CallSettings;
  #faults: Faults | null = null;
  /** Results of dependencies by their cache key. */
  cache: Map<object, unknown> | null = null;
  /** Generators that wait for the end of the request, in the order in which they were started. */
  exits: Exit[] | null = null;
  /** The response that the handler returned. */
  response: Response | null = null;
  /** Whether `http.response.start` has been sent: from then on no other response can be made. */
  started = false;
  /** The first message, where it was taken without a `Request`. */
  #first: ReceiveMessage | null = null;
  #request: Request | null = null;
  #websocket: WebSocket | null = null;
  #draft: Response | null = null;
  #background: BackgroundTasks | null = null;
  #query: URLSearchParams | null = null;
  #receiving: Promise<ReceiveMessage> | null = null;
  #loading: Promise<void> | null = null;
  #jsonBody: JSONBody | null = null;
  #formBody: FormData | null = null;

  constructor(
    scope: HTTPScope | WebSocketScope,
    receive: Receive,
    send: Send,
    pathParams: Readonly<Record<string, string>>,
    settings: CallSettings,
  ) {
    this.scope = scope;
    this.receive = receive;
    this.send = send;
    this.pathParams = pathParams;
    this.settings = settings;
  }

  /** What is wrong with the request so far. */
  get faults(): Faults {
    return (this.#faults ??= new Faults());
  }

  /** The request, one object for all who ask. */
  get request(): Request {
    if (!this.#request) {
      (this.scope as { path_params?: unknown }).path_params = this.pathParams;
      const receive = this.#first === null ? this.receive : repeatFirst(this.#first, this.receive);
      this.#request = new Request(this.scope as HTTPScope, receive, this.settings.limits);
    }
    return this.#request;
  }

  #header(name: string): string | undefined {
    return this.#request ? this.#request.header(name) : headerValue(this.scope.headers ?? [], name);
  }

  /** The request, if anybody has asked for it. */
  get requestIfMade(): Request | null {
    return this.#request;
  }

  /** The WebSocket, one object for all who ask. */
  get websocket(): WebSocket {
    if (!this.#websocket) {
      const scope = this.scope as WebSocketScope;
      this.#websocket = new WebSocket(scope, this.receive, this.send, this.settings.limits);
    }
    return this.#websocket;
  }

  /** The draft on which a handler or a dependency sets headers, cookies and the status. */
  get draft(): Response {
    return (this.#draft ??= new Response(null, { statusCode: this.settings.statusCode }));
  }

  /** The draft, if anybody has asked for it. */
  get draftIfMade(): Response | null {
    return this.#draft;
  }

  /** The tasks for after the response. */
  get background(): BackgroundTasks {
    return (this.#background ??= new BackgroundTasks(this.settings.logger));
  }

  /** The tasks, if anybody has asked for them. */
  get backgroundIfMade(): BackgroundTasks | null {
    return this.#background;
  }

  /** Whether anything is to be done behind the response: tasks, or the clean-up of dependencies. */
  get mayFinish(): boolean {
    return this.exits !== null || this.response !== null || this.#background !== null || this.#draft !== null;
  }

  /** The query string's names and values. */
  get query(): URLSearchParams {
    return (this.#query ??= this.request.queryParams);
  }

  /**
   * The first message of the body, for {@link takeBody}; `null` where the body is to be read by a `Request`, or was taken.
   * It is asked for without a `Request`, because nearly every body is whole in it.
   */
  receiveBody(): Promise<ReceiveMessage> | null {
    if (this.#jsonBody !== null || this.#request !== null) return null;
    if (Number(this.#header("content-length")) > this.settings.limits.bodyBytes) return null;
    return (this.#receiving ??= this.receive());
  }

  /** Parses the JSON body, once. A `Request` that is made later gets the message again. */
  takeBody(message: ReceiveMessage | null): Promise<void> | void {
    if (this.#jsonBody !== null) return;
    if (message !== null && this.#request === null) this.#first = message;
    const isWhole = message?.type === "http.request" && message.more_body !== true;
    const body = isWhole ? (message.body ?? NO_BYTES) : null;
    if (body === null || body.length > this.settings.limits.bodyBytes) return (this.#loading ??= this.#loadJSON());
    this.#jsonBody = this.#parseJSON(body);
  }

  /** Reads and parses the form, once. */
  loadForm(): Promise<void> {
    return (this.#loading ??= this.#loadForm());
  }

  /** The JSON body, once it is loaded. */
  get jsonBody(): JSONBody {
    return this.#jsonBody ?? { state: "absent" };
  }

  /** The form, once it is loaded; `null` for one with faults. */
  get formBody(): FormData | null {
    return this.#formBody;
  }

  async #loadJSON(): Promise<void> {
    this.#jsonBody = this.#parseJSON(await this.request.body());
  }

  #parseJSON(body: Uint8Array): JSONBody {
    const contentType = this.#header("content-type");
    if (body.length === 0) return { state: "absent" };
    if (!isJSON(mediaTypeOf(contentType))) {
      this.faults.add("content_type", "Content-Type should be application/json", contentType ?? null, ["body"]);
      return { state: "faulty" };
    }
    let value: unknown;
    try {
      value = parseJSON(body, this.settings.limits.jsonDepth);
    } catch (error) {
      if (!(error instanceof JSONError)) throw error;
      this.faults.add("json_invalid", error.message, undefined, ["body"]);
      return { state: "faulty" };
    }
    if (this.settings.embedBody && (typeof value !== "object" || value === null || Array.isArray(value))) {
      this.faults.add("object_type", "Input should be a valid object", value, ["body"]);
      return { state: "faulty" };
    }
    return { state: "present", value };
  }

  async #loadForm(): Promise<void> {
    this.#formBody = await this.#readForm();
  }

  async #readForm(): Promise<FormData | null> {
    const contentType = this.request.header("content-type");
    const { takesFiles } = this.settings;
    const isForm = (takesFiles ? FILE_TYPES : FORM_TYPES).has(mediaTypeOf(contentType));
    if (!isForm && (contentType !== undefined || (await this.request.body()).length > 0)) {
      const types = takesFiles ? MULTIPART : `${URLENCODED} or ${MULTIPART}`;
      const source = takesFiles ? "file" : "form";
      this.faults.add("content_type", `Content-Type should be ${types}`, contentType ?? null, [source]);
      return null;
    }
    try {
      return await this.request.form();
    } catch (error) {
      if (!(error instanceof RequestValidationError)) throw error;
      this.faults.take(error.errors);
      return null;
    }
  }
}
