import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { declarationPaths, FRAMEWORK, manifestOf, PACKAGES } from "./support/packages.js";

/** The exports of each entry point of the packages, without types. */
const NAMES: Readonly<Record<string, string>> = {
  tsgi: `App BackgroundTasks Body ClientDisconnect ConfigurationError Cookie DependencyOverrides Depends
    EventSourceResponse File FileResponse Form FormData HTMLResponse HTTPConnection HTTPException Header HeaderList JSONResponse
    ParamKind Path PlainTextResponse Query RadixNode RadixRouter RecursionError RedirectResponse Request
    RequestValidationError Response ResponseHeaders ResponseValidationError Router Security SecurityScopes StaticFiles
    StreamingResponse UploadFile WebSocket WebSocketException compileHandler errorFormat event httpExceptionHandler lastEventId
    requestValidationExceptionHandler sse t withParams`,
  "@tsgi/api-keys": "ApiKeys memoryKeys prismaKeys",
  "@tsgi/broadcast":
    "Broadcast SlowSubscriberError StreamFailedError StreamLog Subscription UnavailableError postgresBackplane redisBackplane",
  "@tsgi/client": "StreamRefusedError createClient",
  "tsgi/concurrency": `EntryError Limiter LoopError PoolClosedError PoolFullError PoolTimeoutError PoolUnavailableError ProcessPool
    ThreadPool WorkerDiedError installLoop loopName runInProcess runInThread`,
  "@tsgi/conformance": `ConformanceError applicationStatements checkApplication checkServer echo overFetch overHTTP2 overSocket
    serverStatements whyNotApplicable`,
  "tsgi/health": "health",
  "tsgi/internals": `ANYTHING AUTHORIZATION CLOSE ConnectError Deferred EarlyResponse ErrorResponse Exchange FAILURE FLAG FUNCTION
    HeldMessages IDENTIFIER KEY_HEADER LIST LazyServer MAX_TIMER_MS MAX_UNSEEN_BYTES MessageQueue NEVER OBJECT OPEN QUERY REDIS_OPTIONS REPLAYED_HEADER
    RedisScript RequestBody SCHEME_OPTIONS SERVER_START STORE SlowReader SlowResponses StoppableServer StoreFailure StoreLog TEXT TrustedProxies WebSocketSession
    WorkScope accessRefusal addMetricSources addText assertApplication assertOptions carriedContext checkTarget closeOnSignals codeOf compileCheckOf
    compileTextOf consoleLogger createHead createScope createTransactional decodeLatin1 deleteText describe describeError
    describeRoute describedRoute discoveryUrlOf documentSourceOf endpointsOf entranceOf errorChain errorMessage errorText errorsOf expecting findLoopPackage findSessionSettings fingerprintOf formatMessage
    guardLogger headerValue headerValues inTime isAuthority isConnectionLost isDependency isFieldValue isForeignFrame isKept isListedSocket
    isMarkedEvent isObject isRecord isSecure isToken isUnavailable isWellFormed loggerOf markHandled maxMessageBytes metricSourcesOf
    missingModule missingPackage mountPublic nameOf nearest nextTurn observable observedOf observing onEndRequest oneLine oneOf ownFramesFirst
    parseAddress parseAuthorization parseHandshake parseMediaType plansOf plural poolOf postgresqlStart quoteWord readBody readServerSentEvents refusal
    replaceText reportSettings responseFacts routeNameOf runInContext serverStartError sessionSettingsOf setContextCarrier setEntry sha256 show startPoolsEagerly
    statusPhrase storageKeyOf swapOf toUrl toWebSocketScope unlessAborted whenEnded whole withDefaults withPlace withWorkFields`,
  "@tsgi/lambda": "toLambda toLambdaStream",
  "@tsgi/jobs": "DeadJobError InvalidPayloadError Jobs RetryJobError controlOf",
  "@tsgi/login": "oidcLogin",
  "@tsgi/mcp": "mcp",
  "tsgi/middleware": `accessLog bodyLimit clearSession clientNetwork compress cors csrf decompress gzip httpMiddleware httpsRedirect idempotency logContext memoryStore rateLimit renewSession requestId securityHeaders serverTiming sessionOf
    sessions timeLimit trustedHost`,
  "tsgi/node": "ProtocolError ServerStartError ShutdownTimeoutError fromNodeHandler nodeRequest serve toNodeHandler",
  "@tsgi/oauth": "AccessTokens JWTBearer protectedResource RefreshTokens",
  "tsgi/openapi": "buildDocument",
  "tsgi/pagination": "OffsetPage OffsetPageRequest Page PageRequest",
  "@tsgi/passwords": "LoginThrottle Passwords getCaller",
  "@tsgi/prisma":
    "ConnectError MigrationError UnavailableError idempotent isUniqueViolation openPrisma transactionOf uniqueViolation",
  "@tsgi/prisma/testing": "closeSandboxes openSandbox",
  "@tsgi/metrics": "prometheus",
  "@tsgi/otel": "openTelemetry startTracing",
  "@tsgi/redis": "openRedisStore redisStore",
  "tsgi/security": `APIKeyCookie APIKeyHeader APIKeyQuery HTTPBasic HTTPBearer OAuth2PasswordBearer
    OAuth2PasswordRequestForm Security SecurityScheme SecurityScopes compareSecrets`,
  "tsgi/settings": "SettingsError loadSettings secret",
  "tsgi/web": "fromFetchHandler toFetchHandler",
  "tsgi/testing": "TestClient TestWebSocket WebSocketRefusedError",
  "@tsgi/openapi-tools": "buildAsyncAPI compareDocuments writeClient",
  "@tsgi/transactions": "UnavailableError createTransactionOf",
  "@tsgi/transactions/testing": "closeSandboxes openSandbox",
  "@tsgi/transactions/testing/internals":
    "CHANGES_TABLES CREATE_JOBS PostgreSQLDialect Session Turns copyPostgreSQL isApplicationScoped openOnly urlOf",
  "@tsgi/transactions/internals":
    "RolledBackError UnavailableError createRequestTransaction hold patiently statementOf",
  "@tsgi/webhooks": "Webhooks verifyWebhook",
  "@tsgi/uwebsockets": "createServer",
};

