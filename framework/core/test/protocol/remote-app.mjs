/**
 * An application that runs in another process: each call is a WebSocket to the test, which decides what is received and
 * sent. Runs under every runtime, also as a worker.
 * @module
 */

/** A logger that keeps its lines, and the number of calls that have not settled. */
export class Log {
  running = 0;
  #lines = [];
  debug = this.#level("debug");
  info = () => {};
  warn = this.#level("warn");
  error = this.#level("error");

  #level(level) {
    return (fields, message) => {
      this.#lines.push({ level, message, ...("err" in fields && { err: String(fields.err) }) });
    };
  }

  /** Takes the lines, if every call has settled. */
  take() {
    return { running: this.running, lines: this.running === 0 ? this.#lines.splice(0) : [] };
  }
}

const toBase64 = (bytes) => {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
};

function fromBase64(text) {
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = chars.charCodeAt(at);
  return bytes;
}

/** A value as JSON: bytes, and values that JSON cannot represent, have a special form. */
export function encode(value) {
  return JSON.stringify(toPlain(value));
}

function toPlain(value) {
  if (value === undefined) return { $: "undefined" };
  if (typeof value === "number" && !Number.isFinite(value)) return { $: "number", text: String(value) };
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return { $: "bytes", text: toBase64(value) };
  if (value instanceof Error) return { $: "error", name: value.name, message: value.message };
  if (Symbol.iterator in value) return Array.from(value, toPlain);
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, toPlain(field)]));
}

/** A value of its JSON. */
export function decode(text) {
  return fromPlain(JSON.parse(text));
}

function fromPlain(value) {
  if (Array.isArray(value)) return value.map(fromPlain);
  if (typeof value !== "object" || value === null) return value;
  switch (value.$) {
    case "undefined":
      return undefined;
    case "number":
      return Number(value.text);
    case "bytes":
      return fromBase64(value.text);
    case "error":
      return Object.assign(new Error(value.message), { name: value.name });
    default:
      return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, fromPlain(field)]));
  }
}

/** The platform's own objects stay here. */
function plainScope({ extensions, ...scope }) {
  return { ...scope, extensions: Object.fromEntries(Object.keys(extensions ?? {}).map((name) => [name, {}])) };
}

/** An application whose calls run in an application of the test. @param hub - `ws://host:port/key` */
export function createApp(hub) {
  return (scope, receive, send) => run(new WebSocket(hub), scope, receive, send);
}

function run(socket, scope, receive, send) {
  return new Promise((resolve, reject) => {
    const reply = (id, message) => socket.send(encode({ id, ...message }));
    socket.addEventListener("open", () => socket.send(encode({ scope: plainScope(scope) })));
    socket.addEventListener("close", () => reject(new Error("The test has ended the call.")));
    socket.addEventListener("message", async ({ data }) => {
      const { id, order, value } = decode(data);
      if (order === "return") resolve();
      else if (order === "throw") reject(value);
      else {
        try {
          reply(id, { value: await (order === "receive" ? receive() : send(value)) });
        } catch (error) {
          reply(id, { error });
        }
      }
    });
  });
}
