import { expect, it } from "@jest/globals";

import { openApp } from "./support.js";

it("has the tags of the specification, and describes the login", async () => {
  await using app = await openApp();
  const { body } = await app.request.get("/openapi.json").expect(200);
  const tagOf = (path: string, method: string): string[] => body.paths[path][method].tags;
  expect(tagOf("/auth/token", "post")).toEqual(["auth"]);
  expect(tagOf("/users/me", "get")).toEqual(["users"]);
  expect(tagOf("/items", "get")).toEqual(["items"]);
  expect(body.components.securitySchemes).toMatchObject({
    OAuth2PasswordBearer: { type: "oauth2", flows: { password: { tokenUrl: "/auth/token" } } },
  });
  expect(body.paths["/users/me"].get.security).toEqual([{ OAuth2PasswordBearer: [] }]);
  expect(JSON.stringify(body)).not.toContain("hashed_password");
});
