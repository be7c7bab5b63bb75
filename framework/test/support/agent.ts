/** The official client of the Model Context Protocol, which logs in to an endpoint that it knows only by its address. @module */
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { logIn } from "./identity-provider.js";

const REDIRECT = "http://127.0.0.1:1/callback";

/** The state of a login, which the official client keeps. */
class Login implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = {
    client_name: "agent",
    redirect_uris: [REDIRECT],
    grant_types: ["authorization_code"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  /** The page that the user is sent to. */
  url: URL | undefined;
  #client: OAuthClientInformationMixed | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;

  clientInformation = () => this.#client;
  saveClientInformation = (client: OAuthClientInformationMixed) => void (this.#client = client);
  tokens = () => this.#tokens;
  saveTokens = (tokens: OAuthTokens) => void (this.#tokens = tokens);
  redirectToAuthorization = (url: URL) => void (this.url = url);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (state: OAuthDiscoveryState) => void (this.#discovery = state);
  discoveryState = () => this.#discovery;
}

/** An agent on the machine of a user. */
export class Agent implements AsyncDisposable {
  readonly client: Client;
  /** The address of the login page, to which the agent sent the user. */
  readonly login: URL;

  private constructor(client: Client, login: URL) {
    this.client = client;
    this.login = login;
  }

  /** Connects to an endpoint that requires a login, and logs the user in. */
  static async connect(endpoint: string, user: string): Promise<Agent> {
    const authProvider = new Login();
    const open = async () => {
      const transport = new StreamableHTTPClientTransport(new URL(endpoint), { authProvider });
      const client = new Client({ name: "agent", version: "1.0.0" });
      return { transport, client, connected: client.connect(transport) };
    };
    const first = await open();
    await first.connected.catch((error: unknown) => {
      if (!(error instanceof UnauthorizedError)) throw error;
    });
    const login = authProvider.url;
    if (login === undefined) throw new Error("The endpoint requires no login.");
    await first.transport.finishAuth((await logIn(login, user)).searchParams);
    const { client, connected } = await open();
    await connected;
    return new Agent(client, login);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.client.close();
  }
}
