/** The load of a suite's client. @module */
import type { Load } from "../http/load.js";

/** A suite of requests, and the load on one server. */
export interface SuiteLoad extends Omit<Load, "pipelining"> {
  readonly suite: "database" | "prisma" | "middleware" | "payloads" | "https";
  /** The database of the server, where the suite reads it. */
  readonly databaseUrl?: string;
}
