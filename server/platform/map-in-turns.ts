import { setImmediate as nextTurn } from 'node:timers/promises'

const ITEMS_PER_TURN = 50

/**
 * Maps items like `Array.map`, but lets other work run between groups of items. Start a statement before, so that the database executes it
 * at the same time: `Promise.all([statement, mapInTurns(…)])`.
 */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [index, item] of items.entries()) {
    if (index % ITEMS_PER_TURN === 0) await nextTurn()
    results.push(map(item, index))
  }
  return results
}
