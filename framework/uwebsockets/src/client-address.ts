/** The client's address on uWebSockets.js. @module */
import type { Address } from "tsgi";
import type { UwsResponse } from "./module.js";

/** The name of an unknown host: RFC 7239 §6.2. */
const UNKNOWN: Address = ["unknown", null];

/**
 * A pair that queries host and port when one of them is read: the host is an array buffer, which costs 4.5 µs, a third
 * of a small request. Its elements are holes, so that reading one meets the getters below. After the response has
 * ended, they are not available.
 */
export class ClientAddress extends Array<string | number | null> {
  /** Arrays that are made of an address, by `map` for one, are plain. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  #res: UwsResponse | null;
  #known: Address = UNKNOWN;

  /** The address of the client that sent the request. */
  constructor(res: UwsResponse) {
    super(2);
    this.#res = res;
  }

  /** Stops asking: the response is over. */
  forget(): void {
    this.#res = null;
  }

  /** Asks, once. */
  ask(): Address {
    if (this.#res !== null) {
      const host = Buffer.from(this.#res.getRemoteAddressAsText()).toString("latin1");
      this.#known = [host, this.#res.getRemotePort?.() ?? null];
      this.#res = null;
    }
    return this.#known;
  }

  /** As the scope has it. It has two elements, though the compiler cannot see the getters. */
  get pair(): Address {
    return this as unknown as Address;
  }
}

for (const index of [0, 1] as const) {
  Object.defineProperty(ClientAddress.prototype, index, {
    get(this: ClientAddress) {
      return this.ask()[index];
    },
  });
}
