/** A reference model of a request, written from the pages of `framework/docs`, not from the code. @module */
import { STATUS_CODES } from "node:http";
import type { Answer, Expected, ExpectedBody, ExpectedFault, ExpectedProblem } from "./_pairs-expected.js";
import { type Combination, isBody, isQuery } from "./_pairs-factors.js";
import { faultOf } from "./_pairs-model-parameters.js";
import { hasNoBody, isTagged, success } from "./_pairs-model-results.js";

const statusPhrase = (status: number): string | undefined => STATUS_CODES[status];

/** An error on its way to the response. */
interface Failure {
  readonly kind: "HTTPException" | "RequestValidationError" | "Broken" | "other";
  readonly status: number;
  readonly body: ExpectedBody;
  readonly headers: Readonly<Record<string, string>>;
}

const failure = (status: number, detail: string, headers: Failure["headers"] = {}): Failure => ({
  kind: "HTTPException",
  status,
  body: { json: { detail } },
  headers,
});
const BROKEN: Failure = { ...failure(500, "Internal Server Error"), kind: "Broken" };
const OTHER: Failure = { ...BROKEN, kind: "other" };
const invalid = (faults: readonly ExpectedFault[]): Failure => ({
  kind: "RequestValidationError",
  status: 422,
  body: { faults },
  headers: {},
});

/** The place where an error is thrown: it determines which exception handlers are tried. */
type Place = "route" | "app" | "middleware";

/** The prefix of each mount. */
export const PREFIXES: Readonly<Record<Combination["mount"], string>> = {
  none: "",
  router: "/v1/in",
  app: "/sub",
  "app with handlers": "/sub",
  "app in app": "/mid/sub",
  "app on router": "/v1/sub",
};

/** security.md, the table of the schemes. */
const CHALLENGES: Readonly<Record<Combination["scheme"], string>> = {
  bearer: "Bearer",
  token: "Token",
  basic: 'Basic realm="Restricted", charset="UTF-8"',
  "key header": "APIKey",
  "key query": "APIKey",
  "key cookie": "APIKey",
};

/** A generator that has yielded. */
interface Open {
  readonly name: "" | "guard ";
  readonly level: string;
}

/** dependencies.md, Cleanup: of scope "function", and of scope "request". */
const OF_FUNCTION: readonly string[] = ["function generator", "failing commit"];
const OF_REQUEST = ["generator", "request generator", "shared with a guard", "late failure", "swallows", "replaces"];

/** The way of one request. */
class Flow {
  readonly #c: Combination;
  readonly #events: string[] = [];
  /** In the order of their start. */
  #open: Open[] = [];

  constructor(c: Combination) {
    this.#c = c;
  }

