import { type RawBuilder, sql } from 'kysely'
import { type TSchema, Type } from 'typebox'
import type { Queries } from '../platform/database/database.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { nameAfter } from '../platform/http/named-schemas.ts'
import { listOf } from '../platform/http/response-schemas.ts'
import type { Vault } from '../platform/vault.ts'

/**
 * Returns one page of a list. `findRows` is called with one row more than the page holds, to detect whether another page follows.
 * `listKey` identifies the list and its filters: a cursor is valid only for the list that issued it.
 */
export async function paginate<Row, Position, Item>(
  vault: Vault,
  listKey: string,
  { limit, cursor }: { limit: number; cursor?: string },
  findRows: (after: Position | undefined, limit: number) => Promise<Row[]>,
  positionOf: (row: Row) => Position,
  toItem: (row: Row) => Item,
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const rows = await findRows(readCursor<Position>(vault, listKey, cursor), limit + 1)
  const page = rows.slice(0, limit)
  const next_cursor = rows.length > limit ? writeCursor(vault, listKey, positionOf(page.at(-1)!)) : null
  return { items: page.map(toItem), next_cursor }
}

/** Returns the schema of one page of a list with the number of all rows that match its filters. */
export function countedListOf<T extends TSchema>(item: T) {
  return Type.Object(
    {
      ...listOf(item).properties,
      total: Type.Union([Type.Integer(), Type.Null()], {
        description: 'The number of rows that match the filters. Null on later pages.',
      }),
      is_more: Type.Optional(
        Type.Boolean({ description: 'True if there are more rows than `total`: rows are counted up to a limit.' }),
      ),
      is_complete: Type.Optional(
        Type.Boolean({ description: 'False while recent changes are being added to the list.' }),
      ),
    },
    nameAfter(item, 'CountedList'),
  )
}

/** More rows are not counted, so that the count of a long list takes a bounded time. */
const MAX_COUNTED_ROWS = 10_000

/** Counts rows up to a limit. */
export async function countUpToLimit(
  queries: Queries,
  from: RawBuilder<unknown>,
  where: RawBuilder<unknown>,
): Promise<{ total: number; is_more: boolean }> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (select 1 from ${from} where ${where} limit ${MAX_COUNTED_ROWS + 1}) as counted`.execute(
    queries,
  )
  const { count } = rows[0]!
  return { total: Math.min(count, MAX_COUNTED_ROWS), is_more: count > MAX_COUNTED_ROWS }
}
