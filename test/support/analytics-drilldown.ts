import assert from 'node:assert/strict'
import type { TestResponse } from './call.ts'

type Get = (path: string) => Promise<TestResponse>

/** Returns every count of an overview by its path, such as `channels.whatsapp.sent`. */
function countsByPath(overview: any): Map<string, number> {
  const result = new Map<string, number>()
  const put = (path: string, counts: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(counts))
      if (name !== 'average_seconds') result.set(`${path}.${name}`, value as number)
  }
  put('funnel', overview.funnel)
  for (const { channel, ...counts } of overview.channels) put(`channels.${channel}`, counts)
  for (const { step, ...counts } of overview.follow_ups) put(`follow_ups.${step}`, counts)
  put('calls', overview.calls)
  for (const { at, candidates } of overview.drop_offs) put('drop_offs', { [at]: candidates })
  for (const { language, ...counts } of overview.languages) put(`languages.${language}`, counts)
  for (const { date, ...counts } of overview.daily) put(`daily.${date}`, counts)
  return result
}

/** Reads all pages of the candidates behind one count. */
export async function listCounted(get: Get, counted: string, query = '', limit = 100): Promise<any[]> {
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
 * Asserts that each count of an overview is the sum of the candidates listed behind it, each listed once. Returns the number
 * of compared counts.
 */
export async function assertListsAddUp(get: Get, overview: any, query: string, limit = 100): Promise<number> {
  const found: Record<string, number> = {}
  const expected: Record<string, number> = {}
  let emptyCounts = 0
  for (const [path, value] of countsByPath(overview)) {
    // Compare only the first few counts of days without any change, to save requests.
    if (path.startsWith('daily.') && value === 0 && ++emptyCounts > 8) continue
    const items = await listCounted(get, path, query, limit)
    assert.equal(
      new Set(items.map(({ candidate_id }) => candidate_id)).size,
      items.length,
      `${path}: each candidate is listed once`,
    )
    found[path] = items.reduce((sum, { times }) => sum + times, 0)
    expected[path] = value
  }
  assert.deepEqual(found, expected, query)
  return Object.keys(expected).length
}
