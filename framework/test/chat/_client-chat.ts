/** A chat of the AI SDK without a user interface, as its hooks use it. */
import { AbstractChat, type ChatState, type ChatStatus, DefaultChatTransport, type UIMessage } from "ai";

class State implements ChatState<UIMessage> {
  #status: ChatStatus = "ready";
  error: Error | undefined = undefined;
  messages: UIMessage[];
  onChange: () => void = () => {};

  constructor(messages: UIMessage[]) {
    this.messages = messages;
  }

  get status(): ChatStatus {
    return this.#status;
  }

  set status(status: ChatStatus) {
    this.#status = status;
    this.onChange();
  }

  pushMessage = (message: UIMessage) => {
    this.messages.push(this.snapshot(message));
    this.onChange();
  };

  popMessage = () => {
    this.messages.pop();
  };

  replaceMessage = (index: number, message: UIMessage) => {
    this.messages[index] = this.snapshot(message);
    this.onChange();
  };

  snapshot = <Value>(value: Value): Value => structuredClone(value);
}

export interface ClientChatOptions {
  readonly id: string;
  readonly url: string;
  readonly messages?: UIMessage[];
  readonly fetch?: typeof fetch;
  /** Makes the address of a reconnect itself. */
  readonly isPrepared?: boolean;
}

const HEADERS = { authorization: "Bearer ada" };

export class ClientChat extends AbstractChat<UIMessage> {
  readonly #state: State;

  constructor({ id, url, messages = [], fetch = globalThis.fetch, isPrepared = false }: ClientChatOptions) {
    const state = new State(messages);
    const api = `${url}/api/chat`;
    const prepareReconnectToStreamRequest = () => (isPrepared ? { api: `${api}/${id}/stream?prepared=yes` } : {});
    super({
      id,
      state,
      transport: new DefaultChatTransport({ api, headers: HEADERS, fetch, prepareReconnectToStreamRequest }),
    });
    this.#state = state;
  }

  /** A chat as a page makes it when it is loaded: with the messages that the server has saved. */
  static async load(id: string, url: string): Promise<ClientChat> {
    const response = await fetch(`${url}/api/chat/${id}`, { headers: HEADERS });
    return new ClientChat({ id, url, messages: (await response.json()) as UIMessage[], isPrepared: true });
  }

  /** Each message, as its role and its text. */
  get lines(): string[] {
    return this.messages.map(({ role, parts }) => {
      const texts = parts.map((part) => (part.type === "text" ? part.text : ""));
      return `${role}: ${texts.join("")}`;
    });
  }

  /** Settles when the chat has these lines. */
  async shows(...lines: readonly string[]): Promise<void> {
    const hasThem = () => JSON.stringify(this.lines) === JSON.stringify(lines);
    while (!hasThem()) await new Promise<void>((resolve) => (this.#state.onChange = resolve));
  }

  /** The request that the stop button of the page sends. */
  async end(url: string): Promise<number> {
    const response = await fetch(`${url}/api/chat/${this.id}/stream`, { method: "DELETE", headers: HEADERS });
    return response.status;
  }
}
