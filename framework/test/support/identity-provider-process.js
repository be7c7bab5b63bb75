/** The program of `identity-provider.ts`: a certified provider on loopback, with its pages for login and consent. */
import { once } from "node:events";
import { createServer } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";

const { CLIENTS = "[]", DEFAULT_RESOURCE } = process.env;

const SCOPES = "items:read items:write";

const MACHINE = {
  client_id: "machine",
  client_secret: "a-secret-of-the-tests-with-32-bytes",
  grant_types: ["client_credentials"],
  response_types: [],
  redirect_uris: [],
};

async function createProvider(issuer) {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), alg: "ES256", use: "sig" };
  return new Provider(issuer, {
    jwks: { keys: [key] },
    clients: [MACHINE, ...JSON.parse(CLIENTS)],
    scopes: ["openid", "offline_access", ...SCOPES.split(" ")],
    clientBasedCORS: () => true,
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    ttl: { AccessToken: 600, ClientCredentials: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    // The default of the library does not connect to loopback addresses.
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined }),
    features: {
      backchannelLogout: { enabled: true },
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => DEFAULT_RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, audience) => ({
          audience,
          scope: SCOPES,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "ES256" } },
        }),
      },
    },
  });
}

let handle = (_, response) => response.writeHead(503).end();
const server = createServer((request, response) => void handle(request, response));
await once(server.listen(0, "127.0.0.1"), "listening");
const issuer = `http://127.0.0.1:${server.address().port}`;

async function start() {
  handle = (await createProvider(issuer)).callback();
  process.send({ issuer });
}

// The message rotates the keys: a new provider has the same address, and other keys.
process.on("message", () => void start());
await start();
