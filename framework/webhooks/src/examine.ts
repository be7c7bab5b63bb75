/** The checks of `tsgi doctor` on webhooks. @module */
import { isIP } from "node:net";
import type { JobsCheck, JobsFinding } from "@tsgi/jobs";
import { plural } from "tsgi/internals";
import { AddressGuard } from "./addresses.js";
import { FIND } from "./deliveries.js";

const SUBJECT = "webhooks";

const note = (text: string): JobsFinding => ({ mark: "note", subject: SUBJECT, text });
const fault = (text: string): JobsFinding => ({ mark: "fault", subject: SUBJECT, text });

/** The addresses with which metadata services of clouds respond, credentials included. */
const METADATA = ["169.254.169.254", "168.63.129.16", "fd00:ec2::254"];

/** Makes the check of webhooks with these ranges. */
export function checkOf(allow: readonly string[]): JobsCheck {
  return async (query) => [...checkAllow(allow), ...(query === null ? [] : await checkDeliveries(query))];
}

function* checkAllow(allow: readonly string[]): Generator<JobsFinding> {
  for (const range of allow) {
    const reached = new AddressGuard([range]);
    const metadata = METADATA.find((address) => reached.isAllowed(address));
    if (metadata !== undefined) {
      yield fault(`allow covers ${metadata} by ${range}, where clouds serve credentials. Write a smaller range.`);
    } else if (coversPublic(range)) {
      yield note(
        `allow covers public addresses by ${range}, which are allowed without it. Write only the private ranges of your receivers.`,
      );
    }
  }
}

/** Tells if a range has addresses that are allowed anyway, and thus is wider than a private network. */
function coversPublic(range: string): boolean {
  const [first = "", bits] = range.split("/");
  const guard = new AddressGuard([]);
  // The largest ranges that are not public are 224.0.0.0/4 and 240.0.0.0/4; of private networks, 10.0.0.0/8 and fc00::/7.
  if (isIP(first) === 6) return Number(bits ?? 128) < 7 || guard.isAllowed(first);
  const size = 2 ** (32 - Number(bits ?? 32));
  const start = Math.floor(numberOf(first) / size) * size;
  return size > 2 ** 24 || [start, start + size - 1].some((address) => guard.isAllowed(addressOf(address)));
}

const numberOf = (address: string): number => address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);

const addressOf = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");

type Query = NonNullable<Parameters<JobsCheck>[0]>;

/** Deliveries that no attempt can repair, as to an endpoint without a secret. */
async function checkDeliveries(query: Query): Promise<readonly JobsFinding[]> {
  const [table] = (await query(FIND)).rows as readonly { name: string }[];
  if (table === undefined) return checkMissing(query);
  const { rows } = await query(
    `SELECT reason, count(*)::int AS count, count(DISTINCT endpoint)::int AS endpoints FROM ${table.name}
     WHERE state = 'refused' AND created_at > now() - interval '7 days' GROUP BY reason ORDER BY count DESC LIMIT 5`,
  );
  return (rows as readonly { reason: string; count: number; endpoints: number }[]).map(({ reason, count, endpoints }) =>
    note(`in 7 days, refused for ${plural(endpoints, "endpoint")} (${count} in all): ${reason}.`),
  );
}

async function checkMissing(query: Query): Promise<readonly JobsFinding[]> {
  const { rows } = await query(
    `SELECT current_user AS "user", coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreate"`,
  );
  const [{ user, mayCreate }] = rows as readonly [{ user: string; mayCreate: boolean }];
  const missing = "the table tsgi_webhook_deliveries does not exist";
  if (mayCreate) return [note(`${missing}. The first delivery creates it.`)];
  return [fault(`${missing}, and the user ${JSON.stringify(user)} may not create it. Create it in a migration.`)];
}
