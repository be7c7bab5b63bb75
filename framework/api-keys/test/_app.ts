/** An application with keys, and its responses to a key. */
import { App, Depends, Security } from "tsgi";
import { ApiKeys, type ApiKeysOptions, type ApiKeyStore, memoryKeys } from "../src/index.js";

/** The store of the application, with the calls of each method. */
export function countingStore(inner: ApiKeyStore = memoryKeys()) {
  const calls = { add: 0, find: 0, list: 0, update: 0 };
  const store: ApiKeyStore = {
    add: (record) => (calls.add++, inner.add(record)),
    find: (id) => (calls.find++, inner.find(id)),
    list: (owner) => (calls.list++, inner.list(owner)),
    update: (id, changes) => (calls.update++, inner.update(id, changes)),
  };
  return { store, calls };
}

export function createApp(options: Partial<ApiKeysOptions<true>> = {}) {
  const keys = new ApiKeys({ store: memoryKeys(), ...options });
  const app = new App();
  app.get("/me", { params: { key: Depends(keys.scheme) } }, async ({ key }) => key);
  const reader = Security(keys.scheme, { scopes: ["items:read", "items:list"] });
  app.get("/items", { params: { key: reader } }, async ({ key }) => key);
  app.get("/maybe", { params: { key: Depends(keys.scheme, { optional: true }) } }, async ({ key }) => key);
  return { app, keys };
}

/** A response, with its challenge. */
export async function call(app: App, path: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await app.fetch(new Request(`http://localhost${path}`, { headers }));
  const challenge = response.headers.get("www-authenticate");
  return { status: response.status, challenge, body: await response.json() };
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** The response to every key that is not valid. */
export const INVALID = {
  status: 401,
  challenge: 'Bearer error="invalid_token"',
  body: { detail: "Invalid API key" },
};
