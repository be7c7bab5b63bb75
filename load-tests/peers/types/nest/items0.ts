import { Body, Controller, Get, Param, Post, Query } from "@nestjs/common";
import { z } from "zod";

const Item = z.object({
  id: z.number().int(),
  name: z.string(),
  price: z.number(),
  tags: z.array(z.string()),
  note: z.string().optional(),
});
const NewItem = z.object({
  name: z.string().min(1),
  price: z.number().min(0),
  tags: z.array(z.string()),
  note: z.string().optional(),
});
const Whole = z.coerce.number().int();

@Controller("items0")
export class Items0 {
  @Get(":id")
  readItem(@Param("id", { schema: Whole }) id: number, @Query("version", { schema: Whole }) version: number) {
    return { id, version, name: "spade" };
  }

  @Get(":id/history")
  readHistory(@Param("id", { schema: Whole }) id: number, @Query("limit", { schema: Whole }) limit: number) {
    return { id, limit, changes: ["made"] };
  }

  @Post()
  addItem(@Body({ schema: NewItem }) item: z.infer<typeof NewItem>) {
    return { id: 1, ...item };
  }

  @Get()
  listItems(): z.infer<typeof Item>[] {
    return [{ id: 1, name: "spade", price: 5, tags: ["garden"] }];
  }
}
