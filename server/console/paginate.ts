import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import type { Vault } from '../platform/vault.ts'

/**
 * Returns one page of a list. `find` is called with one row more than the page holds, to detect whether another page follows.
 * `list` identifies the list and its filters: a cursor is valid only for the list that issued it.
 */
export async function paginate<Row, Position, Item>(
  vault: Vault,
  list: string,
  { limit, cursor }: { limit: number; cursor?: string },
  find: (after: Position | undefined, limit: number) => Promise<Row[]>,
  positionOf: (row: Row) => Position,
  toItem: (row: Row) => Item,
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const found = await find(readCursor<Position>(vault, list, cursor), limit + 1)
  const page = found.slice(0, limit)
  const next_cursor = found.length > limit ? writeCursor(vault, list, positionOf(page.at(-1)!)) : null
  return { items: page.map(toItem), next_cursor }
}
