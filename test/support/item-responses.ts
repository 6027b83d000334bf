import { sql } from 'kysely'
import { KEY } from '../../server/measurement/form.ts'
import { SeededRandom } from '../../server/measurement/seeded-random.ts'
import type { SkillItem } from '../../server/questions/skill-items.ts'
import type { TestApp } from './app.ts'

/** How people respond to an item: as to a good one, or as to one with this defect. Six of ten people know the key of a partly leaked item. */
type ResponsePattern = 'good' | 'miskeyed' | 'flat' | 'leaked' | 'partly_leaked'

interface ResponseOptions {
  orgId: string
  itemId: string
  skillNumber: number
  count: number
  pattern?: ResponsePattern
  mode?: 'test' | 'live'
  source?: 'bank' | 'private' | 'ai'
  language?: string
  day?: string
  /** The true difficulty of the item in logits; 0 by default. */
  difficulty?: number
}

/** Stores responses of people with abilities from -2 to 2, without a conversation. The same call stores the same responses. */
export async function insertResponses({ context }: Pick<TestApp, 'context'>, options: ResponseOptions): Promise<void> {
  const { orgId, itemId, skillNumber, count, pattern = 'good', mode = 'live', source = 'bank' } = options
  const { language = 'en', day = '2026-03-11', difficulty = 0 } = options
  const random = new SeededRandom(`${itemId} ${pattern} ${language}`)
  const chance = () => random.below(1 << 20) / (1 << 20)
  const rows = Array.from({ length: count }, (_, index) => {
    const ability = chance() * 4 - 2
    const known = 1 / (1 + Math.exp(-1.5 * (ability - difficulty)))
    const knownShare = pattern === 'leaked' ? 0.98 : pattern === 'partly_leaked' ? 0.6 : 0
    const probability = pattern === 'flat' ? 0.5 : knownShare + (1 - knownShare) * (0.25 + 0.75 * known)
    const choice = chance() < probability ? KEY : Math.floor(chance() * 3)
    // In a miskeyed item, the first distractor is the true key.
    const option = pattern === 'miskeyed' ? (choice === KEY ? 0 : choice === 0 ? KEY : choice) : choice
    return {
      option,
      is_correct: option === KEY,
      rest_ability: ability * 0.8,
      seconds: 5 + 30 * chance(),
      position: (index % 5) + 1,
    }
  })
  await sql`insert into item_responses (org_id, mode, item_id, skill_number, source, day, option, is_correct, is_scored, rest_ability,
      seconds, language, position, channel)
    select ${orgId}, ${mode}, ${itemId}, ${skillNumber}, ${source}, ${day}::date, option, is_correct, true, rest_ability, seconds,
      ${language}, position, 'whatsapp'
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as row (option smallint, is_correct boolean, rest_ability real, seconds real, position smallint)`.execute(
    context.db.queries,
  )
}

/** Stores items of an organisation, as an import does. */
export async function insertOwnItems(
  { context, clock }: Pick<TestApp, 'context' | 'clock'>,
  options: {
    orgId: string
    skillNumber: number
    ids: string[]
    source?: 'private' | 'ai'
    status?: 'pilot' | 'active'
  },
): Promise<void> {
  const { orgId, skillNumber, ids, source = 'private', status = 'active' } = options
  const now = new Date(clock.now())
  for (const id of ids) {
    const item: SkillItem = {
      id,
      pool: id,
      kind: 'method',
      difficulty: 0,
      texts: { en: { stem: `Private stem ${id}?`, options: ['Right', 'Wrong one', 'Wrong two', 'Wrong three'] } },
    }
    await context.db.queries
      .insertInto('skill_items')
      .values({
        item_id: id,
        org_id: orgId,
        skill_number: skillNumber,
        source,
        status,
        content: context.vault.seal(JSON.stringify(item), `skill item ${id}`),
        content_digest: context.vault.mac(id, 'skill item'),
        created_at: now,
        updated_at: now,
      })
      .execute()
  }
}
