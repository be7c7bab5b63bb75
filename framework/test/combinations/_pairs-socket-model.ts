/** A reference model of a WebSocket, written from `framework/docs/websockets.md`, not from the code. @module */
import type { SocketCombination } from "./_pairs-socket-factors.js";

/** A WebSocket as a client sees it, and the log. `undefined` is undecided, and is not compared. */
interface SocketAnswer {
  /** 101, or the status of the refusal. */
  readonly status: number | undefined;
  /** The close frame, if the handshake is completed. */
  readonly close?: Partial<Close>;
  /** The body of a refusal. */
  readonly body?: { readonly detail: string } | "one fault";
  /** `null`: it is absent. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** The message that the client gets. */
  readonly message?: unknown;
  /** The number of lines that the App logs at each level. */
  readonly errors: number | undefined;
  readonly warnings: number;
  /** The status that the instrumentation gets. */
  readonly observedStatus: number | undefined;
  readonly isFailure: boolean | undefined;
}

/** The prediction for a WebSocket. */
export interface ExpectedSocket extends SocketAnswer {
  readonly events: readonly string[] | undefined;
  readonly route: string;
}

interface Close {
  readonly code: number;
  readonly reason: string;
}

/** An error that ends a handler, or a dependency before it. */
type Failure =
  | { readonly kind: "HTTPException"; readonly status: number; readonly detail: string; readonly challenge?: string }
  | { readonly kind: "RequestValidationError" }
  | ({ readonly kind: "close" } & Close)
  | { readonly kind: "error" };

const http = (status: number, detail: string, challenge?: string): Failure => ({
  kind: "HTTPException",
  status,
  detail,
  challenge,
});
const closed = (code: number, reason = ""): Failure => ({ kind: "close", code, reason });
const ERROR: Failure = { kind: "error" };
const INVALID: Failure = { kind: "RequestValidationError" };

/** The prefix of each mount. */
export const SOCKET_PREFIXES: Readonly<Record<SocketCombination["mount"], string>> = {
  none: "",
  router: "/v1/in",
  app: "/sub",
  "app in app": "/mid/sub",
};

const OF_FUNCTION: readonly string[] = ["function generator", "failing commit"];
const GENERATORS: readonly string[] = [...OF_FUNCTION, "generator", "request generator", "late failure", "swallows"];

/** The ends of handlers that never accept; `null` for a return. */
const UNACCEPTED: Readonly<Partial<Record<SocketCombination["opening"], Failure | null>>> = {
  returns: null,
  "closes 4001": null,
  "closes 1008": null,
  "throws 4002": closed(4002, "opening"),
  "throws 1008": closed(1008, "opening"),
  "HTTP error": http(418, "Teapot"),
  error: ERROR,
  sends: closed(1006),
  receives: closed(1006),
};

/** websockets.md: a message of the wrong kind, and one that does not fit `receives`. */
const WRONG_MESSAGES: Readonly<Partial<Record<SocketCombination["receives"], number>>> = {
  unfit: 1007,
  "not JSON": 1007,
  binary: 1007,
  "text for bytes": 1003,
};

/** Ends of a handler that has sent its message, and what the client sees. */
const ENDS: Readonly<Record<SocketCombination["end"], readonly [failure: Failure | null, close: Partial<Close>]>> = {
  returns: [null, { code: 1000, reason: "" }],
  closes: [null, { code: 4000, reason: "done" }],
  "client closes": [closed(4321, "bye"), { code: 4321, reason: "bye" }],
  "iteration ends": [null, { code: 4321, reason: "bye" }],
  "client terminates": [closed(1006), { code: 1006, reason: "" }],
  "throws 4010": [closed(4010, "thrown"), { code: 4010, reason: "thrown" }],
  "throws 1011": [closed(1011, "thrown"), { code: 1011 }],
  error: [ERROR, { code: 1011 }],
  "HTTP error": [ERROR, { code: 1011 }],
};

/** Ends after which a later error has no effect. */
const CLOSED: readonly SocketCombination["end"][] = ["closes", "client closes", "iteration ends", "client terminates"];

/** The way of one WebSocket. */
class Flow {
  readonly #c: SocketCombination;
  readonly #events: string[] = [];
  #open: { readonly name: "" | "guard "; readonly level: string }[] = [];

  constructor(c: SocketCombination) {
    this.#c = c;
  }

