/** Functions that are instances of a class: an App, a folder of files, a security scheme. @module */

/**
 * The base of a class whose instances are called: each is the function that it is made with. `instanceof` holds, and so
 * do the methods of functions, by which Node calls a listener.
 */
export class CallableInstance {
  constructor(call: (...args: never) => unknown) {
    return Object.setPrototypeOf(call, new.target.prototype) as CallableInstance;
  }
}

Object.setPrototypeOf(CallableInstance.prototype, Function.prototype);
