import { describe, expect, it } from "@jest/globals";
import { SlowResponses } from "../../core/src/platforms/node/slow-responses.js";
import { consoleLogger } from "../../core/src/common/logger.js";
import { createResponseHead } from "../../core/src/protocol/response.js";
import { ServerContext } from "../../core/src/protocol/server-context.js";
import { Deferred } from "../../core/src/common/promises.js";
import type { UwsResponse } from "../src/module.js";
import { UwsStream } from "../src/stream.js";

/**
 * A response of uWebSockets.js whose client reads as slowly as the test wants. On loopback, the system takes megabytes before
 * the library sees that the client does not read.
 */
class SlowClient {
  readonly closed = new Deferred<void>();
  #onAborted: () => void = () => {};
  #offset = 0;
  onWritableOf: (offset: number) => boolean = () => true;

  /** The client takes one more byte. */
  read(): void {
    this.onWritableOf(++this.#offset);
  }

  get response(): UwsResponse {
    const response: UwsResponse = {
      writeStatus: () => response,
      writeHeader: () => response,
      write: () => false,
      end: () => response,
      endWithoutBody: () => response,
      tryEnd: () => [false, false],
      getWriteOffset: () => this.#offset,
      onWritable: (handler) => ((this.onWritableOf = handler), response),
      onAborted: (handler) => ((this.#onAborted = handler), response),
      onData: () => response,
      pause: () => {},
      resume: () => {},
      close: () => {
        this.#onAborted();
        this.closed.resolve();
        return response;
      },
      cork: (write) => (write(), response),
      getRemoteAddressAsText: () => new ArrayBuffer(0),
      upgrade: () => {},
    };
    return response;
  }
}

describe("a client of uWebSockets.js", () => {
  it.each([
    ["a body of a known length", 100],
    ["a chunk", -1],
  ])("is disconnected after requestMs if it reads a byte of %s each time", async (_what, length) => {
    const context = new ServerContext(() => Promise.resolve(), consoleLogger, { state: {} });
    const client = new SlowClient();
    const settings = { register: new Set<UwsStream>(), slowResponses: new SlowResponses(), requestMs: 1000 };
    const stream = new UwsStream(client.response, context, settings);
    const headers = length < 0 ? [] : [[Buffer.from("content-length"), Buffer.from(String(length))] as const];
    stream.begin(createResponseHead(200, headers, "GET"));
    expect(stream.write(Buffer.alloc(100))).toBe(false);
    const reading = setInterval(() => length > 0 && client.read(), 50);
    await client.closed.promise;
    clearInterval(reading);
    expect(stream.destroyed).toBe(true);
    expect(settings.register.size).toBe(0);
  });
});
