import { demand } from "./lib/outcome.js";
import { orderUnderFaults, REQUESTS, Shop } from "./lib/jobs.js";
import { eventually } from "./lib/wire.js";

export const fault = "events: kill -9 of the API and of workers, and a restart of PostgreSQL, during 1,000 publishes";
export const pass = "500 rows, and each of two subscribers ran at least once for each of them, and for no other";
export const limitMs = 240_000;

export async function run() {
  const shop = await Shop.open();
  try {
    const kills = await orderUnderFaults(shop, { EVENTS: "1" });
    const received = (subscriber) =>
      shop.count(
        `(SELECT DISTINCT r.n FROM receipts r JOIN orders o USING (n) WHERE subscriber = '${subscriber}') AS done`,
      );
    const isDone = async () => (await received("mail")) + (await received("stock")) === REQUESTS;
    await eventually(() => isDone().catch(() => false), 120_000);
    const rows = await shop.count("orders");
    const [mail, stock] = [await received("mail"), await received("stock")];
    const runs = await shop.count("receipts");
    const strays = await shop.count("receipts WHERE n NOT IN (SELECT n FROM orders)");
    const figure = `${rows} rows, ${mail} and ${stock} received in ${runs} runs, ${strays} of rolled-back events; ${kills} processes killed`;
    demand(rows === REQUESTS / 2 && mail === rows && stock === rows && strays === 0, figure);
    return figure;
  } finally {
    await shop.close();
  }
}
