import { AsyncLocalStorage } from "node:async_hooks";
import type { Instrumentation } from "../../../src/index.js";

const textOf = (error: unknown) => (error instanceof Error ? String(error) : typeof error);

/** An instrumentation that writes down every call, one line each. */
export class Recorder implements Instrumentation {
  readonly lines: string[] = [];
  /** The name of the recorder while a request is served, and the path of the request. */
  readonly current = new AsyncLocalStorage<string>();
  readonly name: string;
  #ended = 0;

  constructor(name = "") {
    this.name = name === "" ? "" : `${name} `;
  }

  /** The lines of some kinds. */
  of(...kinds: readonly string[]): string[] {
    return this.lines.filter((line) => kinds.some((kind) => line.startsWith(`${this.name}${kind}`)));
  }

  get ended(): number {
    return this.#ended;
  }

  readonly start: Instrumentation["start"] = (scope) => {
    const say = (line: string) => void this.lines.push(this.name + line);
    say(`start ${scope.type} ${scope.path}`);
    return {
      run: (fn) => this.current.run(scope.path, fn),
      route: (pattern, name) => say(`route ${pattern} ${name}`),
      step: (kind, name) => {
        say(`begin ${kind} ${name}`);
        return (error) => say(`end ${kind} ${name}${error === undefined ? "" : ` ${textOf(error)}`}`);
      },
      response: (status, headers) => {
        say(`response ${status} ${headers.get("content-type") ?? ""}`.trimEnd());
        headers.append("x-seen", this.name.trim() || "yes");
      },
      end: (error) => {
        this.#ended++;
        say(error === undefined ? "over" : `over ${textOf(error)}`);
      },
    };
  };
}
