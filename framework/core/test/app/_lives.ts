/** One call of each kind whose events are written down, and which fails at a chosen place. */
import { App, BackgroundTasks, ClientDisconnect, Depends, Query, t, withParams } from "../../src/index.js";
import { accessRefusal, createTransactional, endpointsOf, WorkScope } from "../../src/internals.js";
import { DependencyOverrides } from "../../src/parameters/dependencies/overrides.js";
import { Deferred, nextTurn } from "../../src/common/promises.js";
import type { StandardSchema } from "../../src/schema/standard.js";
import { ASGI } from "../../src/protocol/scope.js";
import type { HTTPScope, ReceiveMessage, SendMessage, WebSocketScope } from "../../src/protocol/asgi.js";

/** The part of a call that fails, or one of the last four. */
export type Failure =
  | "the start of the request scope"
  | "the start of the function scope"
  | "one of two dependencies side by side"
  | "the start of a transaction"
  | "the handler"
  | "the check of the result"
  | "the end of the function scope"
  | "the confirmation"
  | "the head"
  | "the body"
  | "a task"
  | "the end of the request scope"
  | "an invalid parameter"
  | "the time limit"
  | "a client that disconnects during the handler"
  | "a client that disconnects before the head";

class Broken extends Error {
  override readonly name = "Broken";
}

/** Gives the events of one call in their order. */
export type Life = (failure: Failure | null) => Promise<readonly string[]>;

class Story {
  readonly events: string[] = [];
  readonly failure: Failure | null;
  /** Resolved when the handler waits for its signal. */
  readonly waiting = new Deferred<void>();

  constructor(failure: Failure | null) {
    this.failure = failure;
  }

  tell(event: string): void {
    this.events.push(event);
  }

  reach(place: Failure): void {
    if (place === this.failure) throw new Broken(place);
  }

  readonly log = {
    debug: (): void => {},
    info: (): void => {},
    warn: (): void => {},
    error: (_fields: object, message: string): void => this.tell(`log "${message.split(/:| failed/)[0]} failed"`),
  };

  /** A dependency with a cleanup. */
  #held(scope: "request" | "function") {
    const { tell, reach } = { tell: (event: string) => this.tell(event), reach: (place: Failure) => this.reach(place) };
    const dependency = async function* () {
      reach(`the start of the ${scope} scope`);
      tell(`${scope} starts`);
      try {
        yield scope;
      } catch (error) {
        tell(`${scope} gets ${nameOf(error)}`);
        throw error;
      }
      reach(`the end of the ${scope} scope`);
      tell(`${scope} ends`);
    };
    return Depends(dependency, { scope });
  }

  #transaction() {
    return createTransactional("transaction", {}, async () => {
      this.reach("the start of a transaction");
      this.tell("transaction starts");
      return {
        value: "transaction",
        commit: () => {
          this.reach("the confirmation");
          this.tell("confirmed");
        },
        rollBack: async (error: unknown) => {
          this.tell(`undone${error === undefined ? "" : ` by ${nameOf(error)}`}`);
          return error;
        },
      };
    });
  }

  /** Dependencies of both scopes, one that settles, and two side by side of which the second one takes longer. */
  params() {
    const first = async () => this.reach("one of two dependencies side by side");
    const late = async () => {
      await nextTurn();
      await nextTurn();
      this.tell("the slower one ends");
    };
    return {
      request: this.#held("request"),
      function: this.#held("function"),
      first: Depends(first),
      late: Depends(late),
    };
  }

  settling() {
    return { ...this.params(), transaction: Depends(this.#transaction()) };
  }

  /** A parameter that is invalid if the call fails by it. */
  get query() {
    return Query(this.failure === "an invalid parameter" ? t.String() : t.Optional(t.String()));
  }

  /** The body of each handler. */
  async handle(signal: AbortSignal, tasks: BackgroundTasks | null): Promise<string> {
    tasks?.addTask(async () => {
      this.reach("a task");
      this.tell("task");
    });
    this.tell("handler");
    this.reach("the handler");
    if (this.failure === "the time limit" || this.failure === "a client that disconnects during the handler") {
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve());
        this.waiting.resolve();
      });
      this.tell(`abort by ${nameOf(signal.reason)}`);
      throw signal.reason;
    }
    return "result";
  }

  /** The client sends one message, and then disconnects if the call fails by it. */
  receive(first: ReceiveMessage, last: ReceiveMessage): () => Promise<ReceiveMessage> {
    const messages = [first];
    return async () => {
      const message = messages.shift();
      if (message !== undefined) return message;
      if (this.failure !== "a client that disconnects during the handler") return new Promise(() => {});
      await this.waiting.promise;
      return last;
    };
  }

  async tellEnd(call: Promise<void> | void): Promise<void> {
    try {
      await call;
      this.tell("over");
    } catch (error) {
      this.tell(`over with ${nameOf(error)}`);
    }
    // A server waits for more after a cut.
    await nextTurn();
    await nextTurn();
  }
}

