import { Module } from "@nestjs/common";
import { Items0 } from "./items0.js";

const controllers = [
  // One line for each controller.
  Items0,
];

@Module({ controllers })
export class AppModule {}
