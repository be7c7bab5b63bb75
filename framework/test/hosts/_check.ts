/** Checks all statements on one host. */
import { checkStatement, type SendRequest, statements } from "../anywhere/_statements.js";
import { sendTo } from "../support/send.js";
import { ANYWHERE, createMounts } from "./_application.js";
import { type Host, loaderOf } from "./_host.js";
import { hostStatements, lackOf } from "./_statements.js";

/** The result of one statement. */
export interface HostResult {
  readonly title: string;
  readonly outcome: "passed" | "lacks" | "failed";
  readonly reason?: string;
}

/** The statements about any application, which the hosts share with the platforms. */
export const general = statements.filter(
  ({ title }) => !title.includes("OpenTelemetry"), // a process has one global provider of traces, and the hosts share it
);

async function outcomeOf(title: string, check: () => Promise<void>): Promise<HostResult> {
  try {
    await check();
    return { title, outcome: "passed" };
  } catch (error) {
    return { title, outcome: "failed", reason: String(error) };
  }
}

/** Starts a host, and checks the statements one at a time. */
export async function checkHost(host: Host): Promise<{ readonly own: HostResult[]; readonly general: HostResult[] }> {
  const mounts = await createMounts();
  const running = await host.start(mounts, loaderOf(host));
  const { url } = running;
  const own: HostResult[] = [];
  for (const [index, statement] of hostStatements.entries()) {
    const reason = lackOf(host, statement);
    const send: SendRequest = (method, target, sent) => sendTo(url, method, target, sent);
    const context = { url, mounts, key: String(index), send };
    own.push(
      reason === null
        ? await outcomeOf(statement.title, () => statement.check(context))
        : { title: statement.title, outcome: "lacks", reason },
    );
  }
  const shared: HostResult[] = [];
  for (const statement of general) {
    shared.push(await outcomeOf(statement.title, () => checkStatement({ url: url + ANYWHERE }, statement)));
  }
  await running.close();
  return { own, general: shared };
}