/** The entry points of all packages by the names under which they are imported. */
const ENTRIES = PACKAGES.flatMap((folder) => {
  const { name, exports } = manifestOf(folder);
  return Object.keys(exports).map((entry) => `${name}${entry.slice(1)}`);
});

/** The built file of an entry point. */
function fileOf(entry: string): string {
  const [file = ""] = declarationPaths()[entry] ?? [];
  return file.replace(/\.d\.ts$/, ".js");
}

describe("the packages", () => {
  it("have these entry points, and their package.json", () => {
    const manifests = PACKAGES.map((folder) => `${manifestOf(folder).name}/package.json`);
    expect(ENTRIES.toSorted()).toEqual([...Object.keys(NAMES), ...manifests].toSorted());
  });

  it.each(Object.entries(NAMES))("export from %s exactly these names", async (entry, names) => {
    const module = (await import(pathToFileURL(fileOf(entry)).href)) as object;
    expect(Object.keys(module).toSorted()).toEqual(names.split(/\s+/).toSorted());
  });

  it("export the same values to require() and to import", async () => {
    const program = `
      const entries = ${JSON.stringify(Object.keys(NAMES))};
      const required = entries.map((entry) => Object.entries(require(entry)));
      Promise.all(entries.map((entry) => import(entry))).then((imported) => {
        const isSame = required.map((members, index) => {
          return members.length > 0 && members.every(([name, value]) => imported[index][name] === value);
        });
        console.log(JSON.stringify(entries.filter((_, index) => !isSame[index])));
      });
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ["--eval", program], { cwd: FRAMEWORK });
    expect(stdout).toBe("[]\n");
  });
});

describe("the package tsgi", () => {
  const moved = ["client", "conformance", "mcp", "metrics", "otel", "passwords", "prisma", "redis"];
  let codes: Readonly<Record<string, string>>;

  beforeAll(async () => {
    const program = `
      const codes = {};
      for (const name of ${JSON.stringify(moved)}) {
        await import("tsgi/" + name).catch(({ code }) => (codes[name] = code));
      }
      console.log(JSON.stringify(codes));`;
    const args = ["--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: FRAMEWORK });
    codes = JSON.parse(stdout) as Record<string, string>;
  });

  it.each(moved)("has no tsgi/%s any more", (name) => {
    expect(codes[name]).toBe("ERR_PACKAGE_PATH_NOT_EXPORTED");
  });
});
