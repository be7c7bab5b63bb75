/** A page that uploads, downloads by ranges, listens to events and talks over a WebSocket, and what it talks to. */
import { createHash } from "node:crypto";
import path from "node:path";
import {
  App,
  EventSourceResponse,
  File,
  FileResponse,
  HTMLResponse,
  lastEventId,
  Request,
  type ServerSentEvent,
} from "../../core/src/index.js";

/** Each connection of the event stream sends this number, and is then closed: the browser continues at its position. */
const EVENTS_A_CONNECTION = 3;
const EVENTS = 7;

const STYLE = `
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; color: #1c2733 }
  h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 1.6rem 0 .3rem }
  progress { width: 100%; height: 1rem } pre { background: #f2f5f8; padding: .6rem; margin: .3rem 0; white-space: pre-wrap }
`;

/** Runs in the browser. Each part says when it is done in \`data-state\`. */
const SCRIPT = `
  const show = (id, text) => { document.getElementById(id).textContent = text; };
  const done = (id, text) => { show(id, text); document.getElementById(id).dataset.state = "done"; };
  const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const digest = async (bytes) => hex(await crypto.subtle.digest("SHA-256", bytes));

  document.getElementById("file").addEventListener("change", (event) => {
    const form = new FormData();
    form.append("upload", event.target.files[0]);
    const request = new XMLHttpRequest();
    const seen = new Set();
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      seen.add(loaded);
      document.getElementById("progress").value = loaded / total;
    });
    request.addEventListener("load", () => {
      const { size, sha256 } = JSON.parse(request.responseText);
      done("uploaded", "status " + request.status + ", " + size + " bytes, progress " + (seen.size > 1 ? "in steps" : "once") + "\\n" + sha256);
    });
    request.open("POST", "/upload");
    request.send(form);
  });

  document.getElementById("download").addEventListener("click", async () => {
    const head = await fetch("/file", { method: "HEAD" });
    const size = Number(head.headers.get("content-length"));
    const etag = head.headers.get("etag");
    const part = Math.ceil(size / 4);
    const ranges = [0, 1, 2, 3].map((index) => "bytes=" + index * part + "-" + (Math.min(size, (index + 1) * part) - 1));
    const answers = await Promise.all(ranges.map((range) => fetch("/file", { headers: { range, "if-range": etag } })));
    const parts = await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    const whole = new Uint8Array(await new Blob(parts).arrayBuffer());
    const past = await fetch("/file", { headers: { range: "bytes=" + size + "-" } });
    const lines = answers.map((answer) => answer.status + " " + answer.headers.get("content-range"));
    done("downloaded", [...lines, past.status + " " + past.headers.get("content-range"), await digest(whole)].join("\\n"));
  });

  let opened = 0;
  const events = new EventSource("/events");
  const heard = [];
  events.addEventListener("open", () => opened++);
  events.addEventListener("tick", ({ data, lastEventId }) => heard.push(lastEventId + " " + JSON.parse(data).square));
  events.addEventListener("end", () => {
    events.close();
    done("events", heard.join(", ") + "\\n" + opened + " connections");
  });

  const socket = new WebSocket(location.origin.replace("http", "ws") + "/ws", ["v1", "v2"]);
  socket.binaryType = "arraybuffer";
  const lines = [];
  socket.addEventListener("open", () => { socket.send("héllo"); socket.send(Uint8Array.of(1, 2, 255)); });
  socket.addEventListener("message", ({ data }) => {
    lines.push(typeof data === "string" ? "text " + data : "bytes " + hex(data));
    if (lines.length === 2) socket.send("bye");
  });
  socket.addEventListener("close", ({ code, reason, wasClean }) => {
    const none = new WebSocket(location.origin.replace("http", "ws") + "/none");
    none.addEventListener("close", (end) => {
      done("socket", [socket.protocol, ...lines, code + " " + reason + " " + wasClean, "no route: " + end.code].join("\\n"));
    });
  });
`;

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Exchange</title>
<link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body><h1>Upload, ranges, events, WebSocket</h1>
<h2>Upload</h2><input type="file" id="file"><progress id="progress" value="0"></progress><pre id="uploaded"></pre>
<h2>Download by ranges</h2><button id="download">Download</button><pre id="downloaded"></pre>
<h2>Server-sent events</h2><pre id="events"></pre>
<h2>WebSocket</h2><pre id="socket"></pre>
<script>${SCRIPT}</script></body></html>`;

/** @param folder - Where the upload is kept. */
export function createExchangeApp(folder: string): App {
  const app = new App({ limits: { uploadBytes: 128 << 20 } });
  const kept = path.join(folder, "kept");
  app.get("/", async () => new HTMLResponse(PAGE));
  app.post("/upload", { params: { upload: File() } }, async ({ upload }) => {
    const hash = createHash("sha256");
    for await (const chunk of upload.stream()) hash.update(chunk);
    await upload.saveTo(kept);
    return { size: upload.size, sha256: hash.digest("hex") };
  });
  app.get("/file", async () => new FileResponse(kept, { mediaType: "application/octet-stream" }));
  app.get("/events", { params: { request: Request } }, async ({ request }) => {
    const first = Number(lastEventId(request) ?? 0) + 1;
    return new EventSourceResponse(ticks(first));
  });
  app.websocket("/ws", async ({ ws }) => {
    await ws.accept({ subprotocol: "v2" });
    for await (const message of ws) {
      if (message === "bye") await ws.close(4321, "as you wish");
      else await ws.send(message);
    }
  });
  return app;
}

async function* ticks(first: number): AsyncGenerator<ServerSentEvent> {
  for (let id = first; id < first + EVENTS_A_CONNECTION; id++) {
    if (id > EVENTS) {
      yield { event: "end", data: "" };
      return;
    }
    yield { event: "tick", id, data: { square: id * id }, retry: 10 };
  }
}