  run(): ExpectedSocket {
    const { dependency, mount, parameter } = this.#c;
    const route = `${SOCKET_PREFIXES[mount]}/ws${parameter.startsWith("path") ? "/{value}" : ""}`;
    if (dependency === "app") this.#events.push("start");
    const expected = { events: this.#events, route, ...this.#outcome() };
    if (dependency === "app") this.#events.push("end");
    return expected;
  }

  #outcome(): SocketAnswer & { events?: undefined } {
    const early = this.#beforeHandler();
    if (early !== null) {
      this.#throwInto();
      return this.#swallowed(this.#refusal(early));
    }
    this.#events.push("handler");
    const unaccepted = UNACCEPTED[this.#c.opening];
    return unaccepted === undefined ? this.#talk() : this.#unaccepted(unaccepted);
  }

  /** websockets.md, Dependencies: "as for a request". */
  #beforeHandler(): Failure | null {
    const { guard, dependency, parameter } = this.#c;
    if (guard === "own fault") return INVALID;
    if (guard !== "none") this.#events.push("guard");
    if (guard === "refuses") return http(403, "Forbidden");
    if (guard === "challenges") return http(401, "Who?", "Guard");
    if (guard === "fails") return ERROR;
    if (guard === "closes") return closed(4003, "guard");
    this.#enter("guard ", guard);
    const stranger = this.#authenticate();
    if (stranger !== null) return stranger;
    if (dependency !== "none" && dependency !== "app") this.#events.push("start");
    if (dependency === "refuses") return http(409, "Busy");
    if (dependency === "fails") return ERROR;
    if (dependency === "closes") return closed(4004, "dependency");
    this.#enter("", dependency);
    return parameter.includes(",") ? INVALID : null;
  }

