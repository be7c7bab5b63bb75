/** The benchmark routes on Express, the body checked with Zod, because it has no validation. @module */
import express from "express";
import { z } from "zod";
import { announce } from "./announce.js";

const NewUser = z.object({ name: z.string().min(1), email: z.string(), age: z.int().min(0) });

// Without the headers that no other server sends: a hash of each body, and its own name.
const app = express().disable("etag").disable("x-powered-by");

app.get("/health", (_request, response) => response.json({ status: "ok" }));

app.get("/users/:id", (request, response) => response.json({ id: request.params.id }));

app.post("/users", express.json(), (request, response) => {
  const { success, data } = NewUser.safeParse(request.body);
  if (success) {
    const { name, email, age } = data;
    response.status(201).json({ id: 1, name, email, age });
  } else {
    response.status(422).json({ detail: "Unprocessable Content" });
  }
});

const server = app.listen(0, "127.0.0.1", () => announce(server.address().port));
