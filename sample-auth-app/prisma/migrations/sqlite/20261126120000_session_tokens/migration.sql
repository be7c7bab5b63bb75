-- The tokens of a session are found by its id, which they begin with. Earlier tokens do not have it: their users log in
-- again.

-- DropTable
DROP TABLE "refresh_tokens";
DROP TABLE "sessions";

-- CreateTable
CREATE TABLE "sessions" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" INTEGER NOT NULL,
    "expires_at" DATETIME NOT NULL,
    "idle_until" DATETIME NOT NULL,
    "rotated_at" DATETIME NOT NULL,
    "current_hash" TEXT NOT NULL,
    "pending_hash" TEXT,
    CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");
