/** Watches if the client is still connected, for requests whose dependencies settle with the response. @module */
import { watchClient } from "../../http/request/body.js";
import type { Call } from "./call.js";
import type { Step } from "./plan.js";
import { type Settlement, SettlementExit } from "./settlement.js";

/** Watches the client of a request. It is the first settlement to begin, so it is the last one to end. */
export class ClientWatch implements Settlement<undefined> {
  readonly value = undefined;
  hasLeft = false;
  readonly #stop: () => void;

  constructor(call: Call) {
    const leave = () => {
      this.hasLeft = true;
    };
    this.#stop = watchClient(call.request, leave, { startsNow: true });
  }

  confirm(): void {
    this.#stop();
  }

  async undo(error: unknown): Promise<unknown> {
    this.#stop();
    return error;
  }
}

/** A step that watches the client from the beginning of a request. */
export const watchStep: Step = {
  name: null,
  run: (call) => {
    const generator = new SettlementExit(new ClientWatch(call));
    (call.exits ??= []).push({ generator, scope: "settlement", name: "client" });
  },
};
