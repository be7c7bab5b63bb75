/** One thing that was looked at. @module */

/** What was found, in a line. */
export interface Finding {
  /** In order, worth a change, or certainly broken. */
  mark: "ok" | "note" | "fault";
  /** A word for the column in front. */
  subject: string;
  text: string;
}

/** What is in order. */
export const ok = (subject: string, text: string): Finding => ({ mark: "ok", subject, text });
/** What is worth a change. */
export const note = (subject: string, text: string): Finding => ({ mark: "note", subject, text });
/** What is certainly broken. */
export const fault = (subject: string, text: string): Finding => ({ mark: "fault", subject, text });
