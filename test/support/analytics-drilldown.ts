import assert from 'node:assert/strict'
import type { TestResponse } from './call.ts'

type GetCall = (path: string) => Promise<TestResponse>

/** Returns every count of an overview by its path, such as `channels.whatsapp.sent`. */
function countsByPath(overview: any): Map<string, number> {
  const result = new Map<string, number>()
  const addCounts = (path: string, counts: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(counts))
      if (name !== 'average_seconds') result.set(`${path}.${name}`, value as number)
  }
  addCounts('funnel', overview.funnel)
  for (const { channel, ...counts } of overview.channels) addCounts(`channels.${channel}`, counts)
  for (const { step, ...counts } of overview.follow_ups) addCounts(`follow_ups.${step}`, counts)
  addCounts('calls', overview.calls)
  for (const { at, candidates } of overview.drop_offs) addCounts('drop_offs', { [at]: candidates })
  for (const { language, ...counts } of overview.languages) addCounts(`languages.${language}`, counts)
  for (const { date, ...counts } of overview.daily) addCounts(`daily.${date}`, counts)
  return result
}

/** Reads all pages of the list of candidates behind one count. */
export async function listCountedCandidates(get: GetCall, counted: string, query = '', limit = 100): Promise<any[]> {
  const items: any[] = []
  let cursor = ''
  do {
    const { status, body } = await get(`/analytics/candidates?counted=${counted}&${query}&limit=${limit}${cursor}`)
    assert.equal(status, 200, `${counted}: ${JSON.stringify(body)}`)
    assert.ok(body.data.items.length <= limit)
    items.push(...body.data.items)
    cursor = body.data.next_cursor === null ? '' : `&cursor=${body.data.next_cursor}`
  } while (cursor)
  return items
}

/**
 * Asserts that each count of an overview equals the total of its list of candidates, and that no candidate is listed twice.
 * Returns the number of compared counts.
 */
export async function assertListsAddUp(get: GetCall, overview: any, query: string, limit = 100): Promise<number> {
  const listedCounts: Record<string, number> = {}
  const expectedCounts: Record<string, number> = {}
  let emptyCounts = 0
  for (const [path, value] of countsByPath(overview)) {
    // Compare only the first few daily counts that are 0, to save requests.
    if (path.startsWith('daily.') && value === 0 && ++emptyCounts > 8) continue
    const items = await listCountedCandidates(get, path, query, limit)
    assert.equal(
      new Set(items.map(({ candidate_id }) => candidate_id)).size,
      items.length,
      `${path}: each candidate is listed once`,
    )
    listedCounts[path] = items.reduce((sum, { times }) => sum + times, 0)
    expectedCounts[path] = value
  }
  assert.deepEqual(listedCounts, expectedCounts, query)
  return Object.keys(expectedCounts).length
}
