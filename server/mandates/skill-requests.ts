import { sql } from 'kysely'
import { skillId } from '../catalogue/ids.ts'
import { nameKey } from '../catalogue/names.ts'
import { readSkillFamilies } from '../catalogue/skill-families.ts'
import { type ApprovedSkillData, requestRecord, type SkillRequest } from '../catalogue/skill-requests.ts'
import { recordEvent } from '../events/record.ts'
import type { Clock } from '../platform/clock.ts'
import { notifyAfterCommit, type Tx } from '../platform/database/database.ts'
import type { Method } from '../workflows/enums.ts'
import { type MandateBody, type MandateSkill, pendingSkillNames } from './body.ts'
import { MANDATE_TO_PREPARE } from './mandates.ts'
import { warningsOf } from './rules.ts'

/** Maximum number of mandates per statement. */
const BATCH_SIZE = 500

/**
 * Replaces the pending name with the approved skill in the mandates of all organisations, and queues these mandates for
 * preparation. This does not count towards the hourly change limit, because the partner did not change anything.
 */
export async function resolvePendingSkills(tx: Tx, skill: ApprovedSkillData, clock: Clock): Promise<void> {
  const mandates = await tx
    .selectFrom('mandates')
    .select(['mandate_id', 'body', 'methods'])
    .where(sql<boolean>`mandate_id in (select mandates_with_pending_skill(${skill.nameKey}))`)
    // PostgreSQL repeats this condition for a mandate that was changed while this statement waited for its lock.
    .where('pending_skills', '@>', sql<string[]>`array[${skill.nameKey}]`)
    .where('status', '<>', 'archived')
    .orderBy('mandate_id')
    .forUpdate()
    .execute()
  const sameIds = (await readSkillFamilies(tx, [skill.number])).numbersOf(skill.number).map(skillId)
  const now = new Date(clock.now())
  for (let from = 0; from < mandates.length; from += BATCH_SIZE) {
    const changes = mandates.slice(from, from + BATCH_SIZE).map(({ mandate_id, body, methods }) => {
      const updatedBody = replacePendingSkill(JSON.parse(body) as StoredBody, skill, sameIds)
      return {
        mandate_id,
        body: JSON.stringify(updatedBody),
        warnings: warningsOf({ ...updatedBody, methods: methods as Method[] }),
        pending_skills: pendingSkillNames(updatedBody.skills).map(nameKey),
      }
    })
    await sql`
      update mandates set accepted_body = coalesce(accepted_body, mandates.body), body = input.body, warnings = input.warnings,
        pending_skills = input.pending_skills, flow_version = flow_version + 1, version = version + 1,
        status = 'preparing', failure = null, attempts = 0, prepare_at = ${now}, updated_at = ${now}
      from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
        as input (mandate_id text, body text, warnings text[], pending_skills text[])
      where mandates.mandate_id = input.mandate_id`.execute(tx)
  }
  if (mandates.length > 0) notifyAfterCommit(tx, MANDATE_TO_PREPARE)
}

/** Mandate body as stored, possibly without methods: see `storedText`. */
type StoredBody = Omit<MandateBody, 'methods'>

/**
 * Replaces the pending skill with the approved skill, or removes it if the mandate already has the approved skill. `sameIds` are all IDs that
 * mean the approved skill.
 */
function replacePendingSkill(
  body: StoredBody,
  { number, nameKey: key }: ApprovedSkillData,
  sameIds: readonly string[],
): StoredBody {
  const skill_id = skillId(number)
  const hasSkill = body.skills.some((skill) => 'skill_id' in skill && sameIds.includes(skill.skill_id))
  const skills = body.skills.flatMap((skill): MandateSkill[] => {
    if (!('name' in skill) || nameKey(skill.name) !== key) return [skill]
    return hasSkill ? [] : [{ skill_id, verify: false }]
  })
  return { ...body, skills }
}

/** Records the event that notifies the partner that the skill request was approved or rejected. */
export async function recordRequestResolved(tx: Tx, request: SkillRequest, clock: Clock): Promise<void> {
  const { org_id: orgId, mode } = request
  await recordEvent(tx, { orgId, mode }, clock, 'skill_request.resolved', requestRecord(request))
}
