import { Router, t } from "tsgi";

const router = new Router();
router.get("/{id}", { params: { id: t.Integer() } }, async ({ id }) => id.length); // wrong
router.get("/{id}/history", { params: { limit: t.Integer() } }, async ({ limit }) => limit.length); // wrong
router.post("", { params: { item: t.Object({ name: t.String() }) } }, async ({ item }) => item.size); // wrong
router.get("", { returns: t.Array(t.Object({ id: t.Integer() })) }, async () => [{ id: "1" }]); // wrong
