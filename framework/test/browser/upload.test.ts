import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, File, Form, HTMLResponse } from "../../core/src/index.js";
import { TestClient } from "../../core/src/platforms/testing/index.js";
import { Chromium, WITHOUT_BROWSER } from "./_chromium.js";

const withBrowser = WITHOUT_BROWSER === null ? describe : describe.skip;

/** Names that a browser has to escape, or that look like something else. */
const NAMES = ["plain.txt", "naïve 😀.txt", 'a"b;c.txt', "100%.txt", "line\nbreak.txt", "..", "__proto__"];

const SIZE = 3 * 1024 * 1024;

/** Submits a form as the browser does, then sends a large file and watches its progress. */
const PAGE = `<!doctype html><title>Uploads</title>
<form action="/upload" method="post" enctype="multipart/form-data" target="answer">
<input name="title" value="two\nlines"><textarea name="text">two\nlines</textarea>
<input type="file" name="files" multiple><input type="file" name="blank">
</form><iframe name="answer"></iframe><p id="result"></p>
<script>
const [form] = document.forms;
const chosen = new DataTransfer();
for (const name of ${JSON.stringify(NAMES)}) chosen.items.add(new File([name], name, { type: "text/plain" }));
form.elements.files.files = chosen.files;
const finish = (submitted) => {
  const request = new XMLHttpRequest();
  const progress = [];
  request.upload.onprogress = ({ loaded, total }) => progress.push(loaded / total);
  request.onload = () => {
    const sent = JSON.parse(request.response);
    result.textContent = JSON.stringify({ submitted, sent, ended: progress.at(-1), steps: progress.length > 0 });
    result.className = "done";
  };
  const body = new FormData();
  body.append("title", "large");
  body.append("files", new Blob([new Uint8Array(${SIZE})]), "large.bin");
  request.open("POST", "/upload");
  request.send(body);
};
document.querySelector("iframe").onload = ({ target }) => {
  const text = target.contentDocument.body.innerText;
  if (text.startsWith("{")) finish(JSON.parse(text));
};
form.submit();
</script>`;

withBrowser(`uploads from Chromium${WITHOUT_BROWSER === null ? "" : ` (${WITHOUT_BROWSER})`}`, () => {
  let chromium: Chromium;
  let client: TestClient;

  beforeAll(async () => {
    const app = new App();
    app.get("/", async () => new HTMLResponse(PAGE));
    app.post(
      "/upload",
      {
        params: {
          title: Form(),
          text: Form({ default: null }),
          files: File({ multiple: true }),
          blank: File({ default: null }),
        },
      },
      async ({ title, text, files, blank }) => ({
        title,
        text,
        blank,
        files: await Promise.all(
          files.map(async (file) => [file.filename, file.size, (await file.text()).slice(0, 99)]),
        ),
      }),
    );
    client = await TestClient.open(app);
    chromium = await Chromium.launch();
  });

  afterAll(async () => {
    await chromium?.close();
    await client?.close();
  });

  it("keep their names and contents, and report their progress", async () => {
    const { tab } = await chromium.visit(client.url);
    await tab.locator("#result.done").waitFor();
    const { submitted, sent, ended, steps } = JSON.parse(await tab.locator("#result").innerText()) as Record<
      string,
      unknown
    >;
    expect(submitted).toEqual({
      title: "twolines", // an input has one line
      text: "two\r\nlines",
      blank: null,
      files: NAMES.map((name) => [name === ".." ? "" : name.replace("\n", ""), Buffer.byteLength(name), name]),
    });
    expect(sent).toMatchObject({ title: "large", text: null, files: [["large.bin", SIZE, expect.any(String)]] });
    expect([ended, steps]).toEqual([1, true]);
  });
});
