/** A worker of a pool, and its task. @module */
import type { Spawn, WorkerEvents, WorkerHandle } from "./protocol.js";
import type { Task } from "./task.js";

/** One worker of a pool, from its start to its end. */
export class WorkerSlot {
  readonly handle: WorkerHandle;
  /** `starting` until it is ready or has failed; `ready` while it takes tasks. */
  state: "starting" | "ready" | "ended" = "starting";
  /** The task that it runs. */
  task: Task | null = null;
  startTimer: NodeJS.Timeout | undefined;
  /** `true` once it has answered a task. */
  hasServed = false;
  /** `true` once the pool has ended it on purpose. */
  isCondemned = false;

  constructor(spawn: Spawn, events: WorkerEvents) {
    this.handle = spawn(events);
  }

  get isFree(): boolean {
    return this.state === "ready" && this.task === null;
  }

  becomeReady(): void {
    this.state = "ready";
    clearTimeout(this.startTimer);
  }

  /** Ends it on purpose, whatever it runs. */
  condemn(): void {
    this.isCondemned = true;
    this.task = null;
    this.end();
  }

  end(): void {
    this.state = "ended";
    clearTimeout(this.startTimer);
    this.handle.kill();
  }

  /** Gives it a task. @throws when the arguments cannot be cloned; it is free then. */
  begin(task: Task): void {
    this.handle.send({ type: "run", id: task.id, target: task.target, args: task.args, context: task.context });
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
