/** A promise that is settled from outside. @module */
import { markHandled } from "../promises.js";

/** Stands for `Promise.withResolvers`, which Node has from version 22. */
export class Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve!: (value: Value | PromiseLike<Value>) => void;
  reject!: (reason: unknown) => void;

  constructor() {
    this.promise = markHandled(
      new Promise((resolve, reject) => {
        this.resolve = resolve;
        this.reject = reject;
      }),
    );
  }
}
