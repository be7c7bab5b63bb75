/** Repeated requests: the response is stored in the transaction of the work, and sent again. @module */
import { BackgroundTasks, Depends, Header, type Marker, Request, Response } from "tsgi";
import {
  assertOptions,
  type Caller,
  createTransactional,
  EarlyResponse,
  expecting,
  fingerprintOf,
  FUNCTION,
  isKept,
  isToken,
  KEY_HEADER,
  type OptionRules,
  type ReadyResponse,
  refusal,
  REPLAYED_HEADER,
  type TransactionalDependency,
  storageKeyOf,
  whole,
} from "tsgi/internals";
import { prismaError } from "./errors.js";
import type { IdempotencyStore, RawClient, StoredResponse } from "./idempotency-store.js";
import { databaseOf } from "./request-transaction.js";
import { openedOf } from "./transaction.js";

/** The options of `idempotent`. */
export interface IdempotentOptions {
  /** Seconds for which a response is kept. Defaults to 86,400, a day. */
  ttlSeconds?: number;
  /** The header of the key. Defaults to `Idempotency-Key`. */
  header?: string;
  /**
   * Identifies the caller: each caller has separate keys. Defaults to `Authorization` with the API keys of the App's
   * `APIKeyHeader`, `APIKeyQuery` and `APIKeyCookie`, else the cookies, else the client's address. A request without any of
   * them runs as if it had no key.
   */
  key?: (request: Request) => string | Promise<string>;
  /**
   * Decides by the status whether a response is kept. By default, 401, 403, 408, 409, 425 and 429 are not kept: a repeat can
   * succeed. A status from 500 on is never kept.
   */
  keep?: (status: number) => boolean;
}

const OPTIONS: OptionRules<IdempotentOptions> = {
  ttlSeconds: whole(1, 2_147_483_647),
  header: expecting("the name of a header", (value) => typeof value === "string" && isToken(value)),
  key: FUNCTION,
  keep: FUNCTION,
};

const DAY_SECONDS = 86_400;

/** Bytes of a response that are stored at most. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

type TransactionDependency = TransactionalDependency<{ readonly database: Marker<unknown> }, unknown>;

/** A key that a request holds, and the responses of its database. */
interface HeldKey {
  readonly key: string;
  readonly fingerprint: string;
  readonly responses: IdempotencyStore;
}

/**
 * Makes a dependency that takes the place of a transaction. The first request with a key runs, and its response is stored in
 * its transaction; each repetition gets the same response.
 *
 * @param transaction - A transaction of `transactionOf`.
 * @throws ConfigurationError for another dependency, or an invalid option.
 * @example
 * ```ts
 * import { App, Depends, t } from "tsgi";
 * import { idempotent, openPrisma, transactionOf } from "@tsgi/prisma";
 *
 * interface Client {
 *   payment: { create(query: { data: { cents: number } }): Promise<{ id: number }> };
 * }
 * // `load` imports the client that Prisma has generated: `() => import("./generated/client.js")`.
 * export function createApp(load: () => Promise<{ PrismaClient: new (options: never) => Client }>) {
 *   const open = async () => openPrisma({ url: "file:./dev.db", sqlite: load });
 *   const transaction = transactionOf(Depends(open, { scope: "app" }));
 *   const app = new App();
 *   const params = { tx: Depends(idempotent(transaction)), payment: t.Object({ cents: t.Integer() }) };
 *   app.post("/payments", { params }, async ({ tx, payment }) => tx.payment.create({ data: payment }));
 *   return app;
 * }
 * ```
 */
export function idempotent<P extends { readonly database: unknown }, Tx>(
  transaction: TransactionalDependency<P, Tx>,
  options?: IdempotentOptions,
): TransactionalDependency<P & { readonly request: typeof Request }, Tx>;
export function idempotent(transaction: TransactionDependency, options: IdempotentOptions = {}): unknown {
  const database = databaseOf(transaction);
  if (database === null) throw prismaError("TSGI_NO_REQUEST_TRANSACTION", transaction);
  assertOptions("idempotent()", options, OPTIONS);
  const { ttlSeconds = DAY_SECONDS, header = KEY_HEADER, key: caller, keep } = options;
  const hold = createHold({ database, header, caller });
  const params = { request: Request, held: Depends(hold), database, tx: Depends(transaction), tasks: BackgroundTasks };
  return createTransactional("idempotent", params, async ({ held, database: client, tx, tasks }) => {
    const rollBack = async (error: unknown) => error;
    if (held === null) return { value: tx, rollBack, commit: () => {} };
    const { key, fingerprint, responses } = held;
    const raw = tx as RawClient;
    const found = await responses.find(raw, key);
    if (found === "running") throw refusal("running");
    if (found !== null) throw replay(found, fingerprint);
    return {
      value: tx,
      rollBack,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      commit: async (response) => {
        if (!isKept((response as ReadyResponse).status, keep)) return;
        await responses.save(raw, key, { ...(response as ReadyResponse), fingerprint }, ttlSeconds);
        if (responses.takeSweep()) tasks.addTask(() => responses.sweep(client as RawClient));
      },
    };
  });
}

/** Makes the dependency that holds the key of a request before the transaction begins, within this process. */
function createHold({
  database,
  header,
  caller,
}: {
  database: Marker<unknown>;
  header: string;
  caller: Caller | undefined;
}) {
  // The header is read from the request, which has each of several lines; as a parameter it is in the OpenAPI document.
  const params = { request: Request, database, given: Header({ alias: header, default: null }) };
  return createTransactional("idempotencyKey", params, async ({ request, database: client }) => {
    const key = await storageKeyOf(request, header, caller);
    const opened = openedOf(client);
    if (opened === null) throw prismaError("TSGI_NO_PRISMA_DATABASE", client);
    const { responses } = opened;
    if (key === null) return { value: null, commit: () => {}, rollBack: async (error: unknown) => error };
    // Before the transaction begins: a slow client must not hold it open.
    const fingerprint = await fingerprintOf(request);
    if (responses.running.has(key)) throw refusal("running");
    responses.running.add(key);
    const release = () => void responses.running.delete(key);
    const held: HeldKey | null = { key, fingerprint, responses };
    return {
      value: held,
      commit: release,
      rollBack: async (error: unknown) => {
        release();
        return error;
      },
    };
  });
}

/** Makes the error that ends a repeated request with its response. */
function replay(found: StoredResponse, fingerprint: string): Error {
  if (found.fingerprint !== fingerprint) return refusal("other");
  const { status: statusCode, headers, body } = found;
  const response = new Response(body, { statusCode });
  for (let index = 0; index < headers.length; index += 2) {
    response.headers.append(headers[index] ?? "", headers[index + 1] ?? "");
  }
  response.headers.set(REPLAYED_HEADER, "true");
  return new EarlyResponse(response);
}
