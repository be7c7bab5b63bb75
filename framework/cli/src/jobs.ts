/** `tsgi jobs`: lists jobs, schedules and events, shows, retries and cancels jobs. @module */
import type { JobRecord, JobsControl, JobState } from "@tsgi/jobs";
import { commandError } from "./errors.js";
import { findJobs } from "./find-jobs.js";
import { toTable } from "./table.js";
import type { Terminal } from "./terminal.js";

/** The flags of `tsgi jobs`, as commander reads them. */
export interface JobsFlags {
  module?: string;
  json?: true;
}

/** The input of a command, and its output. */
interface Call {
  readonly json: true | undefined;
  readonly id: string;
  readonly terminal: Terminal;
}

/** One of the commands. */
type Action = (jobs: JobsControl, call: Call) => Promise<void>;

const ACTIONS: ReadonlyMap<string, Action> = new Map(Object.entries({ list, show, retry, cancel, schedules, events }));

/** Runs one of the commands, and closes its connection. */
export async function runJobsCommand(
  name: string,
  id: string,
  { module, json }: JobsFlags,
  terminal: Terminal,
): Promise<void> {
  const jobs = await findJobs(module, { allowsInline: name === "schedules" || name === "events" });
  try {
    await ACTIONS.get(name)?.(jobs, { json, id, terminal });
  } finally {
    await jobs.close();
  }
}

async function list(jobs: JobsControl, { json, terminal }: Call): Promise<void> {
  const records = await jobs.list();
  if (json) return printJSON(terminal, records);
  if (records.length === 0) return terminal.printLine("No jobs.");
  const rows = records.map((job) => [
    job.id,
    job.name,
    job.state,
    String(job.attempt),
    job.createdAt,
    job.reason ?? "",
  ]);
  terminal.printLine(toTable(["id", "name", "state", "attempt", "created", "reason"], rows, terminal.width));
}

async function show(jobs: JobsControl, { json, id, terminal }: Call): Promise<void> {
  const job = await jobs.show(id);
  if (job === null) throw commandError("TSGI_UNKNOWN_JOB", id);
  if (json) return printJSON(terminal, job);
  const { payload, ...fields }: JobRecord = job;
  const rows = [...Object.entries(fields), ["payload", payload]] as const;
  terminal.printLine(
    toTable(
      ["field", "value"],
      rows.map(([name, value]) => [name, textOf(value)]),
      terminal.width,
    ),
  );
}

async function retry(jobs: JobsControl, { id, terminal }: Call): Promise<void> {
  const state = assertFound(await jobs.retry(id), id);
  if (state !== "dead") throw commandError("TSGI_JOB_IN_OTHER_STATE", id, state, "Only a dead job can be retried.");
  terminal.printLine(`The job ${id} is waiting again, with all its attempts.`);
}

async function cancel(jobs: JobsControl, { id, terminal }: Call): Promise<void> {
  const state = assertFound(await jobs.cancel(id), id);
  if (state === "done" || state === "dead" || state === "cancelled") {
    throw commandError("TSGI_JOB_IN_OTHER_STATE", id, state, "Only a job that is not finished can be cancelled.");
  }
  terminal.printLine(
    state === "running" ? `The job ${id} is cancelled: its signal aborts.` : `The job ${id} is cancelled.`,
  );
}

async function schedules(jobs: JobsControl, { json, terminal }: Call): Promise<void> {
  if (json) return printJSON(terminal, jobs.schedules);
  if (jobs.schedules.length === 0) return terminal.printLine("No schedules.");
  const rows = jobs.schedules.map(({ name, cron, timezone, job }) => [name, cron, timezone, job]);
  terminal.printLine(toTable(["name", "cron", "timezone", "job"], rows, terminal.width));
}

async function events(jobs: JobsControl, { json, terminal }: Call): Promise<void> {
  const records = await jobs.events();
  if (json) return printJSON(terminal, records);
  if (records.length === 0) return terminal.printLine("No events.");
  const rows = records.flatMap(({ name, subscribers }) =>
    subscribers.length === 0
      ? [[name, "no subscribers", ""]]
      : subscribers.map((subscriber) => [name, subscriber.name, subscriber.program ?? ""]),
  );
  terminal.printLine(toTable(["event", "subscriber", "program"], rows, terminal.width));
}

function assertFound(state: JobState | null, id: string): JobState {
  if (state === null) throw commandError("TSGI_UNKNOWN_JOB", id);
  return state;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function printJSON(terminal: Terminal, value: unknown): void {
  terminal.printLine(JSON.stringify(value, null, 2));
}
