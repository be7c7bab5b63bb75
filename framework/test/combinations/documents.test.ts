/** The document of the tool library in three versions of OpenAPI: valid, and the same promises in each. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "@jest/globals";
import type { OpenAPIDocument, OpenAPIVersion } from "tsgi/openapi";
import { faultsOf } from "../../core/test/openapi/_documents.js";
import { createFolder } from "../support/folder.js";
import { KeptLog } from "../support/kept-log.js";
import { installOnDemand, IS_SLOW } from "../support/on-demand.js";
import { createApp, DEVELOPMENT } from "./app/app.js";
import { breaksOf, promisesOf, socketsOf } from "./app/contract.js";
import { documentOf, socketsDocument } from "./app/release.js";

const VERSIONS = ["3.0", "3.1", "3.2"] as const;

const create = (version: OpenAPIVersion) =>
  createApp({ env: { ...DEVELOPMENT, TOOLS_OPENAPI_VERSION: version }, logger: new KeptLog() }).app;

const documents = Object.fromEntries(VERSIONS.map((version) => [version, create(version).openapi()])) as Record<
  OpenAPIVersion,
  OpenAPIDocument
>;

const promises = promisesOf(documents["3.0"]);
const names = Object.keys(promises.operations);

describe.each(VERSIONS)("the document in OpenAPI %s", (version) => {
  it("is valid by the published meta-schema, and uses each of its components", async () => {
    expect(documents[version].openapi.startsWith(version)).toBe(true);
    expect(await faultsOf(documents[version])).toEqual([]);
  });

  it("promises the same operations, parameters, bodies, responses and credentials as in 3.0", () => {
    expect(promisesOf(documents[version])).toEqual(promises);
  });

  it.each(VERSIONS)("breaks no clients of the document in %s", (other) => {
    expect(breaksOf(documents[other], documents[version])).toEqual([]);
  });

  it("has the same operations if a program builds it, with the operation ids that it sets", () => {
    const { operations } = promisesOf(documentOf(create("3.0"), version));
    expect(Object.keys(operations)).toEqual(names.filter((name) => !name.startsWith("websocket")));
    expect(operations["get /v1/tools"]).toMatchObject({ operationId: "get_listTools" });
  });
});

/** The operations of a part of the promises. */
const of = (operation: string) => promises.operations[operation] as Record<string, unknown>;

