/** Ends the transactions that dependencies have begun. @module */
import type { HTTPResponseStartMessage, Send } from "../protocol/asgi.js";
import { contentOf, sendWhole } from "../protocol/response.js";
import { concatBytes } from "../protocol/bytes.js";
import { encodeUTF8, HeaderList, rawHeaders } from "../protocol/header-list.js";
import { timeoutReason, markHandled, RESOLVED } from "../common/promises.js";
import { ClientDisconnect, configurationError } from "../common/exceptions.js";
import { ABORT } from "../http/request.js";
import { adopt } from "../parameters/dependencies/arguments.js";
import type { Call } from "../parameters/dependencies/call.js";
import {
  ClientWatch,
  type ReadyResponse,
  type Transaction,
  TransactionExit,
} from "../parameters/dependencies/transaction.js";
import type { Exit } from "../parameters/dependencies/exits.js";
import { nameOf, type RoutePlan } from "../parameters/dependencies/plan.js";

/** @throws ConfigurationError for a route that sends before a transaction could end. @param what - Such as `a stream`. */
export function assertNotTransactional({ transactional }: RoutePlan, what: string): void {
  if (transactional !== null)
    throw configurationError("TSGI_TRANSACTIONAL_DEPENDENCY.route", nameOf(transactional), what);
}

function transactionExitsOf(exits: readonly Exit[] | null): TransactionExit[] {
  return (exits ?? []).flatMap(({ generator }) => (generator instanceof TransactionExit ? [generator] : []));
}

const transactionsOf = (call: Call): Transaction<unknown>[] =>
  transactionExitsOf(call.exits).map(({ transaction }) => transaction);

/** @throws ClientDisconnect if the client has disconnected. */
function assertConnected(transactions: readonly Transaction<unknown>[]): void {
  if (transactions.some((one) => one instanceof ClientWatch && one.hasLeft)) throw new ClientDisconnect();
}

/**
 * A handler inside transactions: it fails as soon as one of them fails, and if its client has disconnected
 * before it has returned.
 */
export function transactionalHandler(
  handle: (args: object, call: Call) => unknown,
): (args: object, call: Call) => Promise<unknown> {
  return async (args, call) => {
    const transactions = transactionsOf(call);
    assertConnected(transactions);
    const failures = transactions.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
    await Promise.race([...failures, RESOLVED]); // one that has failed already is the first to settle
    const result = adopt(handle(args, call));
    const value = result instanceof Promise ? await firstOf(markHandled(result), failures, call) : result;
    assertConnected(transactions);
    return value;
  };
}

/** Code cannot be stopped from outside: a handler that is late runs on, and its result is dropped. */
async function firstOf(result: Promise<unknown>, failures: readonly Promise<never>[], call: Call): Promise<unknown> {
  const failed = failures.map((failure) =>
    failure.catch((error: unknown) => {
      call.requestIfMade?.[ABORT](timeoutReason());
      throw error;
    }),
  );
  return Promise.race([result, ...failed]);
}

/** Rolls back the transactions of a request that is not served: only its access was of interest. */
export async function rollBackTransactions(exits: Exit[]): Promise<void> {
  for (const { transaction } of transactionExitsOf(exits).toReversed()) await transaction.rollBack(undefined);
  exits.splice(0, exits.length, ...exits.filter(({ scope }) => scope !== "transaction"));
}

/**
 * Passes the complete response to the transactions that need it, and returns a function that sends it afterwards; `null`
 * if they do not need it.
 *
 * @param write - Writes the response.
 */
export async function takeResponse(exits: readonly Exit[], write: Sending): Promise<Sending | null> {
  const takers = transactionExitsOf(exits).filter(({ transaction }) => transaction.maxResponseBytes !== undefined);
  if (takers.length === 0) return null;
  const limit = Math.min(...takers.map(({ transaction }) => transaction.maxResponseBytes ?? 0));
  const response = await collect(write, limit);
  for (const taker of takers) taker.response = response;
  return (send) => sendWhole({ send }, response.status, new HeaderList(response.headers), response.body);
}

type Sending = (send: Send) => Promise<void> | void;

async function collect(write: Sending, maxBytes: number): Promise<ReadyResponse> {
  const heads: HTTPResponseStartMessage[] = [];
  const chunks: Uint8Array[] = [];
  let length = 0;
  await write(async (message) => {
    if (message.type === "http.response.start") heads.push(message);
    if (message.type !== "http.response.body") return;
    const content = contentOf(message);
    const chunk = typeof content === "string" ? encodeUTF8(content) : content;
    length += chunk.length;
    if (length > maxBytes) throw new TypeError(`The response is larger than the ${maxBytes} bytes that can be kept.`);
    chunks.push(chunk);
  });
  const [head] = heads;
  if (head === undefined) throw new TypeError("The response has no head.");
  return { status: head.status, headers: rawHeaders(head.headers), body: concatBytes(chunks) };
}
