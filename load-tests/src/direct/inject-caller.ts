/** Direct calls of Fastify, by `inject`. @module */
import type { Answer, Example } from "../examples.js";
import type { Caller, InjectContender, InjectRequest } from "./contender.js";

/** Calls `inject`, which makes a mock of Node's request and response for each call. */
export class InjectCaller implements Caller {
  readonly #handle: InjectContender["handle"];
  readonly #example: Example;

  constructor(handle: InjectContender["handle"], example: Example) {
    this.#handle = handle;
    this.#example = example;
  }

  async ask(): Promise<Answer> {
    const { statusCode, headers, payload } = await this.#handle(this.#request());
    return { status: statusCode, contentType: textOf(headers["content-type"]), body: payload };
  }

  async repeat(requests: number, right: Answer): Promise<number> {
    let wrong = 0;
    for (let request = 0; request < requests; request++) {
      const answer = await this.#handle(this.#request());
      if (answer.statusCode !== right.status || answer.payload.length !== right.body.length) wrong++;
    }
    return wrong;
  }

  #request(): InjectRequest {
    const { method, path, body } = this.#example;
    return body === null
      ? { method, url: path }
      : { method, url: path, headers: { "content-type": "application/json" }, payload: body };
  }
}

function textOf(header: unknown): string {
  return typeof header === "string" ? header : "";
}
