/**
 * The processor time that a `JWTBearer` adds to a request, compared with a dependency that calls `jwtVerify` of jose with the
 * same key, in the same run.
 *
 *     npm run build && node framework/bench/oauth.mjs
 */
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from "jose";
import { App, Depends, Header, withParams } from "tsgi";
import { JWTBearer } from "@tsgi/oauth";

const CALLS = 3_000;
const ROUNDS = 9;
const issuer = "https://login.example.com";
const audience = "https://api.example.com";

/** Microseconds of processor time per call. */
async function measure(call) {
  for (let index = 0; index < 300; index++) await call();
  const before = process.cpuUsage();
  for (let index = 0; index < CALLS; index++) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

async function compare(alg) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg, kid: "k" }] };
  const claims = { iss: issuer, aud: audience, sub: "ada" };
  const header = { alg, kid: "k" };
  const token = await new SignJWT(claims).setExpirationTime("1h").setProtectedHeader(header).sign(privateKey);
  const keys = createLocalJWKSet(jwks);
  const rules = { issuer, audience, algorithms: [alg], clockTolerance: 5 };
  const byHand = withParams({ authorization: Header() }, async ({ authorization }) => {
    return (await jwtVerify(authorization.slice("Bearer ".length), keys, rules)).payload;
  });
  const app = new App();
  app.get("/plain", async () => 1);
  app.get("/jose", { params: { claims: Depends(byHand) } }, async () => 1);
  app.get("/scheme", { params: { claims: Depends(new JWTBearer({ issuer, audience, jwks })) } }, async () => 1);
  const init = { headers: { authorization: `Bearer ${token}` } };
  const paths = ["plain", "jose", "scheme"];
  const rounds = paths.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, path] of paths.entries()) {
      const call = async () => (await app.fetch(new Request(`http://localhost/${path}`, init))).text();
      rounds[index].push(await measure(call));
    }
  }
  const [plain, jose, scheme] = rounds.map((times) => times.toSorted((left, right) => left - right)[ROUNDS >> 1]);
  const ratio = (scheme - plain) / (jose - plain);
  const figures = { plain, jose: jose - plain, JWTBearer: scheme - plain, ratio };
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value.toFixed(2))]));
}

const results = {};
for (const alg of ["RS256", "ES256", "EdDSA"]) results[alg] = await compare(alg);
console.table(results);
