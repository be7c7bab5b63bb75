/** The events that a server sends to all streams, and the check of what arrives. @module */

/** An event, in the form that frameworks take. */
export interface FeedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

const TEXT = "The state of the order has changed";

/** The event of a number. */
export function eventOf(number: number): FeedEvent {
  return { id: String(number), event: "order", data: JSON.stringify({ number, text: TEXT }) };
}

/** The text of an event, for servers without an encoding of their own. */
export function toText({ id, event, data }: FeedEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;
}

/** The fault of a received event without its empty line, `null` where it is the one of the number. */
export function faultOfEvent(text: string, number: number): string | null {
  const fields = new Map(text.split("\n").map((line) => splitField(line)));
  const right = Object.entries(eventOf(number)).every(([name, value]) => fields.get(name) === value);
  return right ? null : `expected event ${number}, got ${JSON.stringify(text.slice(0, 200))}`;
}

/** HTML §9.2.6: one space behind the colon is not part of the value. */
function splitField(line: string): [name: string, value: string] {
  const [, name = "", value = ""] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
  return [name, value];
}

type Listener = (event: FeedEvent) => void;

/** One source for all streams. A new stream begins with event 0. */
export class Feed {
  readonly #listeners = new Set<Listener>();
  #number = 0;

  /** Calls the listener with event 0 and with each later one. Gives the function that ends it. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    listener(eventOf(0));
    return () => void this.#listeners.delete(listener);
  }

  /** Sends the next event to all. */
  publish(): void {
    const event = eventOf(++this.#number);
    for (const listener of this.#listeners) listener(event);
  }

  /** The events as a generator, for frameworks that take one. */
  async *follow(): AsyncGenerator<FeedEvent, void, undefined> {
    const waiting: FeedEvent[] = [];
    let wake = (): void => {};
    const unsubscribe = this.subscribe((event) => {
      waiting.push(event);
      wake();
    });
    try {
      for (;;) {
        const event = waiting.shift();
        if (event === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else yield event;
      }
    } finally {
      unsubscribe();
    }
  }
}
