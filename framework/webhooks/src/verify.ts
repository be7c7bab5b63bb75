/** The receiving side: a dependency that verifies a webhook. @module */
import { Webhook } from "standardwebhooks";
import { HTTPException, Request, withParams } from "tsgi";
import { headerValues } from "tsgi/internals";
import { webhooksError } from "./errors.js";

/** A webhook whose signature is valid. */
export interface VerifiedWebhook {
  /** The same for repetitions of a webhook: store it, to handle each one once. */
  readonly id: string;
  /** When this attempt was sent, in seconds since 1970. */
  readonly timestamp: number;
  /** The JSON of the body. */
  readonly payload: unknown;
}

const RESPONSES = {
  400: { description: "The body is not JSON" },
  401: { description: "The signature is not valid" },
};

/**
 * Makes a dependency that verifies webhooks of a sender that follows Standard Webhooks. It responds with 401 if the
 * signature is not valid, or was made more than five minutes ago.
 *
 * @param options - `secret` is the sender's, in base64 with or without `whsec_`.
 * @throws ConfigurationError for a secret that is missing, empty or not in base64.
 * @example
 * ```ts
 * import { App, Depends } from "tsgi";
 * import { verifyWebhook } from "@tsgi/webhooks";
 *
 * const webhook = Depends(verifyWebhook({ secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }));
 * const app = new App();
 * app.post("/webhooks", { params: { webhook }, statusCode: 204 }, async ({ webhook }) => {
 *   console.log(webhook.id, webhook.payload);
 * });
 * ```
 */
export function verifyWebhook({ secret }: { readonly secret: string }) {
  const verifier = createVerifier(secret);
  return withParams(
    { request: Request },
    async ({ request }: { request: Request }): Promise<VerifiedWebhook> => {
      const text = decode(await request.body());
      const signed = signedBy(request, verifier, text);
      if (text === null || signed === null) throw new HTTPException(401, "The signature of the webhook is not valid");
      return { ...signed, payload: parse(text) };
    },
    { responses: RESPONSES },
  );
}

function createVerifier(secret: unknown): Webhook {
  try {
    if (typeof secret === "string") return new Webhook(secret);
  } catch {
    // Its message may contain a part of the secret.
  }
  throw webhooksError("TSGI_INVALID_WEBHOOK_SECRET");
}

/** @returns `null` if the signature is not valid for this text and these headers. */
function signedBy({ scope }: Request, verifier: Webhook, text: string | null): Omit<VerifiedWebhook, "payload"> | null {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  const values = names.map((name) => headerValues(scope.headers ?? [], name));
  const [id = "", timestamp = "", signature = ""] = values.flat();
  // A proxy may have looked at the other one of two.
  if (values.some(({ length }) => length !== 1)) return null;
  // `id.timestamp.body` is signed: a dot in the id, or text in the timestamp, could move the parts.
  if (text === null || id.includes(".") || !/^\d{1,12}$/.test(timestamp)) return null;
  try {
    const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
    verifier.verify(text, headers, { jsonParse: false });
    return { id, timestamp: Number(timestamp) };
  } catch {
    return null;
  }
}

/** The signature is about bytes: two bodies that are not UTF-8 could be the same text. */
function decode(body: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HTTPException(400, "The body of the webhook is not JSON");
  }
}
