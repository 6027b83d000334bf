import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import type { Vault } from '../platform/vault.ts'

/**
 * One page of a list: `find` is asked for one row more than there is room for, which tells whether another page follows.
 * `list` names the list and whatever narrows it, so that a cursor fits no other.
 */
export async function pageOf<Row, Position, Item>(
  vault: Vault,
  list: string,
  { limit, cursor }: { limit: number; cursor?: string },
  find: (after: Position | undefined, limit: number) => Promise<Row[]>,
  positionOf: (row: Row) => Position,
  show: (row: Row) => Item,
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const found = await find(readCursor<Position>(vault, list, cursor), limit + 1)
  const page = found.slice(0, limit)
  const next_cursor = found.length > limit ? writeCursor(vault, list, positionOf(page.at(-1)!)) : null
  return { items: page.map(show), next_cursor }
}
