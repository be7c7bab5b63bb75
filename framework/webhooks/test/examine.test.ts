/** The checks of webhooks by `tsgi doctor`. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { t } from "tsgi";
import { Project } from "../../cli/test/_project.js";
import { createDatabase, describeWithDatabase } from "../../jobs/test/_database.js";
import { type Endpoint, Webhooks } from "../src/index.js";
import { checkOf } from "../src/examine.js";
import { createLog } from "./_receiver.js";

const texts = async (...allow: string[]) => (await checkOf(allow)(null)).map(({ mark, text }) => `${mark} ${text}`);

describe("the check of allow", () => {
  it("accepts private ranges", async () => {
    const ranges = ["10.0.0.0/8", "172.16.0.0/12", "192.168.1.7", "127.0.0.0/8", "fd12:3456::/32", "::1"];
    expect(await texts(...ranges)).toEqual([]);
  });

  it.each(["8.8.8.8", "192.0.0.0/8", "172.16.0.0/8", "10.0.0.0/7", "2600::/16"])(
    "reports public addresses of %s",
    async (range) => {
      expect(await texts(range)).toEqual([expect.stringContaining(`note allow covers public addresses by ${range}`)]);
    },
  );

  it.each([
    ["0.0.0.0/0", "169.254.169.254"],
    ["169.254.0.0/16", "169.254.169.254"],
    ["168.63.0.0/16", "168.63.129.16"],
    ["fd00::/8", "fd00:ec2::254"],
  ])("fails for %s, which covers a metadata service", async (range, address) => {
    expect(await texts("10.0.0.0/8", range)).toEqual([
      expect.stringContaining(`fault allow covers ${address} by ${range}`),
    ]);
  });

  it("is a part of tsgi doctor", async () => {
    await using project = await Project.create({
      "app.js": `
import { App } from "tsgi";
import { Jobs } from "@tsgi/jobs";
import { Webhooks } from "@tsgi/webhooks";
const jobs = new Jobs({ inline: true });
new Webhooks({ jobs, events: {}, endpoints: () => [], endpoint: () => null, allow: ["0.0.0.0/0"] });
export const app = new App();`,
    });
    const { code, stdout } = await project.start(["doctor"]).ended;
    expect(stdout).toMatch(/^✗ webhooks +allow covers 169\.254\.169\.254 by 0\.0\.0\.0\/0/m);
    expect(code).toBe(1);
  });
});

describeWithDatabase("the check of deliveries", () => {
  const database = createDatabase();
  const query = (text: string, values: readonly unknown[] = []) => database.pool.query(text, [...values]);

  it("reports endpoints whose deliveries are refused, such as one without a secret", async () => {
    const owner = randomUUID();
    const endpoint: Endpoint = { id: owner, url: "https://example.com", secrets: [], events: ["order.paid"] };
    const jobs = database.open(createLog(), { program: "shop" });
    const events = { "order.paid": t.Object({ orderId: t.Integer() }) };
    const webhooks = new Webhooks({ jobs, events, endpoints: () => [endpoint], endpoint: () => endpoint });
    await webhooks.send("order.paid", { orderId: 1 }, { owner });
    await database.work(jobs);
    while ((await webhooks.deliveries({ owner }))[0]?.state === "pending") {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    try {
      expect(await checkOf([])(query)).toContainEqual({
        mark: "note",
        subject: "webhooks",
        text: expect.stringMatching(
          /^in 7 days, refused for \d+ endpoints? \(\d+ in all\): The endpoint has no secret/,
        ),
      });
    } finally {
      await database.pool.query("DELETE FROM tsgi_webhook_deliveries WHERE owner = $1", [owner]);
    }
  });

  it.each([
    ["may create", "", "note the table tsgi_webhook_deliveries does not exist. The first delivery creates it."],
    [
      "may not create",
      "CREATE ROLE one; GRANT USAGE ON SCHEMA one TO one; SET LOCAL ROLE one",
      expect.stringMatching(/^fault .* "one_\w+" may not create it\./),
    ],
  ])("reports a missing table that the user %s", async (_what, statement, line) => {
    const client = await database.pool.connect();
    const schema = `one_${randomUUID().replaceAll("-", "")}`;
    try {
      await client.query(`BEGIN; CREATE SCHEMA ${schema}; SET LOCAL search_path = ${schema}`);
      await client.query(statement.replaceAll("one", schema));
      const found = await checkOf([])((text, values = []) => client.query(text, [...values]));
      expect(found.map(({ mark, text }) => `${mark} ${text}`)).toEqual([line]);
    } finally {
      await client.query("ROLLBACK");
      client.release();
    }
  });
});
