/** The router of Elysia. @module */
import { Memoirist } from "memoirist";

export function createRouter(routes) {
  const router = new Memoirist();
  for (const { method, colonPath, handler } of routes) router.add(method, colonPath, handler);
  return {
    lookup: (method, path) => router.find(method, path),
    read: ({ store, params }) => ({ handler: store, params }),
  };
}
