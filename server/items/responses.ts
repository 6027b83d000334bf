import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { restAbilities } from '../measurement/ability.ts'
import { DAY } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { indianDate } from '../platform/india-time.ts'
import type { Language } from '../platform/text/languages.ts'
import type { ItemSource } from '../questions/skill-items.ts'

/** The responses of one person to the items of one skill, in the order in which they were asked. */
export interface SkillResponses {
  scope: OrgScope
  skillNumber: number
  source: ItemSource
  responses: ItemAnswer[]
}

interface ItemAnswer {
  itemId: string
  /** Difficulty in logits. */
  difficulty: number
  /** The chosen option: -1 is the key, other numbers are distractors; null without an answer. */
  option: number | null
  isCorrect: boolean
  isScored: boolean
  isUnpiloted?: boolean
  seconds: number | null
  language: Language
  channel: string
}

/**
 * Stores responses for statistics, without the person and without the time of day. Each response is stored with the ability that the
 * person's other responses show, so that the statistics do not need the person.
 */
export async function recordResponses(tx: Tx, now: number, skills: SkillResponses[]): Promise<void> {
  const rows = skills.flatMap(({ scope, skillNumber, source, responses }) => {
    const scored = responses.filter(({ isScored }) => isScored)
    const abilities = restAbilities(responses, scored)
    return responses.map((response, index) => ({
      org_id: scope.orgId,
      mode: scope.mode,
      item_id: response.itemId,
      skill_number: skillNumber,
      source,
      option: response.option,
      is_correct: response.isCorrect,
      is_scored: response.isScored,
      rest_ability: Number(abilities[index]!.toFixed(3)),
      seconds: response.seconds,
      language: response.language,
      position: index + 1,
      channel: response.channel,
    }))
  })
  if (rows.length === 0) return
  await sql`insert into item_responses (org_id, mode, item_id, skill_number, source, day, option, is_correct, is_scored, rest_ability,
      seconds, language, position, channel)
    select org_id, mode, item_id, skill_number, source, ${indianDate(now)}::date, option, is_correct, is_scored, rest_ability, seconds,
      language, position, channel
    from json_to_recordset(${JSON.stringify(rows)}::json) as row (org_id text, mode text, item_id text, skill_number integer,
      source text, option smallint, is_correct boolean, is_scored boolean, rest_ability real, seconds real, language text,
      position smallint, channel text)`.execute(tx)
}

const TEST_RESPONSES_KEPT_DAYS = 30

/** Deletes responses in TEST after 30 days. Those in LIVE stay: they contain no person, and statistics need them. */
export async function deleteOldTestResponses(tx: Tx, now: number): Promise<void> {
  const firstDay = indianDate(now - TEST_RESPONSES_KEPT_DAYS * DAY)
  await sql`delete from item_responses where mode = 'test' and day < ${firstDay}::date`.execute(tx)
}
