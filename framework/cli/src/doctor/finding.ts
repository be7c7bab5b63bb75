/** One result of `tsgi doctor`, in a line. @module */

export interface Finding {
  /** In order, worth a change, or certainly broken. */
  mark: "ok" | "note" | "fault";
  /** A word for the first column. */
  subject: string;
  text: string;
}

export const ok = (subject: string, text: string): Finding => ({ mark: "ok", subject, text });
export const note = (subject: string, text: string): Finding => ({ mark: "note", subject, text });
export const fault = (subject: string, text: string): Finding => ({ mark: "fault", subject, text });
