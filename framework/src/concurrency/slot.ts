import type { Task } from "./task.js";
import type { Spawn, WorkerEvents, WorkerHandle } from "./transport.js";

/** One worker of a pool, from its start to its end. */
export class Slot {
  readonly handle: WorkerHandle;
  /** Whether it takes tasks. */
  isReady = false;
  /** What it runs. */
  task: Task | null = null;
  startTimer: NodeJS.Timeout | undefined;
  /** Whether it has answered a task. */
  hasServed = false;
  #isStarting = true;
  #isCondemned = false;

  constructor(spawn: Spawn, events: WorkerEvents) {
    this.handle = spawn(events);
  }

  /** Whether it is not known yet if it will be of use. */
  get isStarting(): boolean {
    return this.#isStarting;
  }

  get isFree(): boolean {
    return this.isReady && this.task === null;
  }

  becomeReady(): void {
    this.#isStarting = false;
    this.isReady = true;
    clearTimeout(this.startTimer);
  }

  /** Whether it was ended on purpose. */
  get isCondemned(): boolean {
    return this.#isCondemned;
  }

  /** Ends it on purpose, whatever it runs. */
  condemn(): void {
    this.#isCondemned = true;
    this.task = null;
    this.fail();
  }

  /** It is of no use, or has none any more. */
  fail(): void {
    this.#isStarting = false;
    this.isReady = false;
    clearTimeout(this.startTimer);
    this.handle.kill();
  }

  /** Gives it a task. @throws when the arguments cannot be cloned; it is free then. */
  begin(task: Task): void {
    this.handle.send({ type: "run", id: task.id, target: task.target, args: task.args });
    task.attempts++;
    this.task = task;
  }

  /** Takes back the task that it has answered, if it still has it. */
  finish(id: number): Task | null {
    const { task } = this;
    if (task?.id !== id) return null;
    this.task = null;
    this.hasServed = true;
    return task;
  }
}