describe("the promises of the document", () => {
  it("have an operation for each route that it lists, and no other", () => {
    const listed = create("3.0").routes.filter(({ metadata, method }) => {
      return metadata.includeInSchema !== false && method !== "WEBSOCKET";
    });
    const documented = names.filter((name) => !name.startsWith("websocket"));
    const visible = listed.map(({ method, path: pattern }) => `${method.toLowerCase()} ${pattern}`);
    const hidden = /^\w+ \/(?:admin|health)\//;
    // Patterns that differ in names are one path, with the names of the one that was registered first.
    const shown = visible.map((name) => name.replace("/loans/{loan_id}", "/loans/{tool_id}"));
    const byName = (a: string, b: string) => (a < b ? -1 : 1);
    expect(documented.toSorted(byName)).toEqual(shown.filter((name) => !hidden.test(name)).toSorted(byName));
  });

  it.each<[operation: string, security: unknown]>([
    ["post /v1/tools", [{ OAuth2PasswordBearer: ["tools"] }]],
    ["delete /v1/tools/{tool_id}", [{ OAuth2PasswordBearer: ["desk"] }]],
    ["get /v1/tools/{tool_id}", [{}, { Token: [] }]],
    ["get /v1/who/token", [{ Token: [] }]],
    ["get /v1/who/bearer", [{ HTTPBearer: [] }]],
    ["get /v1/who/basic", [{ HTTPBasic: [] }]],
    ["get /v1/who/badge", [{ APIKeyCookie: [] }]],
    ["get /v1/who/card", [{ Card: [] }]],
    ["get /v1/who/ticket", [{}, { APIKeyQuery: [] }]],
    ["get /v1/who/any", [{}, { Token: [] }, { HTTPBasic: [] }]],
    ["post /v1/photos/measured", [{ APIKeyHeader: [] }]],
    ["get /v1/loans/inner/desks/{desk}/state", [{ HTTPBasic: [] }]],
    ["websocket /v1/rooms/{room}", [{}, { APIKeyQuery: [] }]],
    ["get /v1/tools", "none"],
  ])("require for %s the same as its guards and dependencies", (operation, security) => {
    expect(of(operation)["security"]).toEqual(security);
  });

  it("list the parameters of dependencies at any depth, once", () => {
    expect(of("get /v1/kiosk/slots/{slot}")["parameters"]).toEqual(["path slot!", "query amount", "header language!"]);
    expect(of("get /v1/tools/search")["parameters"]).toEqual([
      "query search-text!",
      "query tags",
      "query kind",
      "query since",
      "query limit",
      "query free",
      "header user-agent",
      "cookie theme (deprecated)",
    ]);
  });

  it("have each media type of a body, and of the responses of every level", () => {
    expect(of("post /v1/photos")["body"]).toEqual([true, "multipart/form-data object, 0 examples"]);
    expect(of("post /v1/photos/contact")["body"]).toEqual([
      true,
      "application/x-www-form-urlencoded object, 0 examples",
      "multipart/form-data object, 0 examples",
    ]);
    const { responses, callbacks, tags } = of("post /v1/loans/{tool_id}") as {
      responses: Record<string, { content: string[] }>;
      callbacks: unknown;
      tags: unknown;
    };
    expect(Object.keys(responses)).toEqual(["201", "401", "404", "409", "422", "423", "5XX"]);
    expect(responses["409"]?.content).toEqual(["application/json Problem, 0 examples"]);
    expect(callbacks).toEqual([["returned", ["post {$request.query.callback_url}"]]]);
    expect(tags).toEqual(["loans"]);
  });

  it("have the webhooks, the schemas and the discriminators of the application", () => {
    expect(Object.keys(promises.webhooks)).toEqual(["post loan.overdue", "put loan.changed", "delete loan.gone"]);
    expect(promises.unions).toEqual([["Availability", ["state", ["borrowed", "free"]]]]);
    expect(promises.schemas.join(" ")).toBe(
      "Availability Borrowed Category CategoryInput Free HTTPError HTTPValidationError Kind Listed Loan Locker NewTool NewToolInput Note " +
        "NoteInput Problem Review ReviewInput Slot Subscription Token Tool ToolPage ToolPage2 ValidationError ValidationErrorInput " +
        "ValidationErrorLocation",
    );
  });

  it("include the WebSockets with schemas, and AsyncAPI describes them too", () => {
    expect(of("websocket /v1/kiosk/slots/{slot}/keys")).toMatchObject({ receives: "object", sends: "object" });
    const sockets = socketsOf(socketsDocument(create("3.0")));
    expect(sockets.servers).toEqual(["wss://tools.example"]);
    expect(sockets.channels.map(({ address, query }) => [address, query])).toEqual([
      ["/v1/rooms/{room}", ["greeting"]],
      ["/v1/kiosk/slots/{slot}/keys", []],
      ["loan.begun", []],
    ]);
    expect(sockets.operations.slice(-2)).toEqual(["send loan.begun", "receive loan.begun"]);
  });
});

(IS_SLOW ? describe : describe.skip).each(VERSIONS)("the document in OpenAPI %s, to other linters", (version) => {
  let home = "";
  const folder = createFolder({ "redocly.yaml": "extends: [recommended]\n" });
  const file = path.join(folder, `${version}.json`);
  beforeAll(async () => {
    home = installOnDemand("validators", ["@redocly/cli@2.77.0", "@apidevtools/swagger-parser@13.1.0"]);
    await writeFile(file, JSON.stringify(documents[version]));
  });

  it("has no error of the recommended rules of @redocly/cli", async () => {
    const command = path.join(home, "node_modules/@redocly/cli/bin/cli.js");
    const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [command, "lint", file, "--extends=recommended", "--format=json"],
      { cwd: folder, env },
    ).catch((error: { stdout: string }) => error);
    const { problems } = JSON.parse(stdout) as {
      problems: { ruleId: string; severity: string; message: string; location: { pointer?: string }[] }[];
    };
    const errors = problems.filter(({ severity }) => severity === "error");
    expect(errors.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`)).toEqual(
      [],
    );
  });
});