  #authenticate(): Failure | null {
    const { credentials, scheme } = this.#c;
    const challenge = scheme === "bearer" ? "Bearer" : "APIKey";
    if (/missing|malformed/.test(credentials)) return http(401, "Not authenticated", challenge);
    if (credentials === "none" || credentials === "absent") return null;
    this.#events.push("user");
    return credentials.endsWith("unknown") ? http(401, "Unknown", challenge) : null;
  }

  #enter(name: "" | "guard ", level: string): void {
    if (GENERATORS.includes(level)) this.#open.push({ name, level });
  }

  /** websockets.md, "A refused handshake". */
  #refusal(failure: Failure): SocketAnswer {
    const isFailure = failure.kind === "error";
    const base = { errors: Number(isFailure), warnings: 0, isFailure };
    const refused = (status: number, body?: SocketAnswer["body"]) => ({
      ...base,
      status,
      body,
      observedStatus: status,
    });
    switch (failure.kind) {
      case "HTTPException": {
        const answer = refused(failure.status, { detail: failure.detail });
        return failure.challenge === undefined
          ? answer
          : { ...answer, headers: { "www-authenticate": failure.challenge } };
      }
      case "RequestValidationError":
        return refused(422, "one fault");
      case "error":
        return refused(500, { detail: "Internal Server Error" });
      default: {
        const { code, reason } = failure;
        // "a handshake that is completed and closed with that code". Undecided: the status that is observed.
        if (code >= 4000) return { ...base, status: 101, close: { code, reason }, observedStatus: undefined };
        return refused(403); // "any other close"
      }
    }
  }

  /** A handler that does not accept. */
  #unaccepted(failure: Failure | null): SocketAnswer & { events?: undefined } {
    const { opening } = this.#c;
    const commit = failure === null ? this.#endFunctions() : null;
    if (failure !== null || commit !== null) this.#throwInto();
    if (commit !== null) {
      // A close that the handler has sent cannot be changed any more. Undecided: what else happens.
      const answer = this.#refusal(commit);
      return opening === "returns" ? answer : { ...answer, status: undefined, body: undefined, ...this.#undecided() };
    }
    const answer = this.#refusal(failure ?? (opening === "closes 4001" ? closed(4001, "opening") : closed(1008)));
    if (failure === null) return this.#succeed(answer);
    const { task } = this.#c;
    // Undecided: tasks of a handler that fails, and whether it is logged that one sends or receives before it accepts.
    const isUndecided = task !== "none" || opening === "sends" || opening === "receives";
    return this.#swallowed(isUndecided ? { ...answer, ...this.#undecided(task !== "none") } : answer);
  }

  /** An accepted WebSocket: one message in, one out, and an end. */
  #talk(): SocketAnswer & { events?: undefined } {
    const { opening, receives, sends, end } = this.#c;
    const headers: SocketAnswer["headers"] =
      opening === "accepts" ? { "x-own": null } : { "x-own": "1", "sec-websocket-protocol": "b" };
    const base = { status: 101, headers, errors: 0, warnings: 0, observedStatus: 101, isFailure: false };
    const wrong = WRONG_MESSAGES[receives];
    if (wrong !== undefined) {
      // "The handler ends as after any close. The log gets a line of level `warn`."
      const answer = { ...base, close: { code: wrong }, warnings: Number(wrong === 1007) };
      return this.#finish(answer, closed(wrong), true);
    }
    this.#events.push("message");
    if (sends === "unfit") return this.#finish({ ...base, close: { code: 1011 } }, ERROR, false);
    const [failure, close] = ENDS[end];
    return this.#finish({ ...base, message: messageOf(this.#c), close }, failure, CLOSED.includes(end));
  }

  /**
   * websockets.md, "How it ends" and "Dependencies".
   * @param isClosed - Whether a close has been sent or received, which no later error changes.
   */
  #finish(answer: SocketAnswer, failure: Failure | null, isClosed: boolean): SocketAnswer & { events?: undefined } {
    const commit = failure === null ? this.#endFunctions() : null;
    if (failure === null && commit === null) return this.#succeed(answer);
    this.#throwInto();
    if (commit !== null) {
      // "before the close is sent; if that fails, the close code is 1011"
      if (isClosed) return { ...answer, ...this.#undecided(false) };
      return { ...answer, close: { code: 1011 }, errors: 1, isFailure: true };
    }
    const isError = failure?.kind === "error";
    const isLogged = isError || (failure?.kind === "close" && failure.code === 1011); // "The log: for 1011"
    const ended = {
      ...answer,
      errors: Number(isLogged),
      isFailure: isError ? true : isLogged ? undefined : answer.isFailure,
    };
    const seen = this.#swallowed(ended, isClosed);
    return this.#c.task === "none" ? seen : { ...seen, ...this.#undecided(true) }; // Tasks of a handler that fails.
  }

  /** Undecided: what becomes of an error that a generator swallows. A close that was seen stays. */
  #swallowed(answer: SocketAnswer, isClosed = false): SocketAnswer & { events?: undefined } {
    if (!this.#open.some(({ level }) => level === "swallows")) return answer;
    const rest = isClosed ? {} : { status: answer.message === undefined ? undefined : 101, body: undefined, close: {} };
    return { ...answer, ...rest, ...this.#undecided(false) };
  }

  #undecided(hasTasks = false): Partial<SocketAnswer> & { events?: undefined } {
    const unknown = { errors: undefined, isFailure: undefined, observedStatus: undefined };
    return hasTasks ? { ...unknown, events: undefined } : unknown;
  }

  /** "Those of scope `"request"` are cleaned up after the close and after the background tasks." */
  #succeed(answer: SocketAnswer): SocketAnswer {
    const { task, dependency } = this.#c;
    if (task !== "none") this.#events.push(...(task === "failing" ? ["failing task", "task"] : ["task"]));
    this.#events.push(...this.#open.toReversed().map(({ name }) => `${name}end`));
    const more = Number(task === "failing") + Number(dependency === "late failure");
    if (more === 0 || answer.errors === undefined) return answer;
    return { ...answer, errors: answer.errors + more, isFailure: undefined };
  }

  /** "Each sees the error that ended the handler. The client's close is one." */
  #throwInto(): void {
    this.#events.push(...this.#open.toReversed().map(({ name }) => `${name}error`));
  }

  /** Cleanup of scope "function", the last first; the error of one that fails. */
  #endFunctions(): Failure | null {
    for (const last of this.#open.toReversed()) {
      if (!OF_FUNCTION.includes(last.level)) continue;
      this.#open = this.#open.filter((open) => open !== last);
      this.#events.push(`${last.name}end`);
      if (last.level === "failing commit") return ERROR;
    }
    return null;
  }
}

function messageOf({ sends, credentials, dependency, parameter }: SocketCombination): unknown {
  if (sends === "text") return "one";
  if (sends === "bytes") return [1, 2];
  const user = credentials === "required" || credentials === "optional" ? "ada" : null;
  const value = parameter === "none" ? null : parameter === "object" ? { count: 5 } : 5;
  const message = { n: 1, user, value, dependency: dependency === "none" ? null : "made" };
  return sends === "no schema" ? { ...message, secret: 1 } : message; // "checked and cut as `returns` cuts a result"
}

export const predictSocket = (c: SocketCombination): ExpectedSocket => new Flow(c).run();
