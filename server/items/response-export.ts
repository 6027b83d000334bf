import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { skillId } from '../catalogue/ids.ts'
import type { Database } from '../platform/database/database.ts'
import type { ItemSource } from '../questions/skill-items.ts'

const ROWS_PER_QUERY = 1000

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
]

interface ExportRow {
  response_id: number
  skill_number: number
  item_id: string
  source: ItemSource
  option: number | null
  is_correct: boolean
  seconds: number | null
  language: string
  position: number
  channel: string
  day: string
}

/** Yields the responses of an organisation as CSV, oldest first, in parts. They contain no person and no time of day. */
export async function* exportResponses({ queries }: Pick<Database, 'queries'>, { orgId, mode }: OrgScope) {
  yield `\ufeff${COLUMNS.join(',')}\r\n`
  let after = 0
  for (;;) {
    const { rows } = await sql<ExportRow>`
      select response_id, skill_number, item_id, source, option, is_correct, seconds, language, position, channel, day::text as day
      from item_responses where org_id = ${orgId} and mode = ${mode} and response_id > ${after}
      order by response_id limit ${ROWS_PER_QUERY}`.execute(queries)
    if (rows.length > 0) yield rows.map((row) => `${cellsOf(row).join(',')}\r\n`).join('')
    if (rows.length < ROWS_PER_QUERY) return
    after = rows.at(-1)!.response_id
  }
}

/** No cell needs quotes: all are numbers, or IDs and names without commas. */
function cellsOf(row: ExportRow): (string | number)[] {
  return [
    skillId(row.skill_number),
    row.item_id,
    row.source,
    row.is_correct ? 'key' : (row.option ?? ''),
    row.is_correct ? 'yes' : 'no',
    row.seconds === null ? '' : Math.round(row.seconds * 10) / 10,
    row.language,
    row.position,
    row.channel,
    row.day,
  ]
}
