import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { base64url, createLocalJWKSet, errors, type JWK } from "jose";
import { verifyToken } from "../src/claims.js";

/** The vectors of Wycheproof for signatures, by number. Their payloads are not claims. */
interface Vectors {
  readonly groups: readonly {
    readonly name: string;
    readonly key: JWK & { k?: string };
    readonly valid: Readonly<Record<string, string>>;
    readonly invalid: Readonly<Record<string, string>>;
  }[];
}

const { groups } = JSON.parse(readFileSync(new URL("wycheproof.json", import.meta.url), "utf8")) as Vectors;

/** Vectors that do not apply, each with the reason. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ...["346", "350"].map((id) => [id, "the key is for PS256, the token has PS384 (RFC 7517 §4.4)"] as const),
  ...["347", "351"].map((id) => [id, "the key is for ES521, which is not an algorithm"] as const),
  ...["367", "370"].map((id) => [id, "the token is the same as 357, which is valid"] as const),
  ...["372", "373"].map(
    (id) => [id, "the token contains a question mark, which is not base64url (RFC 7515 §2)"] as const,
  ),
]);

const ASYMMETRIC = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

/** Tells if the signature of a token is valid: the next step then finds that its payload is not claims. */
async function isSigned(token: string, key: Vectors["groups"][number]["key"]): Promise<boolean> {
  const secret = key.k === undefined ? null : base64url.decode(key.k);
  const find = secret === null ? createLocalJWKSet({ keys: [key] }) : async () => secret;
  const error: unknown = await verifyToken(token, find, { algorithms: secret === null ? ASYMMETRIC : ["HS256"] }).catch(
    (thrown: unknown) => thrown,
  );
  if (error instanceof errors.JWTInvalid) return true;
  expect(error).toBeInstanceOf(errors.JOSEError);
  return false;
}

describe.each(groups)("the vectors of Wycheproof: $name", ({ key, valid, invalid }) => {
  const numbersOf = (vectors: Readonly<Record<string, string>>) =>
    Object.keys(vectors).filter((id) => !EXCEPTIONS.has(id));
  const signedOf = async (vectors: Readonly<Record<string, string>>) => {
    const numbers = numbersOf(vectors);
    const results = await Promise.all(numbers.map((id) => isSigned(vectors[id] ?? "", key)));
    return numbers.filter((_, index) => results[index]);
  };

  it("accepts every valid signature, and no other one", async () => {
    expect(await signedOf(valid)).toEqual(numbersOf(valid));
    expect(await signedOf(invalid)).toEqual([]);
  });
});

it("has every vector of Wycheproof", () => {
  const numbers = groups.flatMap(({ valid, invalid }) => [...Object.keys(valid), ...Object.keys(invalid)]);
  expect([numbers.length, new Set(numbers).size]).toEqual([401, 401]);
});

it("verifies a token in one spelling", async () => {
  const group = groups.find(({ name }) => name === "hs256");
  const token = Object.values(group?.valid ?? {})[0] ?? "";
  const key = group?.key ?? {};
  expect(await isSigned(token, key)).toBe(true);
  const last = token.at(-1) ?? "";
  const next = String.fromCharCode(last.charCodeAt(0) + 1);
  for (const other of [
    `${token}=`,
    `${token} `,
    ` ${token}`,
    token.replace(".", " ."),
    `${token.slice(0, -1)}${next}`,
  ]) {
    expect(await isSigned(other, key)).toBe(false);
  }
});
