/** The load of a client over connections that stay open. @module */

/** The scenes, each measured on a fresh server. */
export const SCENES = ["echo", "large echo", "broadcast", "events", "idle HTTP", "idle WebSocket"] as const;

/** One use of the connections. */
export type Scene = (typeof SCENES)[number];

/** The amounts of all scenes. */
export interface RealtimeAmounts {
  /** WebSockets whose messages are echoed, one in flight on each. */
  readonly echoing: number;
  /** Measured messages of the echo, over all of its WebSockets. */
  readonly messages: number;
  /** WebSockets that receive every message of a broadcast. */
  readonly receivers: number;
  /** Measured messages of the broadcast, each for all receivers. */
  readonly broadcasts: number;
  /** Streams of server-sent events. */
  readonly streams: number;
  /** Measured events, each for all streams. */
  readonly events: number;
  /** Connections that do nothing. */
  readonly idle: number;
  /** Milliseconds for which the server's processor time is read while all connections are idle. */
  readonly windowMs: number;
}

/** One scene with one server. */
export interface RealtimeLoad extends RealtimeAmounts {
  readonly scene: Scene;
  readonly url: string;
  readonly serverPid: number;
}
