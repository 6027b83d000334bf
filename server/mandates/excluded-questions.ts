import { sql } from 'kysely'
import { requireCreatedVia, type WriteScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { FlowSkill } from '../conversation/flow.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { languageName } from '../platform/text/languages.ts'
import { MIN_ACTIVE_ITEMS, type SkillItem } from '../questions/skill-items.ts'
import { getFlow } from './flow.ts'
import { lockMandate } from './mandate-rows.ts'

/** Returns the IDs of the skill questions that are excluded from a mandate. */
export async function findExcludedQuestions(queries: Queries, mandateId: string): Promise<Set<string>> {
  const rows = await queries
    .selectFrom('excluded_questions')
    .select('item_id')
    .where('mandate_id', '=', mandateId)
    .execute()
  return new Set(rows.map(({ item_id }) => item_id))
}

/**
 * Excludes a skill question from a mandate: candidates who have not been asked it yet are asked another one. Returns false if it is
 * excluded already.
 */
export async function excludeQuestion(
  tx: Tx,
  scope: WriteScope,
  clock: Clock,
  mandateId: string,
  itemId: string,
): Promise<boolean> {
  const skill = await lockQuestion(tx, scope, mandateId, itemId)
  if ((await findExcludedQuestions(tx, mandateId)).has(itemId)) return false
  requireEnoughQuestions(
    skill,
    skill.items.filter(({ id }) => id !== itemId),
  )
  const { orgId, mode } = scope
  await tx
    .insertInto('excluded_questions')
    .values({
      mandate_id: mandateId,
      item_id: itemId,
      org_id: orgId,
      mode,
      excluded_at: new Date(clock.now()),
    })
    .execute()
  return true
}

/** Asks an excluded question again. Returns false if it is not excluded. */
export async function includeQuestion(tx: Tx, scope: WriteScope, mandateId: string, itemId: string): Promise<boolean> {
  await lockQuestion(tx, scope, mandateId, itemId)
  const { numAffectedRows } =
    await sql`delete from excluded_questions where mandate_id = ${mandateId} and item_id = ${itemId}`.execute(tx)
  return numAffectedRows === 1n
}

/** Locks the mandate, and returns the skill that the question is about. */
async function lockQuestion(tx: Tx, scope: WriteScope, mandateId: string, itemId: string): Promise<FlowSkill> {
  const { current } = await lockMandate(tx, scope, mandateId)
  requireCreatedVia('mandate', current.created_via, scope)
  if (current.status !== 'ready')
    throw problem(
      'CONFLICT',
      `Only the questions of a ready mandate can be changed; this mandate is ${current.status}.`,
    )
  const { skills } = await getFlow(tx, scope, mandateId, current.flow_version)
  const skill = skills.find(({ items }) => items.some(({ id }) => id === itemId))
  if (!skill) throw problem('NOT_FOUND', `Mandate ${mandateId} has no question ${itemId}.`)
  if (skill.fixedForm)
    throw problem(
      'CONFLICT',
      'These questions were prepared by an earlier version, which asks every candidate the same ones. Save the mandate again first.',
    )
  return skill
}

/** Requires that candidates can still be measured, in each language in which they are asked about the skill. */
function requireEnoughQuestions({ name, languages }: FlowSkill, items: SkillItem[]): void {
  const scored = items.filter(({ isPilot, isRetired }) => !isPilot && !isRetired)
  for (const language of languages) {
    const count = scored.filter(({ texts }) => texts[language]).length
    if (count < MIN_ACTIVE_ITEMS)
      throw problem(
        'CONFLICT',
        `${name} would have only ${count} questions in ${languageName(language)}; at least ${MIN_ACTIVE_ITEMS} are required. Include an excluded question again, or add your own questions first.`,
      )
  }
}
