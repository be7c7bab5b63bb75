import { Router, t } from "tsgi";

import { jobs, Month, report } from "../jobs.js";

/** The id of a job; `null` if one with its key is waiting or running. */
const Enqueued = t.Object({ job: t.Union([t.String(), t.Null()]) }, { title: "Enqueued" });

/** The lifespan connects to the database of the jobs. */
export const reports = new Router({ prefix: "/reports", tags: ["reports"], lifespan: jobs.lifespan });

export const requestReport = reports.post(
  "",
  { summary: "Request the report of a month", params: { request: Month }, returns: Enqueued, statusCode: 202 },
  async ({ request }) => ({ job: await report.enqueue(request, { key: request.month }) }),
);
