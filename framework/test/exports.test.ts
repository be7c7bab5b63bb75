import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "@jest/globals";

/** What each entry point of the package exports beside types. */
const NAMES: Readonly<Record<string, string>> = {
  ".": `App BackgroundTasks Body ClientDisconnect ConfigurationError Cookie DependencyOverrides Depends
    EventSourceResponse File FileResponse Form FormData HTMLResponse HTTPConnection HTTPException Header HeaderList JSONResponse
    ParamKind Path PlainTextResponse Query RadixNode RadixRouter RecursionError RedirectResponse Request
    RequestValidationError Response ResponseHeaders ResponseValidationError Router Security SecurityScopes StaticFiles
    StreamingResponse UploadFile WebSocket WebSocketException compileHandler event httpExceptionHandler lastEventId
    requestValidationExceptionHandler sse t withParams`,
  "./client": "createClient",
  "./concurrency": `EntryError Limiter LoopError PoolClosedError PoolFullError PoolTimeoutError PoolUnavailableError ProcessPool
    ThreadPool WorkerDiedError installLoop loopName runInProcess runInThread`,
  "./conformance": `ConformanceError applicationStatements checkApplication checkServer echo overFetch overHTTP2 overSocket
    serverStatements whyNotApplicable`,
  "./health": "health",
  "./internals": "ParamKind PathPattern RadixNode RadixRouter compileHandler endpointsOf",
  "./mcp": "mcp",
  "./middleware": `accessLog bodyLimit clearSession clientNetwork compress cors gzip httpMiddleware httpsRedirect logContext memoryStore rateLimit requestId securityHeaders serverTiming sessionOf
    sessions timeLimit trustedHost`,
  "./node": "ProtocolError ServerStartError ShutdownTimeoutError serve toNodeHandler",
  "./openapi": "buildAsyncAPI buildDocument compareDocuments writeClient",
  "./pagination": "OffsetPage OffsetPageRequest Page PageRequest",
  "./passwords": "Passwords",
  "./prisma": "ConnectError MigrationError UnavailableError isUniqueViolation openPrisma uniqueViolation",
  "./metrics": "prometheus",
  "./otel": "openTelemetry",
  "./redis": "openRedisStore redisStore",
  "./security": `APIKeyCookie APIKeyHeader APIKeyQuery HTTPBasic HTTPBearer OAuth2PasswordBearer
    OAuth2PasswordRequestForm Security SecurityScheme SecurityScopes compareSecrets`,
  "./settings": "SettingsError loadSettings secret",
  "./web": "fromFetchHandler toFetchHandler",
  "./testing": "TestClient TestWebSocket WebSocketRefusedError",
};

const { exports } = JSON.parse(readFileSync(new URL("../core/package.json", import.meta.url), "utf8")) as {
  exports: Record<string, string | { types: string; default: string }>;
};
const { resolve } = createRequire(import.meta.url);

describe("the package", () => {
  it("has these entry points, and its package.json", () => {
    expect(Object.keys(exports).toSorted()).toEqual([...Object.keys(NAMES), "./package.json"].toSorted());
  });

  it.each(Object.entries(NAMES))("exports from %s these names and no other", async (entry, names) => {
    const module = (await import(resolve(`tsgi${entry.slice(1)}`))) as object;
    expect(Object.keys(module).toSorted()).toEqual(names.split(/\s+/).toSorted());
  });
});
