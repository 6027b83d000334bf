import { sql } from 'kysely'
import { skillId } from '../catalogue/ids.ts'
import { nameKey } from '../catalogue/names.ts'
import {
  type ApprovedSkill,
  onRequestResolved,
  onSkillApproved,
  requestRecord,
  type SkillRequest,
} from '../catalogue/skill-requests.ts'
import { recordEvent } from '../events/record.ts'
import type { Clock } from '../platform/clock.ts'
import { announce, type Tx } from '../platform/database/database.ts'
import type { Method } from '../workflows/workflows.ts'
import { type MandateBody, type MandateSkill, pendingNames } from './body.ts'
import { MANDATE_TO_PREPARE } from './mandates.ts'
import { warningsOf } from './rules.ts'

/** What a decided skill request changes here. Every process that decides one imports this module. */
onSkillApproved(turnPendingSkills)
onRequestResolved(tellResolved)

/** Mandates changed by one statement. */
const BATCH = 500

/**
 * Mandates of all organisations that name the skill as pending have it as a skill of the catalogue from now on, and are
 * prepared again. It does not count among the changes of an hour: the partner did nothing.
 */
async function turnPendingSkills(tx: Tx, skill: ApprovedSkill, clock: Clock): Promise<void> {
  const naming = await tx
    .selectFrom('mandates')
    .select(['mandate_id', 'body', 'methods'])
    .where('pending_skills', '@>', sql<string[]>`array[${skill.nameKey}]`)
    .where('pending_skills', '<>', sql<string[]>`'{}'`)
    .where('status', '<>', 'archived')
    .orderBy('mandate_id')
    .forUpdate()
    .execute()
  const now = new Date(clock.now())
  for (let from = 0; from < naming.length; from += BATCH) {
    const changes = naming.slice(from, from + BATCH).map(({ mandate_id, body, methods }) => {
      const turned = withSkill(JSON.parse(body) as KeptBody, skill)
      return {
        mandate_id,
        body: JSON.stringify(turned),
        warnings: warningsOf({ ...turned, methods: methods as Method[] }),
        pending_skills: pendingNames(turned.skills).map(nameKey),
      }
    })
    await sql`
      update mandates set accepted_body = coalesce(accepted_body, mandates.body), body = given.body, warnings = given.warnings,
        pending_skills = given.pending_skills, flow_version = flow_version + 1, version = version + 1,
        status = 'preparing', failure = null, attempts = 0, prepare_at = ${now}, updated_at = ${now}
      from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
        as given (mandate_id text, body text, warnings text[], pending_skills text[])
      where mandates.mandate_id = given.mandate_id`.execute(tx)
  }
  if (naming.length > 0) announce(tx, MANDATE_TO_PREPARE)
}

/** Without the methods where they were left out: see `textOf`. */
type KeptBody = Omit<MandateBody, 'methods'>

/** The pending skill's place goes to the skill itself, unless the mandate has that already. */
function withSkill(body: KeptBody, { number, nameKey: key }: ApprovedSkill): KeptBody {
  const skill_id = skillId(number)
  const there = body.skills.some((skill) => 'skill_id' in skill && skill.skill_id === skill_id)
  const skills = body.skills.flatMap((skill): MandateSkill[] => {
    if (!('name' in skill) || nameKey(skill.name) !== key) return [skill]
    return there ? [] : [{ skill_id, verify: false }]
  })
  return { ...body, skills }
}

async function tellResolved(tx: Tx, request: SkillRequest, clock: Clock): Promise<void> {
  const { org_id: orgId, mode } = request
  await recordEvent(tx, { orgId, mode }, clock, 'skill_request.resolved', requestRecord(request))
}
