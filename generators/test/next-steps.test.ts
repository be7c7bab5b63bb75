import { describe, expect, it } from "@jest/globals";
import { describeNextSteps, exampleRequest, nextSteps } from "../src/next-steps.js";

const answers = { template: "auth", database: "sqlite", docker: true, packageManager: "npm" } as const;
const project = { folder: "/home/x/my-app", isInstalled: true };

describe("the next steps", () => {
  it.each([
    [{}, ["cd my-app", "npm start", "npm run dev", "npm test"]],
    [{ packageManager: "pnpm" }, ["cd my-app", "pnpm start", "pnpm run dev", "pnpm test"]],
    [{ packageManager: "yarn" }, ["cd my-app", "yarn start", "yarn run dev", "yarn test"]],
    [
      { database: "postgresql" },
      ["cd my-app", "docker compose up --detach postgres", "npm start", "npm run dev", "npm test"],
    ],
    [{ database: "postgresql", docker: false }, ["cd my-app", "$EDITOR .env", "npm start", "npm run dev", "npm test"]],
    [{ template: "api", database: "none" }, ["cd my-app", "npm start", "npm run dev", "npm test"]],
    [
      { template: "api", database: "postgresql" },
      ["cd my-app", "docker compose up --detach postgres", "npm start", "npm run dev", "npm test"],
    ],
  ] as const)("with %j is %j", (changed, expected) => {
    const steps = nextSteps(project, { ...answers, ...changed }, "/home/x");
    expect(steps.map(({ command }) => command)).toEqual(expected);
  });

  it.each(["auth", "api", "minimal"] as const)("has a request for %s that curl before 7.82 sends too", (template) => {
    expect(exampleRequest(template)).not.toContain("--json");
  });

  it("begin with the installation if it was skipped, and quote a folder for the shell", () => {
    const steps = nextSteps({ folder: "/home/it's mine/app", isInstalled: false }, answers, "/tmp");
    expect(steps.slice(0, 2)).toEqual([
      { command: String.raw`cd '/home/it'\''s mine/app'` },
      { command: "npm install" },
    ]);
  });

  it("ends with a request that works", () => {
    expect(describeNextSteps(project, { ...answers, template: "minimal" }, "/home/x")).toContain(
      'curl "http://127.0.0.1:8000/items/42?version=3"',
    );
  });
});
