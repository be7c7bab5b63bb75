import { Body, Controller, Get, Param, Post } from "@nestjs/common";
import { z } from "zod";

const NewItem = z.object({ name: z.string() });
const Whole = z.coerce.number().int();

@Controller()
export class Items {
  @Get(":id")
  readItem(@Param("id", { schema: Whole }) id: number) {
    return id.length; // wrong
  }

  @Post()
  addItem(@Body({ schema: NewItem }) item: z.infer<typeof NewItem>) {
    return item.size; // wrong
  }
}
