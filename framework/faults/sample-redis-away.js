import { demand } from "./lib/outcome.js";
import { Shop, startRedis } from "./lib/sample.js";

export const fault = "the sample application: Redis killed, frozen, and back";
export const pass =
  "every login gets a response, at most 100 ms later; twenty wrong guesses, then 429; counted in Redis again";

/** Of one account from one address. */
const GUESSES = 20;

export async function run() {
  const redis = await startRedis();
  const shop = await Shop.open({ REDIS_URL: redis.url });
  /** Guesses until there is a 429, or twice as often as one may. Gives the times of those that were let through. */
  const guess = async (username, most) => {
    const times = [];
    for (let count = 0; count < most; count++) {
      const { status, ms } = await shop.login({ username, password: "wrong" });
      if (status === 429) break;
      demand(status === 401, `the response to a wrong password is ${status}`);
      times.push(ms);
    }
    return times;
  };
  const counting = () => shop.server.stderr.split('"Redis is available').length - 1;
  try {
    const usualMs = Math.max(...(await guess("usual", GUESSES)));
    const figures = [];
    for (const { name, breakIt, mendIt } of [
      { name: "killed", breakIt: () => redis.stop(), mendIt: () => redis.start() },
      { name: "frozen", breakIt: () => redis.freeze(), mendIt: () => redis.thaw() },
    ]) {
      const before = counting();
      await breakIt();
      const times = await guess(name, 2 * GUESSES);
      const { status } = await shop.login();
      await mendIt();
      // The store notices at a call.
      while (counting() === before) await shop.login();
      const afterwards = await guess(`${name} before`, 2 * GUESSES);
      const laterMs = Math.max(...times) - usualMs;
      figures.push(
        `${name}: ${times.length} guesses, at most ${Math.max(0, Math.round(laterMs))} ms later, login ${status}`,
      );
      const isCounted = times.length === GUESSES && afterwards.length === GUESSES;
      demand(isCounted && laterMs < 100 && status === 200, `${figures.join("; ")}; then ${afterwards.length} guesses`);
    }
    return figures.join("; ");
  } finally {
    await shop.close();
    await redis[Symbol.asyncDispose]();
  }
}
