/** Receives the messages of a WebSocket before the application asks, to learn that its client has disconnected. @module */
import type { Receive, ReceiveMessage } from "../../protocol/asgi.js";

/** Messages that wait at most. Beyond that the client waits, and its disconnect is seen once some have been taken. */
const MAX_AHEAD = 16;

/** A call of `receive`, or its result. */
type Received = Promise<ReceiveMessage>;

/**
 * Calls `receive` ahead of the application, at most 16 times.
 *
 * @param onLeave - Called once, with the disconnect.
 * @returns A `receive` that returns the same messages in the same order.
 */
export function receiveAhead(receive: Receive, onLeave: () => void): Receive {
  const ahead: Received[] = [];
  let isReceiving = false;
  let hasEnded = false;

  function goOn(): void {
    isReceiving = true;
    const received = receive();
    ahead.push(received);
    received.then(
      ({ type }) => {
        isReceiving = false;
        if (type === "websocket.disconnect") {
          hasEnded = true;
          onLeave();
        } else if (ahead.length < MAX_AHEAD) {
          goOn();
        }
      },
      () => (hasEnded = true), // the application gets the error from its own call
    );
  }

  goOn();
  return () => {
    if (ahead.length === 0) goOn();
    const next = ahead.shift() as Received;
    if (!isReceiving && !hasEnded && ahead.length < MAX_AHEAD) goOn();
    return next;
  };
}
