/** Digests of request bodies, which decide whether a repeat is the same request. @module */
import type { Receive } from "../../protocol/asgi.js";
import { Digest } from "../../common/digest.js";
import { markHandled } from "../../common/promises.js";

/** The part of a body that an application has received. */
export interface BodyState {
  /** Bytes that it has received. */
  readonly length: number;
  /** SHA-256 of these bytes. */
  readonly digest: string;
  /** `true` if the body ends there. The response cannot depend on bytes that the application did not receive. */
  readonly isWhole: boolean;
}

/** A `receive` that computes the digest of the body, chunk by chunk: the body is not kept, however large it is. */
export function digesting(receive: Receive): { readonly receive: Receive; readonly state: () => Promise<BodyState> } {
  const digest = new Digest();
  let length = 0;
  let isWhole = false;
  const take = async () => {
    const message = await receive();
    if (message.type !== "http.request" || isWhole) return message;
    const { body } = message;
    if (body !== undefined) {
      digest.update(body);
      length += body.length;
    }
    isWhole = message.more_body !== true;
    return message;
  };
  return {
    receive: () => markHandled(take()),
    state: async () => ({ length, digest: await digest.end(), isWhole }),
  };
}

/** Reads as many bytes of a repeat as the first request had, and compares them. */
export async function isSameBody(receive: Receive, { length, digest, isWhole }: BodyState): Promise<boolean> {
  const received = new Digest();
  let left = length;
  // A first request that was not read has no bytes to compare.
  let hasMore = length > 0 || isWhole;
  while (hasMore) {
    const message = await receive();
    if (message.type !== "http.request") return false;
    const { body = new Uint8Array() } = message;
    if (isWhole && body.length > left) return false;
    received.update(body.subarray(0, left));
    left -= Math.min(left, body.length);
    hasMore = message.more_body === true && (isWhole || left > 0);
  }
  return left === 0 && (await received.end()) === digest;
}
