/** The statements that the subjects differ from on purpose. */

/** The reasons, by the statement. */
export const DIVERGENCES: Readonly<Record<string, string>> = {
  "websocket.close.before-accept-with-code":
    "The code is 4000 to 4999, which the client should see. A browser sees it only after a handshake, so the server completes the handshake and closes with the code.",
};
