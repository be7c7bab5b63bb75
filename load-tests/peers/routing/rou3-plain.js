/** rou3's router as it is without its compiler, which needs the right to generate code. @module */
import { addRoute, createRouter as createRadixRouter, findRoute } from "rou3";

export function createRouter(routes) {
  const router = createRadixRouter();
  for (const { method, colonPath, handler } of routes) addRoute(router, method, colonPath, handler);
  return {
    lookup: (method, path) => findRoute(router, method, path),
    read: ({ data, params }) => ({ handler: data, params: params ?? {} }),
  };
}
