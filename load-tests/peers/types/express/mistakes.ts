import { Router } from "express";

Router().get("/:id", ({ params }, response) => response.json(params.id.size)); // wrong
