import { EVENTS, Live, publish, UPGRADE } from "./lib/live.js";
import { demand } from "./lib/outcome.js";
import { eventually } from "./lib/wire.js";

export const fault = "broadcast: 20 subscribers that stop reading, and 20 that vanish, during 2,000 messages of 16 KiB";
export const pass = "a healthy one gets all in order; the others end, and their memory and files are free again";

const CLIENTS = 20;
const MESSAGES = 2_000;
const TEXT = "x".repeat(16_384);
const LIMIT_MIB = 64;
/** Messages after which the publisher waits for the healthy subscriber, which shares its processor with all others. */
const PACE = 100;

/** A client that reads. */
class Reader {
  numbers = [];
  #wake = () => {};
  #read;

  constructor(url) {
    this.#read = this.#readAll(url);
    this.#read.catch(() => {}); // `until` throws it
  }

  async #readAll(url) {
    const response = await fetch(url);
    let rest = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const events = (rest + chunk).split("\n\n");
      rest = events.pop();
      const data = events.filter((text) => text.startsWith("data: ")); // without comments
      this.numbers.push(...data.map((text) => JSON.parse(text.slice("data: ".length)).number));
      this.#wake();
    }
    throw new Error("The stream of the healthy subscriber has ended.");
  }

  async until(number) {
    while (this.numbers.at(-1) !== number) {
      await Promise.race([this.#read, new Promise((resolve) => (this.#wake = resolve))]);
    }
  }
}

export async function run() {
  const live = await Live.open();
  const [here, there] = live.servers;
  try {
    const healthy = new Reader(`${here.url}/events`);
    await live.subscribed(here, 1);
    const request = (index) => (index % 2 === 0 ? EVENTS : UPGRADE);
    const stuck = Array.from({ length: CLIENTS }, (_, index) => live.connect(here, request(index)));
    const vanishing = Array.from({ length: CLIENTS }, (_, index) => live.connect(here, request(index)));
    for (const wire of stuck) wire.socket.pause();
    await live.subscribed(here, 1 + 2 * CLIENTS);
    here.kill("SIGUSR2");
    const before = here.resources;
    for (let number = 0; number < MESSAGES; number++) {
      demand((await publish(there, number, TEXT)) === 204, `message ${number} was refused`);
      if (number % PACE === 0) await healthy.until(number);
      if (number === MESSAGES / 4) for (const wire of vanishing) wire.destroy();
    }
    await healthy.until(MESSAGES - 1);
    const { numbers } = healthy;
    const isWhole = numbers.length === MESSAGES && numbers.every((number, index) => number === index);
    const isFree = await eventually(() => here.resources.files <= before.files - 2 * CLIENTS, 30_000);
    here.kill("SIGUSR2");
    const grown = Math.round(here.resources.rssMiB - before.rssMiB);
    const figure = `${numbers.length} messages in order, ${before.files - here.resources.files} connections closed, ${grown} MiB`;
    demand(isWhole && isFree && grown < LIMIT_MIB, figure);
    return figure;
  } finally {
    await live.close();
  }
}