  run(): Expected {
    const { mount, parameter, dependency, override } = this.#c;
    const route = `${PREFIXES[mount]}/r${parameter === "path" ? "/{value}" : ""}`;
    const base = { isCut: false, events: this.#events, route };
    if (dependency === "app") this.#start(); // dependencies.md: when the application starts, or by its first use
    const expected: Expected = { ...base, ...(this.#outsideOfRoute() ?? this.#insideOfRoute()) };
    if (dependency === "app" && override !== "dependency") this.#events.push("end");
    return { ...expected, headers: { ...this.#addedHeaders(expected.route === route), ...expected.headers } };
  }

  /** middleware.md: error responses contain the headers of the middleware. */
  #addedHeaders(isInRoute: boolean): Answer["headers"] {
    const { middleware, observed } = this.#c;
    return {
      "x-app": middleware === "app header" ? "1" : null,
      "x-router": middleware === "router header" && isInRoute ? "1" : null,
      "x-route": middleware === "route header" && isInRoute ? "1" : null,
      "access-control-allow-origin": middleware === "cors" ? "https://example.com" : null,
      "x-observed": observed === "yes" ? "1" : null, // An `Observation` may add headers to the response.
    };
  }

  /** architecture.md: middleware of the App, then 404 and 405. observation.md: a 404 has no route. */
  #outsideOfRoute(): (Partial<Expected> & Answer) | null {
    const { method, parameter, sent, middleware } = this.#c;
    const own: Answer = { status: 202, headers: {}, body: { json: { by: "middleware" } }, errors: 0, isFailure: false };
    if (middleware === "responds") return { ...this.#send(own), route: null };
    if (middleware === "throws") return { ...this.#send(this.#answerTo(BROKEN, "middleware")), route: null };
    if (middleware === "throws late" || middleware === "replaces") {
      const answer = middleware === "replaces" ? own : this.#answerTo(BROKEN, "middleware");
      // Undecided: the behavior of the application after its client has disconnected.
      return { ...answer, events: undefined, errors: undefined, route: undefined, isFailure: undefined };
    }
    if (parameter === "path" && sent === "missing") {
      return { ...this.#send(this.#answerTo(failure(404, "Not Found"), "app")), route: null };
    }
    if (method !== "mismatch") return null;
    const notAllowed = failure(405, "Method Not Allowed", { allow: "PUT" });
    return { ...this.#send(this.#answerTo(notAllowed, "app")), route: undefined };
  }

  #insideOfRoute(): Partial<Expected> & Answer {
    const { result, stream, status } = this.#c;
    const early = this.#beforeHandler();
    if (early !== null) return this.#fail(early);
    // responses.md, Streams: "For `HEAD`, 204, 205 and 304 it is never started."
    const isEmpty = hasNoBody(this.#c, Number(status));
    const isStarted = stream === "none" || !isEmpty;
    if (isStarted) {
      this.#events.push("handler");
      const thrown = this.#thrownByHandler();
      if (thrown !== null) return this.#fail(thrown, true);
    }
    // dependencies.md, Cleanup: "the items after the first one cannot use the dependency", so the first one is made before.
    if ((result === "stream response" || result === "event response") && !isEmpty) this.#events.push("source");
    const failed = this.#endFunctions();
    if (failed !== null) return this.#fail(failed); // the result is dropped, and the tasks do not run
    if (isTagged(this.#c) && this.#c.etag === "unmet") return this.#fail(failure(412, "Precondition Failed"), true);
    return stream === "breaks" && isStarted ? this.#break() : this.#succeed(isStarted);
  }

  /** dependencies.md, Order. */
  #beforeHandler(): Failure | null {
    const refused = this.#guard();
    if (refused !== null) return refused;
    const { dependency, override, parameter, sent } = this.#c;
    if (dependency === "shared with a guard") this.#start(); // dependencies.md, Once a request
    const isReplaced = override === "dependency";
    // "An override keeps the place of the dependency that it replaces", here the one among the authentications.
    const isFirst = dependency === "of the user" && isReplaced;
    if (isFirst) this.#start();
    const stranger = this.#authenticate();
    if (stranger !== null) return stranger;
    const isInvalid = dependency === "own fault" && !isReplaced;
    const hasStarted = isFirst || dependency === "app" || dependency === "shared with a guard";
    if (!hasStarted && !isInvalid) this.#start();
    if (dependency === "refuses" && !isReplaced) return failure(409, "Busy"); // takes precedence over validation errors
    if (dependency === "fails" && !isReplaced) return BROKEN;
    if (sent === "too large") return { ...failure(413, ""), body: "detail" };
    const page = { type: "int_parsing", at: isQuery(parameter) ? "header.x-page" : "query.page" };
    const faults = [faultOf(this.#c), isInvalid ? page : null];
    // dependencies.md, Order: the handler's own parameters, then dependencies; the body is read last.
    const found = (isBody(parameter) ? faults.toReversed() : faults).filter((fault) => fault !== null);
    return found.length === 0 ? null : invalid(found);
  }

  #guard(): Failure | null {
    const { guard, parameter } = this.#c;
    const level = { type: "int_parsing", at: isQuery(parameter) ? "header.x-level" : "query.level" };
    if (guard === "own fault") return invalid([level]);
    if (guard !== "none") this.#events.push("guard");
    this.#enter("guard ", guard);
    if (guard === "refuses") return failure(403, "Forbidden");
    if (guard === "challenges") return failure(401, "Who?", { "www-authenticate": "Guard" });
    return guard === "fails" ? BROKEN : null;
  }

  /** security.md: the schemes, and Optional credentials. */
  #authenticate(): Failure | null {
    const { credentials, scheme, scopes, override } = this.#c;
    if (credentials === "none") return null;
    if (override === "user") {
      this.#events.push("other user"); // security.md: "A dependency that is overridden in a test is always called."
      return null;
    }
    const challenge = { "www-authenticate": CHALLENGES[scheme] };
    const isLenient = credentials.startsWith("lenient"); // `autoError: false`: the dependency is `null`
    if (!isLenient && /missing|malformed|repeated/.test(credentials))
      return failure(401, "Not authenticated", challenge);
    if (credentials === "absent" || credentials === "of another scheme") return null;
    this.#events.push("user");
    if (credentials.endsWith("unknown")) return failure(401, "Unknown", challenge);
    return scopes === "lacking" ? failure(403, "Not enough", { "www-authenticate": "Scope" }) : null;
  }

  /** Starts the dependency, or its replacement, which can depend on the original. */
  #start(): void {
    const { dependency, override, request } = this.#c;
    if (dependency === "none" || (dependency.startsWith("app") && request === "second")) return;
    if (override === "dependency") return void this.#events.push("replacement");
    this.#events.push("start");
    this.#enter("", dependency);
    if (override === "wrapper" && dependency !== "refuses" && dependency !== "fails") this.#events.push("wrapper");
  }

  #enter(name: Open["name"], level: string): void {
    if (OF_FUNCTION.includes(level) || OF_REQUEST.includes(level)) this.#open.push({ name, level });
  }

  #thrownByHandler(): Failure | null {
    const { result } = this.#c;
    if (result === "HTTP error") return failure(404, "No such thing", { "x-why": "none" });
    if (result === "times out") return failure(504, "Gateway Timeout");
    if (result === "error") return BROKEN;
    return result === "unfit" ? OTHER : null;
  }

  /** dependencies.md, Cleanup: scope "function", in reverse order; the error of a failing one. */
  #endFunctions(): Failure | null {
    for (const last of this.#open.toReversed()) {
      if (!OF_FUNCTION.includes(last.level)) continue;
      this.#open = this.#open.filter((open) => open !== last);
      this.#events.push(`${last.name}end`);
      if (last.level === "failing commit") return BROKEN;
    }
    return null;
  }

  /**
   * dependencies.md, Cleanup: an error is thrown into the open generators; architecture.md: an error from them
   * continues.
   */
  #throwInto(error: Failure): Failure {
    let seen = error;
    for (const { name, level } of this.#open.toReversed()) {
      this.#events.push(`${name}error`);
      if (level === "swallows") seen = OTHER;
      if (level === "replaces") seen = failure(410, "Replaced");
    }
    return seen;
  }

  #fail(error: Failure, hasTasks = false): Answer {
    const answer = this.#answerTo(this.#throwInto(error), "route");
    return this.#respond(answer, hasTasks && this.#c.task !== "of the response");
  }

  /** A stream that fails in the middle. Undecided: its tasks, and the log if a generator changes the error. */
  #break(): Partial<Expected> & Answer {
    this.#events.push("head");
    const isChanged = this.#open.some(({ level }) => level === "swallows" || level === "replaces");
    this.#throwInto(BROKEN);
    const answer = { ...success(this.#c, true), isCut: true, errors: isChanged ? undefined : 1, isFailure: true };
    return this.#c.task === "none" ? answer : { ...answer, errors: undefined, events: undefined };
  }

  #succeed(isStarted: boolean): Partial<Expected> & Answer {
    const { dependency, override } = this.#c;
    const { errors = 0, ...answer } = this.#respond(success(this.#c, isStarted), isStarted);
    this.#events.push(...this.#open.toReversed().map(({ name }) => `${name}end`));
    if (dependency !== "late failure" || override === "dependency") return { ...answer, errors };
    // "Any other error in a cleanup is logged." Undecided: whether the generators around it see it.
    const events = this.#open.length > 1 ? { events: undefined } : {};
    return { ...answer, ...events, errors: errors + 1, isFailure: undefined };
  }

  #send(answer: Answer): Answer {
    this.#events.push("head", "sent");
    return answer;
  }

  /** responses.md, Background tasks: "A task that fails is logged, and the next one still runs." */
  #respond(answer: Answer, hasTasks: boolean): Answer {
    this.#send(answer);
    const { task } = this.#c;
    if (!hasTasks || task === "none") return answer;
    this.#events.push(...(task === "failing" ? ["failing task", "task"] : ["task"]));
    if (task !== "failing") return answer;
    return { ...answer, errors: answer.errors === undefined ? undefined : answer.errors + 1, isFailure: undefined };
  }

