import { readCursor, writeCursor } from '../platform/http/cursor.ts'
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
