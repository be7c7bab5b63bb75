/** Direct calls of a fetch handler, with a web-standard request. @module */
import type { Answer, Example } from "../examples.js";
import type { Caller, FetchContender } from "./contender.js";

const ORIGIN = "http://localhost";

/**
 * Calls a fetch handler. A `Request` is new for each, as its body can be read once; while it is measured the body of
 * the `Response` is left unread, which is to the contender's advantage: an ASGI application has handed its bytes over.
 */
export class FetchCaller implements Caller {
  readonly #handle: FetchContender["handle"];
  readonly #url: string;
  readonly #init: RequestInit;

  constructor(handle: FetchContender["handle"], example: Example) {
    this.#handle = handle;
    this.#url = ORIGIN + example.path;
    this.#init =
      example.body === null
        ? { method: example.method }
        : { method: example.method, headers: { "content-type": "application/json" }, body: example.body };
  }

  async ask(): Promise<Answer> {
    const response = await this.#handle(new Request(this.#url, this.#init));
    return {
      status: response.status,
      contentType: response.headers.get("content-type") ?? "",
      body: await response.text(),
    };
  }

  async repeat(requests: number, right: Answer): Promise<number> {
    let wrong = 0;
    for (let request = 0; request < requests; request++) {
      const response = await this.#handle(new Request(this.#url, this.#init));
      if (response.status !== right.status) wrong++;
    }
    return wrong;
  }
}
