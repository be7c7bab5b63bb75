/** A small gateway for language models: it speaks OpenAI's protocol, with its errors. */
import { App, type AppOptions, Depends, errorFormat, HTTPException, type Request, Router, t } from "tsgi";
import { rateLimit } from "tsgi/middleware";
import { HTTPBearer } from "tsgi/security";

/** An error with a code for programs. */
class APIError extends HTTPException {
  constructor(
    status: number,
    message: string,
    readonly code: string,
  ) {
    super(status, message);
  }
}

const Text = t.Union([t.String(), t.Null()]);

/** The errors of OpenAI. */
export const errors = errorFormat({
  schema: t.Object(
    { error: t.Object({ message: t.String(), type: t.String(), param: Text, code: Text }) },
    { title: "ErrorResponse" },
  ),
  validationStatus: 400,
  write: ({ status, title, detail, issues, error }) => {
    const [issue] = issues ?? [];
    const param = issue ? issue.loc.slice(1).join(".") : null;
    return {
      error: {
        message: issue ? `${param}: ${issue.msg}` : typeof detail === "string" ? detail : title,
        type: status < 500 ? "invalid_request_error" : "server_error",
        param,
        code: issue?.type ?? (error instanceof APIError ? error.code : null),
      },
    };
  },
});

/** Requests per minute by key. */
const PLANS: ReadonlyMap<string, number> = new Map([
  ["sk-free", 2],
  ["sk-team", Infinity],
]);

const bearer = new HTTPBearer({ autoError: () => new APIError(401, "You did not provide a key", "missing_api_key") });
const keyOf = ({ headers }: Request) => /^Bearer (.+)$/.exec(headers["authorization"] ?? "")?.[1] ?? "";

const Message = t.Object({ role: t.String(), content: t.String() });
const Chat = t.Object({
  model: t.String(),
  messages: t.Array(Message, { minItems: 1 }),
  stream: t.Optional(t.Boolean()),
});

/** Makes the words of a completion, one for each step that a test allows. */
export type Model = () => AsyncIterable<string>;

function chunkOf(model: string, content: string) {
  const choice = { index: 0, delta: { role: "assistant", content }, finish_reason: null };
  return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model, choices: [choice] };
}

/** @param model - The words of each completion. */
export function createGateway(model: Model, options: AppOptions = {}): App {
  const byPlan = rateLimit({
    limit: (request) => PLANS.get(keyOf(request)) ?? Infinity, // the route rejects an unknown key
    windowSeconds: 60,
    key: keyOf,
    headers: "legacy",
  });
  const router = new Router({ prefix: "/v1", middleware: [byPlan] });
  router.post(
    "/chat/completions",
    { params: { chat: Chat, token: Depends(bearer) }, stream: "sse" },
    async function* ({ chat, token }) {
      if (!PLANS.has(token.credentials)) throw new APIError(401, "Incorrect key", "invalid_api_key");
      if (chat.model !== "echo") throw new APIError(404, `There is no ${chat.model}`, "model_not_found");
      for await (const word of model()) yield chunkOf(chat.model, word);
      yield "[DONE]";
    },
  );
  const app = new App({ errorFormat: errors, ...options });
  app.includeRouter(router);
  return app;
}
