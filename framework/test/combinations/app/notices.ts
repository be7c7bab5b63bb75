/** Notices of loans: an event for the subscribers of the library, and webhooks for its partners. Needs Node. @module */
import { DeadJobError, Jobs, type JobEvent } from "@tsgi/jobs";
import {
  type Delivery,
  type Endpoint,
  type SendOptions,
  type VerifiedWebhook,
  verifyWebhook,
  Webhooks,
  type WebhooksOptions,
} from "@tsgi/webhooks";
import { type App, Depends, type Logger, Router, t } from "tsgi";

const Lent = t.Object({ tool: t.String(), member: t.String() });
const EVENTS = { "loan.begun": Lent };

export interface NoticesParts {
  /** The partner that receives the loans. */
  readonly partner: Endpoint;
  /** The secret of webhooks that partners send. */
  readonly secret: string;
  readonly allow: readonly string[];
  readonly logger: Logger;
}

/** All partners belong to the library. */
const owned: SendOptions = { owner: "library" };

function createWebhooks(jobs: Jobs, { partner, allow }: NoticesParts) {
  const options: WebhooksOptions<typeof EVENTS> = {
    jobs,
    events: EVENTS,
    endpoints: () => [partner],
    endpoint: (id) => (id === partner.id ? partner : null),
    allow,
    attempts: 1,
  };
  return new Webhooks(options);
}

/** Adds the notices to an application. Their jobs run in its process, after the response that has enqueued them. */
export function addNotices(app: App, parts: NoticesParts): Jobs {
  const jobs = new Jobs({ inline: true, logger: parts.logger });
  const webhooks = createWebhooks(jobs, parts);
  const journal: string[] = [];
  const lent: JobEvent<typeof Lent> = jobs.event("loan.begun", { payload: Lent });
  lent.subscribe("journal", {}, async ({ payload: { tool, member } }) => {
    if (tool === "lost") throw new DeadJobError("No tool has this name");
    journal.push(`${member} borrowed ${tool}`);
  });
  lent.subscribe("partners", {}, async ({ payload }) => {
    await webhooks.send("loan.begun", payload, owned);
  });
  webhooks.describe(app);
  app.onStartup(async (started) => {
    const life = jobs.lifespan(started);
    await life.next();
    return () => life.next();
  });
  const router = new Router({ prefix: "/v1/notices", tags: ["notices"] });
  router.post("", { params: { loan: Lent }, statusCode: 202 }, async ({ loan }) => lent.publish(loan));
  router.get("", async (): Promise<{ journal: string[]; deliveries: readonly Delivery[] }> => {
    return { journal, deliveries: await webhooks.deliveries(owned) };
  });
  const received = Depends(verifyWebhook(parts));
  const answer = ({ payload }: VerifiedWebhook) => ({ payload });
  router.post("/received", { params: { received } }, async (args) => answer(args.received));
  router.includeRouter(jobs.router("/jobs"));
  app.includeRouter(router);
  return jobs;
}
