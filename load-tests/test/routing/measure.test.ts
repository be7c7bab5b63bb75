import { describe, expect, it } from "@jest/globals";
import type { RoutingContender } from "../../src/routing/contender.js";
import { createRouter } from "../../src/routing/contenders/tsgi.js";
import { measureRouter } from "../../src/routing/measure.js";
import { LOOKUPS, ROUTES } from "../../src/routing/routes.js";

const measure = (router: RoutingContender) => measureRouter(router, LOOKUPS, 20, 5);

describe("the route set", () => {
  it("has the specification's 100 routes: 50 static, 30 with one parameter, 20 with several", () => {
    const counts = ROUTES.map(({ path }) => path.split("{").length - 1);
    expect(counts.filter((count) => count === 0)).toHaveLength(50);
    expect(counts.filter((count) => count === 1)).toHaveLength(30);
    expect(counts.filter((count) => count > 1)).toHaveLength(20);
    expect(new Set(ROUTES.map(({ path }) => path)).size).toBe(100);
  });
});

describe("measureRouter", () => {
  it("returns a rate for each of the three paths", () => {
    const { rows, faults } = measure(createRouter(ROUTES));
    expect(faults).toEqual([]);
    expect(rows.map(({ name }) => name)).toEqual(["static", "one parameter", "three parameters"]);
  });

  it.each<[string, Partial<RoutingContender>, string]>([
    ["a route that is not found", { lookup: () => null }, "/status/install: not found"],
    [
      "a wrong route",
      { read: () => ({ handler: ROUTES[0]?.handler, params: {} }) },
      "/status/install: expected the route /status/install, found another",
    ],
    [
      "a wrong parameter",
      {
        read: () => ({ handler: ROUTES.find(({ path }) => path === "/invoices/{id}")?.handler, params: { id: "41" } }),
      },
      '/invoices/42: expected {"id":"42"}, got {"id":"41"}',
    ],
  ])("reports %s without a rate", (_what, change, fault) => {
    const { rows, faults } = measure({ ...createRouter(ROUTES), ...change });
    expect(faults).toContain(fault);
    expect(rows).toEqual([]);
  });
});
