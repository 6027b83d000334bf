import { type RawBuilder, sql } from 'kysely'
import { type TSchema, Type } from 'typebox'
import type { Queries } from '../../platform/database/database.ts'
import { PageQuery } from '../../platform/http/response-schemas.ts'
import type { Vault } from '../../platform/vault.ts'
import { paginate } from '../paginate.ts'

/** A column by which a list can be sorted. */
export interface ListSort {
  key: RawBuilder<unknown>
  type: 'timestamptz' | 'text' | 'bigint'
  descending: boolean
}

interface SortedList {
  /** Tables and joins, after `from`. */
  from: RawBuilder<unknown>
  columns: RawBuilder<unknown>
  /** The ID column, which makes the order unique. */
  id: RawBuilder<unknown>
  conditions: RawBuilder<unknown>[]
  sort: ListSort
}

interface Position {
  key: string | number
  id: string
}

type SortedRow<Row> = Row & { sort_key: unknown; sort_id: string }

/** Returns one page of a list and, for the first page only, the number of all matching rows. */
export async function sortedPage<Row, Item>(
  queries: Queries,
  vault: Vault,
  listKey: string,
  page: { limit: number; cursor?: string },
  { from, columns, id, conditions, sort }: SortedList,
  toItem: (row: Row) => Item,
) {
  const where = sql.join(conditions, sql` and `)
  const { key, type, descending } = sort
  const direction = descending ? sql`desc` : sql`asc`
  const { items, next_cursor } = await paginate(
    vault,
    listKey,
    page,
    async (after: Position | undefined, limit) => {
      const isLater = after
        ? sql`and (${key}, ${id}) ${descending ? sql`<` : sql`>`} (${after.key}::${sql.raw(type)}, ${after.id})`
        : sql``
      const { rows } = await sql<SortedRow<Row>>`
        select ${columns}, ${key} as sort_key, ${id} as sort_id from ${from} where ${where} ${isLater}
        order by ${key} ${direction}, ${id} ${direction} limit ${limit}`.execute(queries)
      return rows
    },
    ({ sort_key, sort_id }) => ({
      key: sort_key instanceof Date ? sort_key.toISOString() : (sort_key as string | number),
      id: sort_id,
    }),
    ({ sort_key: _, sort_id: __, ...row }) => toItem(row as unknown as Row),
  )
  const total = page.cursor === undefined ? await countRows(queries, from, where) : null
  return { items, next_cursor, total }
}

async function countRows(queries: Queries, from: RawBuilder<unknown>, where: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from ${from} where ${where}`.execute(
    queries,
  )
  return rows[0]!.count
}

const MAX_SEARCH_WORDS = 8

/** Returns the condition that a text contains every word of a query, in any order and case, or that the query is the ID. */
export function matchesSearch(text: RawBuilder<unknown>, id: RawBuilder<unknown>, query: string): RawBuilder<unknown> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_SEARCH_WORDS)
  if (words.length === 0) return sql`true`
  const matches = words.map((word) => sql`lower(${text}) like ${`%${word.replaceAll(/[\\%_]/g, '\\$&')}%`}`)
  return sql`(${id} = ${query.trim().toUpperCase()} or (${sql.join(matches, sql` and `)}))`
}

const SearchText = Type.Optional(Type.String({ maxLength: 200, description: 'Words to search for.' }))

/** Returns the schema of the query of a list: its filters, sort, page size and cursor. */
export function listQuery<T extends Record<string, TSchema>, Sort extends string>(
  filters: T,
  sorts: readonly [Sort, ...Sort[]],
) {
  return Type.Object({
    ...filters,
    ...PageQuery.properties,
    q: SearchText,
    sort: Type.Enum([...sorts], { default: sorts[0] }),
  })
}

/** Splits a list query into page and filters, and returns the key to which cursors are bound. */
export function splitListQuery<T extends { limit: number; cursor?: string; sort: string }>(name: string, query: T) {
  const { limit, cursor, ...filters } = query
  const listKey = `${name} ${JSON.stringify(Object.entries(filters).sort())}`
  return { listKey, filters, page: { limit, ...(cursor === undefined ? {} : { cursor }) } }
}
