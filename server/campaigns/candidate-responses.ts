import { sql } from 'kysely'
import { skillNumber } from '../catalogue/ids.ts'
import { itemById } from '../conversation/skill-form.ts'
import { recordResponses, type SkillResponses } from '../items/responses.ts'
import { KEY } from '../measurement/form.ts'
import type { Tx } from '../platform/database/database.ts'
import type { Candidacy } from './candidacy.ts'
import { addressIndexes } from './personal-values.ts'

/** Stores the answers of candidates whose conversation has ended, for statistics without the person. */
export async function recordCandidateResponses(tx: Tx, now: number, candidacies: Candidacy[]): Promise<void> {
  await recordResponses(tx, now, candidacies.flatMap(skillResponsesOf))
}

function skillResponsesOf({ org_id: orgId, mode, state, flow }: Candidacy): SkillResponses[] {
  return flow.skills.flatMap(({ skill_id, source, fixedForm }, skill) => {
    if (fixedForm) return []
    const responses = (state.skills[skill] ?? []).flatMap(
      ({ id, options, choice, pilot, seconds, language, channel }) => {
        if (choice === undefined) return []
        const option = options[choice]!
        const { difficulty, isUnpiloted = false } = itemById(flow, skill, id)
        return [
          {
            itemId: id,
            difficulty,
            option,
            isCorrect: option === KEY,
            isScored: !pilot,
            isUnpiloted,
            seconds: seconds ?? null,
            language: language ?? state.language,
            channel: channel ?? 'page',
          },
        ]
      },
    )
    if (responses.length === 0) return []
    return [{ scope: { orgId, mode }, skillNumber: skillNumber(skill_id)!, source, responses }]
  })
}

/** Number of other campaigns whose items are read. It bounds the time for test numbers, which may be in thousands of campaigns. */
const MAX_OTHER_CAMPAIGNS = 5

/**
 * Returns the items that each candidate was asked in the newest other campaigns of the organisation, so that they are not asked again.
 * The same person has the same phone number or email address. In TEST mode, only campaigns with the same test clock count.
 */
export async function findSeenItems(tx: Tx, candidacies: Candidacy[]): Promise<Map<string, string[]>> {
  const indexes = candidacies.map((candidacy) => addressIndexes(tx, candidacy))
  const hasSameClock = sql`(c.mode = 'live' or exists (
    select from campaigns g where g.campaign_id = c.campaign_id and g.test_clock_id is not distinct from n.test_clock_id))`
  const { rows } = await sql<{ candidate_id: string; items: string[] }>`
    select n.candidate_id, array_agg(distinct item ->> 'id') as items
    from unnest(${candidacies.map(({ candidate_id }) => candidate_id)}::text[], ${candidacies.map(({ org_id }) => org_id)}::text[],
        ${candidacies.map(({ mode }) => mode)}::text[], ${indexes.map(({ phone }) => phone)}::bytea[],
        ${indexes.map(({ email }) => email)}::bytea[], ${candidacies.map(({ test_clock_id }) => test_clock_id)}::text[])
        as n (candidate_id, org_id, mode, phone, email, test_clock_id)
      cross join lateral (
        (select c.candidate_id from candidates c
          where c.org_id = n.org_id and c.mode = n.mode and c.phone_index = n.phone and c.candidate_id <> n.candidate_id and ${hasSameClock}
          order by c.candidate_id desc limit ${MAX_OTHER_CAMPAIGNS})
        union
        (select c.candidate_id from candidates c
          where c.org_id = n.org_id and c.mode = n.mode and c.email_index = n.email and c.candidate_id <> n.candidate_id and ${hasSameClock}
          order by c.candidate_id desc limit ${MAX_OTHER_CAMPAIGNS})
      ) as other
      join candidate_progress p on p.candidate_id = other.candidate_id
      cross join lateral json_array_elements(p.conversation::json -> 'skills') as form
      cross join lateral json_array_elements(form) as item
    where json_typeof(item) = 'object'
    group by n.candidate_id`.execute(tx)
  return new Map(rows.map(({ candidate_id, items }) => [candidate_id, items]))
}
