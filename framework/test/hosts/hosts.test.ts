/** Applications inside other frameworks. Packages that are not devDependencies are fetched on demand. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { checkStatement, type SendRequest } from "../anywhere/_statements.js";
import { IS_SLOW } from "../support/on-demand.js";
import { sendTo } from "../support/send.js";
import { ANYWHERE, createMounts, type Mounts } from "./_application.js";
import { general } from "./_check.js";
import { type Host, loaderOf, type RunningHost } from "./_host.js";
import { hosts } from "./_hosts.js";
import { hostStatements, lackOf } from "./_statements.js";

const slow = IS_SLOW ? it : it.skip;

function describeHost(host: Host): void {
  let mounts: Mounts;
  let running: RunningHost;
  let runs = 0;
  beforeAll(async () => {
    mounts = await createMounts();
    running = await host.start(mounts, loaderOf(host));
  });
  afterAll(() => running.close());

  const all = hostStatements.map((statement) => ({ statement, reason: lackOf(host, statement) }));
  const lacking = all.filter(({ reason }) => reason !== null);
  it.each(all.filter(({ reason }) => reason === null))("$statement.title", async ({ statement }) => {
    const { url } = running;
    const send: SendRequest = (method, target, sent) => sendTo(url, method, target, sent);
    await expect(statement.check({ url, send, mounts, key: String(++runs) })).resolves.toBeUndefined();
  });
  const skipped = lacking.length > 0 ? it.skip : it;
  if (lacking.length > 0) skipped.each(lacking)("$statement.title ($reason)", () => expect(host.lacks).toEqual({}));

  slow.each(general)("$title", async (statement) => {
    await expect(checkStatement({ url: running.url + ANYWHERE }, statement)).resolves.toBeUndefined();
  });
}

it("has at least 30 statements, each with its own title", () => {
  expect(new Set(hostStatements.map(({ title }) => title)).size).toBe(hostStatements.length);
  expect(hostStatements.length).toBeGreaterThanOrEqual(30);
});

describe.each(hosts.filter(({ isInstalled }) => isInstalled))("inside $name", (host) => {
  describeHost(host);
});

const others = hosts.filter(({ isInstalled }) => !isInstalled);
(IS_SLOW ? describe : describe.skip).each(others)("inside $name (skipped without TSGI_SLOW=1)", (host) =>
  describeHost(host),
);