function nameOf(error: unknown): string {
  return (error as Error).name;
}

const head = {
  asgi: ASGI,
  http_version: "1.1",
  path: "/",
  query_string: new Uint8Array(0),
  root_path: "",
  headers: [],
};
const httpScope = (): HTTPScope => ({ ...head, type: "http", method: "GET", scheme: "http" });
const socketScope = (): WebSocketScope => ({ ...head, type: "websocket", scheme: "ws", subprotocols: [] });

/** A schema of results that says when it is used. */
function returnsOf(story: Story): StandardSchema<string> {
  const validate = (value: unknown) => {
    story.reach("the check of the result");
    story.tell("checked");
    return { value };
  };
  const jsonSchema = { input: () => ({}), output: () => ({}) };
  const standard = { version: 1, vendor: "test", validate, jsonSchema } as const;
  return { "~standard": standard };
}

/** A request to a route. */
export const route: Life = async (failure) => {
  const story = new Story(failure);
  const app = new App({ logger: story.log, limits: failure === "the time limit" ? { handlerMs: 1 } : {} });
  const params = { ...story.settling(), query: story.query, tasks: BackgroundTasks, signal: AbortSignal };
  app.get("/", { params, returns: returnsOf(story) }, async ({ signal, tasks }) => story.handle(signal, tasks));
  const send = (message: SendMessage) => {
    if (failure === "a client that disconnects before the head") throw new ClientDisconnect();
    if (message.type === "http.response.start") {
      story.reach("the head");
      story.tell(`head ${message.status}`);
    } else if (message.type === "http.response.body") {
      story.reach("the body");
      story.tell("body");
    }
  };
  const receive = story.receive(
    { type: "http.request", body: new Uint8Array(0), more_body: false },
    { type: "http.disconnect" },
  );
  await story.tellEnd(app(httpScope(), receive, send));
  return story.events;
};

/** A connection to a WebSocket, which the handler accepts first. */
export const webSocket: Life = async (failure) => {
  const story = new Story(failure);
  const app = new App({ logger: story.log });
  const params = { ...story.params(), query: story.query, tasks: BackgroundTasks, signal: AbortSignal };
  app.websocket("/", { params }, async ({ ws, signal, tasks }) => {
    await ws.accept();
    await story.handle(signal, tasks);
  });
  const send = (message: SendMessage) => {
    if (message.type === "websocket.accept") story.reach("the head");
    if (message.type === "websocket.accept") story.tell("accept");
    else if (message.type === "websocket.close") story.tell(`close ${message.code}`);
    else if (message.type === "websocket.http.response.start") story.tell(`head ${message.status}`);
  };
  const receive = story.receive({ type: "websocket.connect" }, { type: "websocket.disconnect", code: 1001 });
  await story.tellEnd(app(socketScope(), receive, send));
  return story.events;
};

/** Work outside of requests, such as a job. */
export const work: Life = async (failure) => {
  const story = new Story(failure);
  const scope = new WorkScope({}, new DependencyOverrides(), story.log);
  const params = { ...story.settling(), signal: AbortSignal };
  const handler = async ({ signal }: { signal: AbortSignal }) => void (await story.handle(signal, null));
  const controller = new AbortController();
  void story.waiting.promise.then(() => controller.abort(new DOMException("late", "TimeoutError")));
  const added = scope.add(handler, params, "work");
  await story.tellEnd(added.run({}, controller.signal).then(() => {}));
  return story.events;
};

/** A check of access, which does not call the handler. */
export const access: Life = async (failure) => {
  const story = new Story(failure);
  const app = new App({ logger: story.log });
  const guard = withParams(story.settling(), async () => {});
  app.get("/", { dependencies: [Depends(guard)] }, async () => story.tell("handler"));
  const [endpoint] = endpointsOf(app);
  if (endpoint === undefined) throw new Error("The App has no route.");
  await story.tellEnd(accessRefusal(endpoint, httpScope()).then((status) => story.tell(`status ${status}`)));
  return story.events;
};
