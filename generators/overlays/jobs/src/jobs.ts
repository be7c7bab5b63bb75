import { Depends, t } from "tsgi";
import { Jobs } from "@tsgi/jobs";

const url = process.env["{{jobsUrl}}"] ?? "";
const isStored = /^postgres(?:ql)?:/.test(url) && process.env["NODE_ENV"] !== "test";

/** Kept in PostgreSQL, and run by `{{run}} worker`. Without PostgreSQL, and in tests, they run in the server's process. */
export const jobs = new Jobs(isStored ? { url } : { inline: true });

/** The payload of a job, as JSON keeps it. */
export const Month = t.Object({ month: t.String({ pattern: "^\\d{4}-(?:0[1-9]|1[0-2])$" }) }, { title: "Month" });

/** Delivers reports. Replace it, for example by an email. */
export const openDelivery = async () => ({
  deliver: async (report: string, signal: AbortSignal) => {
    signal.throwIfAborted();
    console.log(report);
  },
});

/** Runs at least once, even if a worker is killed: a second run must do no harm. */
export const report = jobs.define(
  "report",
  {
    payload: Month,
    params: { delivery: Depends(openDelivery, { scope: "app" }), signal: AbortSignal },
    attempts: 5,
    timeoutSeconds: 60,
  },
  async ({ payload, delivery, signal }) => delivery.deliver(`The report of ${payload.month} is ready.`, signal),
);
