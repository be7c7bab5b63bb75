import { client } from "./client.js";

client.GET("/item"); // wrong
client.GET("/items0/{id}", { params: { path: { id: 1 }, query: { versoin: 2 } } }); // wrong
client.POST("/items0", { body: { name: 1, price: 5, tags: [] } }); // wrong
(await client.GET("/items0")).data?.[0]?.price.length; // wrong
