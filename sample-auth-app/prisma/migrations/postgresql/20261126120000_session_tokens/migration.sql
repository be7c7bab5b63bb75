-- The tokens of a session are found by its id, which they begin with. Earlier tokens do not have it: their users log in
-- again.

-- DropTable
DROP TABLE "refresh_tokens";
DELETE FROM "sessions";

-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "idle_until" TIMESTAMP(3) NOT NULL,
ADD COLUMN     "rotated_at" TIMESTAMP(3) NOT NULL;
