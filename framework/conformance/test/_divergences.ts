/** The statements that the subjects differ from on purpose. */

/** The reasons, by the statement. */
export const DIVERGENCES: Readonly<Record<string, string>> = {
  "websocket.close.before-accept-with-code":
    "The code is 4000 to 4999, and stands for something that the client is to see. A browser sees it only behind a handshake, so this is completed, and closed with the code.",
};
