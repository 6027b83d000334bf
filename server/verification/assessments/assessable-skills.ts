import { skillId } from '../../catalogue/ids.ts'
import type { Context } from '../../context.ts'
import { findOwnMeasurableSkills } from '../../items/item-store.ts'
import type { Queries } from '../../platform/database/database.ts'
import { MIN_ACTIVE_ITEMS } from '../../questions/skill-items.ts'
import type { ChosenSkill } from '../session-skills.ts'
import type { Session } from '../sessions.ts'

/** Why a skill cannot be assessed, for error messages. */
export const NOT_ASSESSABLE_REASON = `there are fewer than ${MIN_ACTIVE_ITEMS} questions about it and no AI writer is configured, or the operator has switched its verification off`

/** Returns the skills of a session that cannot be assessed here. */
export async function findNotAssessableSkills(
  queries: Queries,
  { catalogue }: Pick<Context, 'catalogue'>,
  { scope, skills }: Pick<Session, 'scope' | 'skills'>,
): Promise<ChosenSkill[]> {
  const loadedSkills = await catalogue.load({ ids: skills.map(({ number }) => skillId(number)) })
  const notVerifiable = skills.filter(({ number }) => !loadedSkills.skill(number)?.verifiable)
  if (notVerifiable.length === 0) return []
  const ownSkills = await findOwnMeasurableSkills(queries, scope.orgId)
  return notVerifiable.filter(({ number }) => !ownSkills.has(number))
}
