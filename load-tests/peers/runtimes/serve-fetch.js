/** Serves a web-standard handler on the server of the runtime itself, Bun's or Deno's. @module */
import { announce } from "../http/announce.js";

/** @param {(request: Request) => Response | Promise<Response>} fetch */
export function serveFetch(fetch) {
  if ("Bun" in globalThis) {
    announce(globalThis.Bun.serve({ hostname: "127.0.0.1", port: 0, fetch }).port);
  } else {
    const onListen = ({ port }) => announce(port);
    globalThis.Deno.serve({ hostname: "127.0.0.1", port: 0, onListen }, (request) => fetch(request));
  }
}
