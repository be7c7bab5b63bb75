/** uWebSockets.js: the parts that are used, and whether it is installed. @module */
import type { NativeLoop } from "tsgi/internals";

/** Bytes, or a string that is sent as UTF-8. */
type Text = string | Uint8Array;

/** A response, until it has ended or its client has disconnected; every call after that throws. */
export interface UwsResponse {
  writeStatus(status: Text): UwsResponse;
  writeHeader(name: Text, value: Text): UwsResponse;
  /** Writes a chunk. Returns whether all of it was accepted without waiting. */
  write(chunk: Text): boolean;
  end(body?: Text, closeConnection?: boolean): UwsResponse;
  endWithoutBody(): UwsResponse;
  /**
   * Writes as much as the socket accepts of a body of this total length, and returns whether it accepted all of this
   * chunk and of the body.
   */
  tryEnd(chunk: Uint8Array, totalSize: number): [taken: boolean, ended: boolean];
  getWriteOffset(): number;
  onWritable(handler: (offset: number) => boolean): UwsResponse;
  onAborted(handler: () => void): UwsResponse;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  pause(): void;
  resume(): void;
  close(): UwsResponse;
  cork(write: () => void): UwsResponse;
  getRemoteAddressAsText(): ArrayBuffer;
  /** From version 20.50 on. */
  getRemotePort?(): number;
  upgrade(data: object, key: string, protocol: string, extensions: string, context: unknown): void;
}

/** A request, while its handler is being called. */
export interface UwsRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  /** The part after `?`, or `undefined`. */
  getQuery(): string | undefined;
  getHeader(name: string): string;
  forEach(take: (name: string, value: string) => void): void;
}

/** A WebSocket, until it has closed. */
export interface UwsWebSocket<Data> {
  getUserData(): Data;
  /** Gives 1 when it is sent, 0 when it waits in memory, 2 when it was dropped. */
  send(message: Text, isBinary?: boolean, compress?: boolean): number;
  getBufferedAmount(): number;
  end(code?: number, reason?: string): void;
  close(): void;
}

/** The options and callbacks of WebSockets. */
export interface UwsWebSocketBehavior<Data> {
  maxPayloadLength: number;
  /** Seconds; 0 for no bound, otherwise from 8 to 960. */
  idleTimeout: number;
  maxBackpressure: number;
  sendPingsAutomatically: boolean;
  compression: number;
  upgrade(res: UwsResponse, req: UwsRequest, context: unknown): void;
  open(socket: UwsWebSocket<Data>): void;
  message(socket: UwsWebSocket<Data>, message: ArrayBuffer, isBinary: boolean): void;
  drain(socket: UwsWebSocket<Data>): void;
  close(socket: UwsWebSocket<Data>, code: number, reason: ArrayBuffer): void;
}

/** A server. */
export interface UwsApp {
  any(pattern: string, handler: (res: UwsResponse, req: UwsRequest) => void): UwsApp;
  ws<Data>(pattern: string, behavior: UwsWebSocketBehavior<Data>): UwsApp;
  listen(host: string, port: number, done: (listening: object | false) => void): UwsApp;
  /** Closes the listener and all connections. From version 20.31 on. */
  close?(): UwsApp;
}

/** The package. */
export interface UwsModule extends NativeLoop {
  App(): UwsApp;
  SSLApp(options: object): UwsApp;
  us_listen_socket_close(listening: object): void;
  us_socket_local_port(listening: object): number;
}
