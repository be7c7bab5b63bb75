/** The clients of several replicas: they send requests, follow a WebSocket and read streams until they are told to stop. */
import { WebSocket } from "ws";
import { createClient } from "@tsgi/client";
import { sleep } from "./wire.js";

/** Sends requests, and counts those that fail. */
export class Requests {
  sent = 0;
  failures = [];
  orders = 0;
  #url;

  constructor(url) {
    this.#url = url;
  }

  async #send(method, path, body) {
    this.sent++;
    try {
      const content = body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      const response = await fetch(`${this.#url}${path}`, { method, ...content });
      const text = await response.text();
      if (!response.ok) this.failures.push(`${method} ${path}: ${response.status} ${text}`);
    } catch (error) {
      this.failures.push(`${method} ${path}: ${error.cause?.message ?? error.message}`);
    }
  }

  async order(until) {
    while (!until.aborted) {
      await this.#send("POST", "/orders", { n: ++this.orders });
      await sleep(20);
    }
  }

  async read(until) {
    while (!until.aborted) {
      await this.#send("GET", "/orders");
      await sleep(10);
    }
  }

  startStream(id) {
    return this.#send("POST", `/streams/${id}`);
  }
}

/** A WebSocket that is opened again whenever it closes, from the last message on. */
export class LiveSocket {
  opened = 0;
  repeated = 0;
  /** Messages that were sent while it was not connected. */
  late = 0;
  last = 0;
  ids = new Set();
  #url;
  #isStopped = false;
  #socket = null;

  constructor(url) {
    this.#url = url.replace("http", "ws");
    this.ended = this.#run();
  }

  async #run() {
    while (!this.#isStopped) {
      await this.#follow();
      await sleep(50);
    }
  }

  #follow() {
    return new Promise((resolve) => {
      const socket = new WebSocket(`${this.#url}/live?since=${this.last}`);
      this.#socket = socket;
      socket.on("error", () => {}); // a `close` follows
      socket.on("close", resolve);
      socket.on("open", () => this.opened++);
      socket.on("message", (data) => {
        const { id, isLate } = JSON.parse(data);
        if (this.ids.has(id)) this.repeated++;
        if (isLate && this.opened > 1) this.late++;
        this.ids.add(id);
        this.last = id;
      });
    });
  }

  async stop() {
    this.#isStopped = true;
    this.#socket?.close();
    await this.ended;
  }
}

/** Reads one stream after the other, each to its end. */
export class StreamReader {
  streams = 0;
  events = 0;
  connections = 0;
  /** Streams whose events were not 1, 2, 3 and so on. */
  wrong = [];
  #client;
  #requests;
  #length;

  constructor(url, requests, length) {
    this.#requests = requests;
    this.#length = length;
    this.#client = createClient({
      baseUrl: url,
      fetch: (request) => {
        this.connections++;
        return fetch(request);
      },
    });
  }

  async run(name, until) {
    while (!until.aborted) {
      const id = `${name}-${++this.streams}`;
      await this.#requests.startStream(id);
      const seen = [];
      try {
        for await (const { event, data } of this.#client.stream(`/streams/${id}`)) {
          seen.push(event === undefined ? data : `${event}: ${data.detail}`);
        }
      } catch (error) {
        seen.push(String(error));
      }
      this.events += seen.length;
      const isWhole = seen.length === this.#length && seen.every((data, index) => data === index + 1);
      if (!isWhole) this.wrong.push(`${id}: ${seen.join(" ")}`);
    }
  }
}
