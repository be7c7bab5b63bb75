/** One call of an application under test, with a server that records the sent messages. @module */
import type { HTTPScope, LifespanScope, ReceiveMessage, Scope, SendMessage, WebSocketScope } from "tsgi";
import { markHandled, MessageQueue, nextTurn } from "tsgi/internals";
import { type TextHeaders, bytesOf, textOf, toPairs } from "./bytes.js";
import type { ApplicationSubject } from "./application-subject.js";
import { inTime } from "./statement.js";

const ASGI = { version: "3.0", spec_version: "2.5" };

/** The headers of each call. */
const HEADERS: TextHeaders = [["host", "127.0.0.1:8000"]];

/** The scope of a request, as a server creates it. */
export function httpScope(path: string, method = "GET"): HTTPScope {
  const body: TextHeaders = method === "POST" ? [["content-type", "application/octet-stream"]] : [];
  return {
    type: "http",
    asgi: ASGI,
    http_version: "1.1",
    method,
    scheme: "http",
    path,
    raw_path: bytesOf(path),
    query_string: bytesOf(""),
    root_path: "",
    headers: toPairs([...HEADERS, ...body]),
    client: ["127.0.0.1", 50_000],
    server: ["127.0.0.1", 8000],
    state: {},
  };
}

/** The scope of a handshake, as a server creates it. */
export function webSocketScope(path: string, subprotocols: readonly string[] = []): WebSocketScope {
  const { method: _method, ...scope } = httpScope(path);
  return { ...scope, type: "websocket", scheme: "ws", subprotocols };
}

/** The scope of a lifespan, as a server creates it. */
export function lifespanScope(): LifespanScope {
  return { type: "lifespan", asgi: { version: "3.0", spec_version: "2.0" }, state: {} };
}

/** The end of a call: a return, or the error that it threw. */
export type Outcome = { readonly error: unknown } | "returned";

/** A call that runs. */
export class ApplicationCall {
  /** The messages that the application has sent, in order. */
  readonly sent: SendMessage[] = [];
  /** Resolves when the application has returned or thrown. */
  readonly settled: Promise<Outcome>;
  /** `true` if a message arrived before the previous one was processed. */
  overlapped = false;
  /** Messages that were sent before the application had received one. */
  early = 0;
  readonly #inbox = new MessageQueue<ReceiveMessage>();
  readonly #failure: Error | null;
  #isSending = false;
  #isOver = false;
  #hasReceived = false;
  /** Those who wait for a message of the application. */
  #waiting: (() => void)[] = [];

  /** @param failure - The error that `send` throws, for a server with a disconnected client. */
  constructor({ app }: ApplicationSubject, scope: Scope, messages: readonly object[], failure: Error | null = null) {
    this.#failure = failure;
    // Some are messages that ASGI does not define, to check how an application handles them.
    for (const message of messages) this.#inbox.push(message as ReceiveMessage);
    this.settled = this.#run(app, scope);
  }

  async #run(app: ApplicationSubject["app"], scope: Scope): Promise<Outcome> {
    try {
      await app(
        scope,
        () => this.#receive(),
        (message) => markHandled(this.#send(message)),
      );
      return "returned";
    } catch (error) {
      return { error };
    } finally {
      this.#isOver = true;
      this.#wake();
    }
  }

  async #receive(): Promise<ReceiveMessage> {
    const message = await this.#inbox.take();
    this.#hasReceived = true;
    return message;
  }

  async #send(message: SendMessage): Promise<void> {
    this.overlapped ||= this.#isSending;
    this.#isSending = true;
    if (!this.#hasReceived) this.early++;
    await nextTurn();
    this.#isSending = false;
    if (this.#failure !== null) throw this.#failure;
    this.sent.push(message);
    if (message.type === "http.response.body" && message.more_body !== true) this.end();
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Gives the application one message more. */
  give(message: object): void {
    this.#inbox.push(message as ReceiveMessage);
  }

  /** The client has disconnected. */
  end(last: ReceiveMessage = { type: "http.disconnect" }): void {
    this.#inbox.end(last);
  }

  /** The next message of a type behind so many others, or `null` where the application ends without it. */
  async next(count: number): Promise<SendMessage | null> {
    const wait = async (): Promise<void> => {
      while (this.sent.length <= count && !this.#isOver) {
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    };
    await inTime(wait(), "a message of the application");
    return this.sent[count] ?? null;
  }

  /** Waits for the end. @throws the error of the application. */
  async finished(): Promise<readonly SendMessage[]> {
    const outcome = await inTime(this.settled, "the application to end");
    if (outcome !== "returned") throw outcome.error;
    return this.sent;
  }

  /** The body that it has sent. */
  get body(): string {
    return textOf(
      ...this.sent.map((message) => (message.type === "http.response.body" ? message.body : null) ?? bytesOf("")),
    );
  }

  /** The status that it has sent. */
  get status(): number | null {
    for (const message of this.sent) if (message.type === "http.response.start") return message.status;
    return null;
  }
}

/** The last message of a request. */
const LAST = { type: "http.request", body: bytesOf(""), more_body: false };

/** Calls an application for one GET, to its end. */
export async function get(subject: ApplicationSubject, change: object = {}): Promise<ApplicationCall> {
  const call = new ApplicationCall(subject, { ...httpScope(subject.get ?? "/"), ...change }, [LAST]);
  await call.finished();
  return call;
}

/** Calls an application for one POST to its echo, to its end. */
export async function post(subject: ApplicationSubject, messages: readonly object[]): Promise<ApplicationCall> {
  const call = new ApplicationCall(subject, httpScope(subject.echo ?? "/", "POST"), messages);
  await call.finished();
  return call;
}

/** Opens a WebSocket of an application's echo. */
export function connect(
  subject: ApplicationSubject,
  scope = webSocketScope(subject.websocket ?? "/"),
): ApplicationCall {
  return new ApplicationCall(subject, scope, [{ type: "websocket.connect" }]);
}
