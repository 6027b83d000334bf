import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setLimits } from '../../server/access/key-limits.ts'
import type { BucketName } from '../../server/access/limits/table.ts'
import { rejectRequest } from '../../server/catalogue/skill-requests.ts'
import { eventTypes } from '../../server/events/types.ts'
import { openPreparer } from '../../server/mandates/preparation.ts'
import { openWriter } from '../../server/questions/questions.ts'
import { startAiEndpoint } from '../support/ai-endpoint.ts'
import { aMandate, prepareMandates, startApp, type TestApp, type TestKey } from '../support/app.ts'
import type { Answer, Call } from '../support/call.ts'
import { campaigner, pass, player } from '../support/campaigns.ts'
import { callsOf, ok } from '../support/verification.ts'

const reference = readFileSync(new URL('../../docs/reference/events.md', import.meta.url), 'utf8')

/** Every type of event, made as partners, candidates, students and reviewers make it, and read as a partner reads it. */
async function oneOfEach(t: TestContext): Promise<Map<string, object>> {
  const app = await startApp(t)
  const caller = await campaigner(app)
  await raise(app, caller.key, 'workflowWrites', 'mandateWrites', 'skillRequests')
  const workflow_id = (await accepted(caller.post('/workflows', { name: 'Site hiring' }))).workflow_id
  const { mandate_id } = await accepted(caller.post('/mandates', aMandate(workflow_id)))
  await prepareMandates(app.context)
  await caller.campaign(mandate_id, [player(1), player(5), player(6)])
  await pass(app, 10_000)
  await failToPrepare(t, app, caller.post, workflow_id)
  const { request_id } = await accepted(caller.post('/skill-requests', { name: 'Dhokra casting' }))
  await app.context.db.transaction((tx) => rejectRequest(tx, app.clock, request_id))
  const { webhook_id } = await accepted(caller.post('/webhooks', { url: 'https://hooks.example.com/attestry' }))
  await accepted(caller.post(`/webhooks/${webhook_id}/test`))
  await verifyStudents(app, caller.orgId)

  const found = new Map<string, object>()
  for (const key of [caller.key, await app.given.key(caller.orgId)]) {
    const { items } = await accepted(app.as(key).get('/events?acknowledged=all&limit=100'))
    for (const { delivery: _, ...event } of items) found.set(event.type, event)
  }
  return found
}

/** A real call of the AI endpoint, which refuses it. */
async function failToPrepare(t: TestContext, { context }: TestApp, post: Call, workflow_id: string) {
  const { baseUrl } = await startAiEndpoint(t, (_call, response) => void response.writeHead(401).end('{}'))
  const skills = [{ skill_id: 'sk_1001', verify: true }]
  await accepted(post('/mandates', { workflow_id, title: 'Mason', company_name: 'Metro', skills }))
  const writer = openWriter({ baseUrl, apiKey: 'expired', model: 'any' }, context)
  await openPreparer({ ...context, writer }).settle()
}

async function verifyStudents(app: TestApp, orgId: string) {
  const calls = callsOf(app, orgId, await app.given.sessionKey(orgId))
  const skills = ['sk_1001', 'sk_1016']
  const reviewed = await calls.requested({ skills })
  const decisions = [
    { skillId: skills[0], endorsed: true, rating: 4 },
    { skillId: skills[1], endorsed: false },
  ]
  await ok(calls.submitReview(reviewed.session, reviewed.token, { decisions }))
  const declined = await calls.requested({ skills, student: { externalStudentId: 'stu-2' } })
  await ok(calls.submitReview(declined.session, declined.token, { declined: true, reason: 'No time' }))
  await ok(calls.generate(await calls.prepared('assessment', { student: { externalStudentId: 'stu-3' } })))
}

async function raise({ context }: TestApp, { keyId }: TestKey, ...buckets: BucketName[]) {
  const rates = { rate: 10_000, burst: 10_000, minute: 100_000, day: 1_000_000 }
  await context.db.transaction(async (tx) => {
    for (const bucket of buckets) await setLimits(tx, keyId, { bucket, rates })
  })
  await context.keyring.refresh()
}

async function accepted(answer: Promise<Answer>): Promise<any> {
  const { status, body } = await answer
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`)
  return body.data
}

function examples(): Map<string, object> {
  const section = reference.slice(reference.indexOf('\n## Examples\n'))
  const all = [...section.matchAll(/^### `([a-z_.]+)`\n\n```json\n(.*?)^```$/gms)]
  return new Map(all.map(([, type, text]) => [type!, JSON.parse(text!)]))
}

/** Properties that have one of a few values, which the reader of an example takes at its word. */
const WORDS = new Set(['type', 'mode', 'status', 'reason', 'created_via', 'verificationMethod', 'outcome', 'verdict'])

/** What a value is made of: names, types, the prefixes of ids; of a list, all that its entries have. */
function shape(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return [value.map((entry) => shape(entry)).reduce(union, undefined)]
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shape(inner, key)]))
  if (typeof value !== 'string') return value === null ? 'null' : typeof value
  if (WORDS.has(name)) return value
  if (/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/.test(value)) return 'a time'
  return /^((WF_)?[A-Z]{2}_)[A-Z0-9]{26}$/.exec(value)?.[1] ?? (/^s[ks]_\d+$/.test(value) ? 'a skill' : 'string')
}

function union(one: any, other: any): unknown {
  const objects = [one, other].every((each) => each !== null && typeof each === 'object' && !Array.isArray(each))
  if (!objects) return one === undefined || JSON.stringify(one) === JSON.stringify(other) ? other : `${one} or ${other}`
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return Object.fromEntries(
    names.map((key) => [key, key in one && key in other ? union(one[key], other[key]) : (one[key] ?? other[key])]),
  )
}

test('events.md shows every type of event as it is', async (t) => {
  const [shown, made] = [examples(), await oneOfEach(t)]
  assert.deepEqual([...shown.keys()].sort(), [...eventTypes].sort(), 'an example of each')
  assert.deepEqual([...made.keys()].sort(), [...eventTypes].sort(), 'each was made')
  for (const type of eventTypes) {
    await t.test(type, () => assert.deepEqual(shape(shown.get(type)), shape(made.get(type))))
  }
})
