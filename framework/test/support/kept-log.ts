import type { Logger } from "../../core/src/common/logger.js";

/** A logger that keeps its lines, each as `level message`. */
export class KeptLog implements Logger {
  readonly lines: string[] = [];
  readonly debug = (_fields: object, message: string): void => void this.lines.push(`debug ${message}`);
  readonly info = (_fields: object, message: string): void => void this.lines.push(`info ${message}`);
  readonly warn = (_fields: object, message: string): void => void this.lines.push(`warn ${message}`);
  readonly error = (_fields: object, message: string): void => void this.lines.push(`error ${message}`);
}
