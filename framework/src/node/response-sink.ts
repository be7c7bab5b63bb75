/** Where the bytes of a response go. @module */

/** The part of `ServerResponse` that a response is written with: what another I/O loop has to offer in its place. */
export interface ResponseSink {
  /** Whether the client has gone. */
  readonly destroyed: boolean;
  /** Bytes that wait for the socket. */
  readonly writableLength: number;
  writeHead(status: number, headers: string[]): unknown;
  /** Gives whether the socket takes more right now; `drain` follows when it does not. */
  write(chunk: Uint8Array): boolean;
  end(chunk?: Uint8Array): unknown;
  end(chunk: string, encoding: "latin1"): unknown;
  /** `writeHead` and `end` in one, where a sink has it. The body is text of one byte a character, or bytes. */
  sendWhole?(status: number, headers: readonly string[], body: string | Uint8Array): void;
  flushHeaders(): void;
  once(event: "drain" | "finish", listener: () => void): unknown;
  /** Says so where nobody else does. */
  emit(event: "drain"): unknown;
  /** Cuts the connection. */
  destroy(): unknown;
}
