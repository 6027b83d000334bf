import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { skillId } from '../catalogue/ids.ts'
import type { Database } from '../platform/database/database.ts'
import type { ItemSource } from '../questions/skill-items.ts'

const ROWS_PER_QUERY = 10_000

const COLUMNS = [
  'skill_id',
  'item_id',
  'source',
  'option',
  'correct',
  'seconds',
  'language',
  'position',
  'channel',
  'day',
  'scored',
]

interface ExportRow {
  rank: string
  source: ItemSource
  option: number | null
  is_correct: boolean
  seconds: number | null
  language: string
  position: number
  channel: string
  day: string
  is_scored: boolean
}

interface Item {
  skill_number: number
  item_id: string
}

/**
 * Yields the responses of an organisation as CSV, in parts. They contain no person and no time of day. They are sorted by item and then in a
 * random order, because neighbours in the order of storage are responses of the same person.
 */
export async function* exportResponses({ queries }: Pick<Database, 'queries'>, { orgId, mode }: OrgScope) {
  yield `\ufeff${COLUMNS.join(',')}\r\n`
  const salt = randomBytes(16).toString('hex')
  const { rows: items } = await sql<Item>`
    select distinct skill_number, item_id from item_responses where org_id = ${orgId} and mode = ${mode}
    order by skill_number, item_id`.execute(queries)
  for (const item of items) {
    let after = ''
    for (;;) {
      const { rows } = await sql<ExportRow>`
        select md5(response_id || ${salt}) as rank, source, option, is_correct, seconds, language, position, channel, day::text as day, is_scored
        from item_responses
        where org_id = ${orgId} and mode = ${mode} and item_id = ${item.item_id} and md5(response_id || ${salt}) > ${after}
        order by rank limit ${ROWS_PER_QUERY}`.execute(queries)
      if (rows.length > 0) yield rows.map((row) => `${cellsOf(item, row).join(',')}\r\n`).join('')
      if (rows.length < ROWS_PER_QUERY) break
      after = rows.at(-1)!.rank
    }
  }
}

/** No cell needs quotes: all are numbers, or IDs and names without commas. */
function cellsOf(item: Item, row: ExportRow): (string | number)[] {
  return [
    skillId(item.skill_number),
    item.item_id,
    row.source,
    row.is_correct ? 'key' : (row.option ?? ''),
    row.is_correct ? 'yes' : 'no',
    row.seconds === null ? '' : Math.round(row.seconds * 10) / 10,
    row.language,
    row.position,
    row.channel,
    row.day,
    row.is_scored ? 'yes' : 'no',
  ]
}
