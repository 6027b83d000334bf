import assert from 'node:assert/strict'
import type { Answer } from './call.ts'

type Get = (path: string) => Promise<Answer>

/** Every number of an overview by its path. */
export function numbersIn(overview: any): Map<string, number> {
  const numbers = new Map<string, number>()
  const put = (path: string, counts: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(counts))
      if (name !== 'average_seconds') numbers.set(`${path}.${name}`, value as number)
  }
  put('funnel', overview.funnel)
  for (const { channel, ...counts } of overview.channels) put(`channels.${channel}`, counts)
  for (const { step, ...counts } of overview.follow_ups) put(`follow_ups.${step}`, counts)
  put('calls', overview.calls)
  for (const { at, candidates } of overview.drop_offs) put('drop_offs', { [at]: candidates })
  for (const { language, ...counts } of overview.languages) put(`languages.${language}`, counts)
  for (const { date, ...counts } of overview.daily) put(`daily.${date}`, counts)
  return numbers
}

/** The whole list behind a number, page by page. */
export async function listBehind(get: Get, counted: string, query = '', limit = 100): Promise<any[]> {
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

/** Each number is the sum of the list behind it, in which nobody stands twice. Answers how many numbers were compared. */
export async function assertTraced(get: Get, overview: any, query: string, limit = 100): Promise<number> {
  const found: Record<string, number> = {}
  const wanted: Record<string, number> = {}
  let quietDays = 0
  for (const [path, value] of numbersIn(overview)) {
    // Of days on which nothing happened two are enough.
    if (path.startsWith('daily.') && value === 0 && ++quietDays > 8) continue
    const items = await listBehind(get, path, query, limit)
    assert.equal(new Set(items.map(({ candidate_id }) => candidate_id)).size, items.length, `${path}: each once`)
    found[path] = items.reduce((sum, { times }) => sum + times, 0)
    wanted[path] = value
  }
  assert.deepEqual(found, wanted, query)
  return Object.keys(wanted).length
}
