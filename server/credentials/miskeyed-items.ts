import { sql } from 'kysely'
import { roundConfidence, weighResponses } from '../measurement/sequential-test.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import type { Facts, ScoredResponse, VerifiedSkill } from './facts.ts'

const LOCK_NAME = 'credentials and miskeyed items'

/** Waits for items that are being retired, and lets further retirements wait until the new credentials are committed. */
export async function lockItemsForIssue(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${LOCK_NAME}, 0))`.execute(tx)
}

/** Waits for credentials that are being issued, so that a retirement finds all of them. */
export async function lockItemsForRetirement(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${LOCK_NAME}, 0))`.execute(tx)
}

/** Returns the skills that are still verified without the items that turned out to have the wrong key. */
export async function withoutMiskeyedItems(
  queries: Queries,
  orgId: string,
  skills: VerifiedSkill[],
): Promise<VerifiedSkill[]> {
  const itemIds = skills.flatMap(({ responses }) => responses.map(({ id }) => id))
  if (itemIds.length === 0) return skills
  const isMiskeyed = sql`item_id = any (${itemIds}::text[]) and status = 'retired' and retirement_reason = 'miskeyed'`
  const { rows } = await sql<{ item_id: string }>`
    select item_id from bank_items where ${isMiskeyed}
    union all select item_id from skill_items where org_id = ${orgId} and ${isMiskeyed}`.execute(queries)
  const miskeyed = new Set(rows.map(({ item_id }) => item_id))
  return skills.flatMap((skill) => {
    const responses = skill.responses.filter(({ id }) => !miskeyed.has(id))
    if (responses.length === skill.responses.length) return [skill]
    if (weighResponses(responses).verdict !== 'verified') return []
    return [{ ...skill, responses, facts: factsWithout(skill.facts, responses) }]
  })
}

/** Counts the remaining responses again after items were removed. */
export function factsWithout(facts: Facts, responses: ScoredResponse[]): Facts {
  if (facts.asked === null || facts.asked === responses.length) return facts
  return {
    ...facts,
    correct: responses.filter(({ isCorrect }) => isCorrect).length,
    asked: responses.length,
    unpilotedItems: responses.filter(({ isUnpiloted }) => isUnpiloted).length,
    confidence: roundConfidence(weighResponses(responses).confidence),
  }
}
