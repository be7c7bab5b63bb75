import express from "express";
import { items0 } from "./items0.js";

export const app = express();
app.use(items0);