  /** application.md, Errors: handlers of the route, of its router, of its App; that for the status before that for a class. */
  #answerTo({ kind, status, body, headers }: Failure, place: Place): Answer {
    const { errorHandler, mount } = this.#c;
    const isKnown = kind === "HTTPException" || kind === "RequestValidationError";
    const answer = (given: Partial<Answer>): Answer => {
      const whole = { status, headers: {}, body, errors: 0, ...given };
      // An observation ends with an unexpected error: one that results in 500.
      return { isFailure: whole.status === 500 || (isKnown && whole.status < 500 ? false : undefined), ...whole };
    };
    const handled = (by: unknown): ExpectedBody => ({ json: { handled: by } });
    if (place === "route" && kind !== "other") {
      if (errorHandler === "throws") return answer({ ...this.#formatted(BROKEN, place), errors: undefined });
      const statuses = { HTTPException: status, RequestValidationError: 400, Broken: 409 };
      if (errorHandler.startsWith("class on")) return answer({ status: statuses[kind], body: handled(kind) });
    }
    // application.md, Mounts: a mounted `App` has its own middleware, exception handlers and document.
    const isOwner = mount === "none" || mount === "router";
    const areAsked = isOwner || (mount === "app with handlers") !== (place === "middleware");
    if (areAsked && errorHandler === "status on app") {
      return answer({ body: handled(status), errors: status === 500 ? undefined : 0 });
    }
    if (areAsked && errorHandler === "platform response on app" && kind !== "other") {
      return answer({ status: 418, body: handled(kind) });
    }
    if (areAsked && errorHandler === "Error on app" && !isKnown) {
      return answer({ status: 409, body: handled("Error"), errors: kind === "Broken" ? 0 : undefined });
    }
    return answer({ ...this.#formatted({ status, body, headers }, place), errors: status === 500 ? 1 : 0 });
  }

  /** An error without a handler, in the format of its App. */
  #formatted({ status, body, headers }: Omit<Failure, "kind">, place: Place): Omit<Answer, "errors" | "isFailure"> {
    if (!this.#isFormatted(place)) return { status, headers, body };
    const problem = this.#problemOf({ status, body });
    if (this.#c.errorFormat === "custom") {
      return { status, headers: { ...headers, "content-type": "application/json" }, body: { custom: problem } };
    }
    return { status, headers: { ...headers, "content-type": "application/problem+json" }, body: { problem } };
  }

  /** error-format.md, Which responses: "A mounted App follows its own option." */
  #isFormatted(place: Place): boolean {
    const { formatted, mount } = this.#c;
    if (formatted === "none" || formatted === "all") return formatted === "all";
    return (formatted === "outer") === (place === "middleware" || !mount.startsWith("app"));
  }

  #problemOf({ status, body }: Pick<Failure, "status" | "body">): ExpectedProblem {
    const { spelling, parameter, mount } = this.#c;
    const json = typeof body === "object" && "json" in body ? (body.json as { detail: string }) : null;
    return {
      status,
      // Undecided: the detail of an error whose text is the phrase of its status.
      detail: json === null || json.detail === statusPhrase(status) ? undefined : json.detail,
      instance: spelling === "plain" && parameter !== "path" ? `${PREFIXES[mount]}/r` : undefined,
      faults: typeof body === "object" && "faults" in body ? body.faults : null,
    };
  }
}

export const predict = (c: Combination): Expected => new Flow(c).run();
