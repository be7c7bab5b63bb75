/** The packages as npm installs them, on each runtime. */
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "@jest/globals";
import { onEach } from "../../test/runtimes/_program.js";
import { createFolder } from "../../test/support/folder.js";
import { installPackages } from "../../test/support/packages.js";

const PROGRAM = `
import { App, Depends } from "tsgi";
import { ApiKeys, memoryKeys } from "@tsgi/api-keys";
const keys = new ApiKeys({ store: memoryKeys() });
const app = new App();
app.get("/me", { params: { key: Depends(keys.scheme) } }, async ({ key }) => key.owner);
const { id, key } = await keys.create({ owner: "ada" });
const call = async (text) => {
  const headers = { authorization: "Bearer " + text };
  return (await app.fetch(new Request("http://localhost/me", { headers }))).status;
};
const statuses = [await call(key), await call(key.slice(0, -1))];
await keys.revoke(id, "ada");
console.log([...statuses, await call(key)].join());
process.exit();`;

onEach("API keys on %s", (_name, [command = "", ...parameters]) => {
  const folder = createFolder({ "package.json": '{ "type": "module" }', "program.mjs": PROGRAM });

  beforeAll(() => installPackages(folder, ["tsgi", "@tsgi/api-keys"]));

  it("are created, verified and revoked", async () => {
    const { stdout } = await promisify(execFile)(command, [...parameters, path.join(folder, "program.mjs")], {
      cwd: folder,
    });
    expect(stdout.trim()).toBe("200,401,401");
  });
});
