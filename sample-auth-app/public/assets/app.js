/**
 * The page: register, log in, see one's items, add some and delete some.
 *
 * The access token is stored only in a variable, so no other page and no later script can read it. After a reload the
 * refresh cookie, which scripts cannot read, is exchanged for a new one.
 */

import { follow } from "./live.js"; // with live

/** @type {string | null} */
let accessToken = null;
/** `true` if users log in at an identity provider instead of here. */
let hasProvider = false;
/** @type {string | null} The cursor of the next page, if there is one. */
let nextCursor = null;
/** Ends the connection that reports new items. */ // with live
let live = new AbortController(); // with live

const PAGE_SIZE = 20;
const element = (id) => document.getElementById(id);

/** The server's error, in words for people. */
class Refusal extends Error {
  constructor(status, body, retryAfter) {
    super(Refusal.#describe(status, body, retryAfter));
    this.status = status;
  }

  static #describe(status, body, retryAfter) {
    const detail = body?.detail;
    if (status === 429) return `Too many attempts. Try again in ${retryAfter} seconds.`;
    if (status >= 500) return "The server is unavailable. Try again in a moment.";
    if (Array.isArray(detail)) return detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`).join(". ");
    return detail ?? `The server responded with ${status}.`;
  }
}

/** Sends a request; throws for an error response. */
async function send(path, { json, form, ...options } = {}) {
  const headers = { ...options.headers };
  if (accessToken !== null) headers["Authorization"] = `Bearer ${accessToken}`;
  if (json !== undefined) headers["Content-Type"] = "application/json";
  const body = json === undefined ? form && new URLSearchParams(form) : JSON.stringify(json);
  const response = await fetch(path, { ...options, headers, body });
  const content = response.headers.get("Content-Type")?.startsWith("application/json") ? await response.json() : null;
  if (!response.ok) throw new Refusal(response.status, content, response.headers.get("Retry-After"));
  return { content, headers: response.headers, body: response.body };
}

/**
 * Gets a new access token for the cookie. One tab at a time: a refresh token can be used once, and a second use would
 * look like a theft. (Browsers have locks with https, and on this machine.)
 */
async function refresh() {
  const work = async () => {
    const { content } = await send("/auth/refresh", { method: "POST" });
    accessToken = content.access_token;
  };
  await (navigator.locks === undefined ? work() : navigator.locks.request("refresh", work));
}

/** Sends a request; where the access token has run out, once more with a new one. */
async function sendAsUser(path, options) {
  try {
    return await send(path, options);
  } catch (error) {
    if (error.status !== 401) throw error;
    accessToken = null;
    await refresh();
    return send(path, options);
  }
}

function say(text, isBad = false) {
  const message = element("message");
  message.textContent = text;
  message.classList.toggle("bad", isBad);
  message.hidden = text === "";
}

function showEntrance() {
  accessToken = null;
  live.abort(); // with live
  element("home").hidden = true;
  element("who").hidden = true;
  element("entrance").hidden = hasProvider;
  element("provider").hidden = !hasProvider;
  element("items").replaceChildren();
}

async function showHome() {
  const { content: user } = await sendAsUser("/users/me");
  element("name").textContent = user.username;
  element("items").replaceChildren();
  await followItems(); // with live
  await showPage();
  element("entrance").hidden = true;
  element("provider").hidden = true;
  element("who").hidden = false;
  element("home").hidden = false;
}

// with live:
/** Shows new items from now on, wherever they are added. Settles when the server reports them. */
async function followItems() {
  live.abort();
  const { signal } = (live = new AbortController());
  await new Promise((resolve) => {
    const connect = async (headers) => {
      try {
        return await sendAsUser("/items/live", { headers, signal });
      } finally {
        resolve();
      }
    };
    void follow(connect, showNewItem, signal);
  });
}
// end live

/** The newest is last: it is shown after all earlier ones are. */
function showNewItem(item) {
  if (nextCursor === null) showItem(item);
  showWhetherEmpty();
}

/** Appends a page of items: the first one, or the one after those that are shown. */
async function showPage(cursor = null) {
  const query = new URLSearchParams({ limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) });
  const { content, headers } = await sendAsUser(`/items?${query}`);
  content.forEach(showItem);
  nextCursor = headers.get("X-Next-Cursor");
  element("more").hidden = nextCursor === null;
  showWhetherEmpty();
}

/** Shows an item at its place, the oldest first, unless it is shown already. */
function showItem({ id, name }) {
  if (element(`item-${id}`) !== null) return;
  const entry = document.createElement("li");
  entry.id = `item-${id}`;
  entry.value = id;
  const label = document.createElement("span");
  label.textContent = name; // as text: a name is not markup
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = "Delete";
  button.setAttribute("aria-label", `Delete ${name}`);
  const remove = async () => {
    await sendAsUser(`/items/${id}`, { method: "DELETE" });
    entry.remove();
    showWhetherEmpty();
    say(`Deleted “${name}”.`);
  };
  button.addEventListener("click", () => void perform(button, remove));
  entry.append(label, button);
  const next = [...element("items").children].find(({ value }) => value > id);
  element("items").insertBefore(entry, next ?? null);
}

function showWhetherEmpty() {
  element("empty").hidden = nextCursor !== null || element("items").childElementCount > 0;
}

function selectTab(name) {
  for (const tab of ["login", "register"]) {
    element(tab).hidden = tab !== name;
    element(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
  }
  say("");
}

/** Runs the action of a button or a form: once at a time, and shows its error. */
async function perform(button, work) {
  button.disabled = true;
  try {
    await work();
  } catch (error) {
    if (error.status === 401 && accessToken === null && !element("home").hidden) showEntrance();
    say(error instanceof Refusal ? error.message : "The server cannot be reached.", true);
  } finally {
    button.disabled = false;
  }
}

function onSubmit(id, work) {
  element(id).addEventListener("submit", (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    void perform(event.submitter, async () => {
      await work(Object.fromEntries(new FormData(form)));
      form.reset();
    });
  });
}

function onClick(id, work) {
  element(id).addEventListener("click", (event) => void perform(event.currentTarget, work));
}

async function logIn({ username, password }) {
  const { content } = await send("/auth/token", { method: "POST", form: { username, password } });
  accessToken = content.access_token;
  say("");
  await showHome();
}

onSubmit("login", logIn);

onSubmit("register", async (user) => {
  await send("/users", { method: "POST", json: user });
  await logIn(user);
  say(`Welcome, ${user.username}.`);
});

onSubmit("add", async ({ name }) => {
  const { content } = await sendAsUser("/items", { method: "POST", json: { name } });
  showNewItem(content);
  say(`Added “${content.name}”.`);
});

onClick("more", () => showPage(nextCursor));
onClick("logout", async () => {
  if (hasProvider) {
    element("provider-logout").submit(); // the provider shows a page, and ends its own session
    return;
  }
  await send("/auth/logout", { method: "POST" });
  showEntrance();
  say("You are logged out.");
});
onClick("provider-login", async () => location.assign("/login?returnTo=/"));
onClick("tab-login", async () => selectTab("login"));
onClick("tab-register", async () => selectTab("register"));

function showDemo({ username, password }) {
  element("demo-username").textContent = username;
  element("demo-password").textContent = password;
  element("demo").hidden = false;
}

// Shows the items of a session; a missing session is not an error.
try {
  const { content } = await send("/auth/session");
  if (content.demo !== null) showDemo(content.demo);
  hasProvider = content.hasProvider ?? false;
  if (content.hasCookie) await refresh();
  if (accessToken !== null) {
    await showHome();
  } else {
    showEntrance();
  }
} catch (error) {
  showEntrance();
  if (error.status !== 401) say("The server cannot be reached.", true);
}
