import type { Receive, ReceiveMessage } from "../asgi.js";
import { parseMediaType } from "../http-grammar.js";
import type { Limits } from "../limits.js";
import { createBytes, type FormData } from "../datastructures.js";
import { RequestValidationError } from "../exceptions.js";
import type { JSONBody, RequestParts } from "../params.js";
import { isJSON, JSONError, MULTIPART, parseJSON, type Request, URLENCODED } from "../request.js";

const FORM_TYPES: ReadonlySet<string> = new Set([URLENCODED, MULTIPART]);
const FILE_TYPES: ReadonlySet<string> = new Set([MULTIPART]);

const NO_BYTES = createBytes(0);
const ABSENT: JSONBody = { state: "absent" };
const FAULTY: JSONBody = { state: "faulty" };

/** The call that a body belongs to. */
export interface BodyOwner extends Omit<RequestParts, "body" | "settings"> {
  readonly receive: Receive;
  readonly settings: { readonly limits: Readonly<Limits>; readonly embedBody: boolean; readonly takesFiles: boolean };
  /** The first message, where it was taken without a `Request`. */
  firstMessage: ReceiveMessage | null;
  readonly requestIfMade: Request | null;
  header(name: string): string | undefined;
}

/** The body of a request: received and parsed once, for all parameters that are read from it. */
export class RequestBody {
  /** The JSON value, once it is loaded. */
  json: JSONBody;
  /** The form, once it is loaded; `null` for one with faults, which are reported. */
  form: FormData | null;
  readonly #call: BodyOwner;
  #isTaken: boolean;
  #receiving: Promise<ReceiveMessage> | null;
  #loading: Promise<void> | null;

  constructor(call: BodyOwner) {
    this.json = ABSENT;
    this.form = null;
    this.#call = call;
    this.#isTaken = false;
    this.#receiving = null;
    this.#loading = null;
  }

  /**
   * The first message of the body, for {@link take}; `null` where the body is to be read by a `Request`, or was taken.
   * It is asked for without a `Request`, because nearly every body is whole in it.
   */
  receive(): Promise<ReceiveMessage> | null {
    const { requestIfMade, settings, receive } = this.#call;
    if (this.#isTaken || requestIfMade !== null) return null;
    if (Number(this.#call.header("content-length")) > settings.limits.bodyBytes) return null;
    return (this.#receiving ??= receive());
  }

  /** Parses the JSON body, once. A `Request` that is made later gets the message again. */
  take(message: ReceiveMessage | null): Promise<void> | void {
    if (this.#isTaken) return;
    const call = this.#call;
    if (message !== null && call.requestIfMade === null) call.firstMessage = message;
    const isWhole = message?.type === "http.request" && message.more_body !== true;
    const body = isWhole ? (message.body ?? NO_BYTES) : null;
    if (body === null || body.length > call.settings.limits.bodyBytes) return (this.#loading ??= this.#loadJSON());
    this.#isTaken = true;
    this.json = this.#parseJSON(body);
  }

  async #loadJSON(): Promise<void> {
    const bytes = await this.#call.request.body();
    this.#isTaken = true;
    this.json = this.#parseJSON(bytes);
  }

  #parseJSON(body: Uint8Array): JSONBody {
    if (body.length === 0) return ABSENT;
    const { faults, settings } = this.#call;
    const contentType = this.#call.header("content-type");
    if (!isJSON(contentType)) {
      faults.add("content_type", "Content-Type should be application/json", contentType ?? null, ["body"]);
      return FAULTY;
    }
    let value: unknown;
    try {
      value = parseJSON(body, settings.limits.jsonDepth);
    } catch (error) {
      if (!(error instanceof JSONError)) throw error;
      faults.add("json_invalid", error.message, undefined, ["body"]);
      return FAULTY;
    }
    if (settings.embedBody && (typeof value !== "object" || value === null || Array.isArray(value))) {
      faults.add("object_type", "Input should be a valid object", value, ["body"]);
      return FAULTY;
    }
    return { state: "present", value };
  }

  /** Reads and parses the form, once. */
  loadForm(): Promise<void> {
    return (this.#loading ??= this.#loadForm());
  }

  async #loadForm(): Promise<void> {
    this.form = await this.#readForm();
  }

  async #readForm(): Promise<FormData | null> {
    const { request, faults, settings } = this.#call;
    const { takesFiles } = settings;
    const contentType = request.header("content-type");
    const isForm = (takesFiles ? FILE_TYPES : FORM_TYPES).has(parseMediaType(contentType));
    if (!isForm && (contentType !== undefined || (await request.body()).length > 0)) {
      const types = takesFiles ? MULTIPART : `${URLENCODED} or ${MULTIPART}`;
      const source = takesFiles ? "file" : "form";
      faults.add("content_type", `Content-Type should be ${types}`, contentType ?? null, [source]);
      return null;
    }
    try {
      return await request.form();
    } catch (error) {
      if (!(error instanceof RequestValidationError)) throw error;
      faults.take(error.errors);
      return null;
    }
  }
}
