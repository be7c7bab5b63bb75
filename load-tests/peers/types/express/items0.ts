import { Router } from "express";

export const items0 = Router();

items0.get("/items0/:id", (request, response) => {
  response.json({ id: Number(request.params.id), version: Number(request.query["version"]), name: "spade" });
});

items0.get("/items0/:id/history", (request, response) => {
  response.json({ id: Number(request.params.id), limit: Number(request.query["limit"]), changes: ["made"] });
});

items0.post("/items0", (request, response) => {
  response.json({ id: 1, ...request.body });
});

items0.get("/items0", (_request, response) => {
  response.json([{ id: 1, name: "spade", price: 5, tags: ["garden"] }]);
});
