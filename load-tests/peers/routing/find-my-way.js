/** The router of Fastify. @module */
import findMyWay from "find-my-way";

export function createRouter(routes) {
  const router = findMyWay();
  for (const { method, colonPath, handler } of routes) router.on(method, colonPath, handler);
  return { lookup: (method, path) => router.find(method, path), read: ({ handler, params }) => ({ handler, params }) };
}
