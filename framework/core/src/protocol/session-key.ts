/** The key of a scope under which an application finds the session of its WebSocket. @module */

/** Set by the drivers of this package; other servers have no session. */
export const SESSION: unique symbol = Symbol("tsgi.session");

/** A scope of a WebSocket that may have a session. */
export interface SessionScope {
  [SESSION]?: {
    /** Calls back once the connection has ended. Messages may still wait for the application. */
    whenEnded(callBack: () => void): void;
  };
}
