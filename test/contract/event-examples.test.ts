import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { rejectRequest } from '../../server/catalogue/skill-requests.ts'
import { eventTypes } from '../../server/events/types.ts'
import { openPreparer } from '../../server/mandates/preparation.ts'
import { openWriter } from '../../server/questions/open-writer.ts'
import { startAiEndpoint } from '../support/ai-endpoint.ts'
import { aMandate, prepareMandates, startApp, type TestApp } from '../support/app.ts'
import type { Call, TestResponse } from '../support/call.ts'
import { type Cleanup, oncePerFile } from '../support/cleanup.ts'
import { campaignPartner, passTime, testNumber } from '../support/partners.ts'
import { expectOk, verificationCalls } from '../support/verification.ts'

const reference = readFileSync(new URL('../../docs/reference/events.md', import.meta.url), 'utf8')

/** Causes an event of every type through the APIs and reads the events as a partner. */
async function recordOneOfEachType(t: Cleanup): Promise<Map<string, object>> {
  const app = await startApp(t)
  const caller = await campaignPartner(app)
  const workflow_id = (await accepted(caller.post('/workflows', { name: 'Site hiring' }))).workflow_id
  const { mandate_id } = await accepted(caller.post('/mandates', aMandate(workflow_id)))
  await prepareMandates(app.context)
  await caller.campaign(mandate_id, [testNumber(1), testNumber(5), testNumber(6)])
  await passTime(app, 10_000)
  await failPreparation(t, app, caller.post, workflow_id)
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

/** Lets the preparation of a mandate fail, because the AI endpoint rejects the key. */
async function failPreparation(t: Cleanup, { context }: TestApp, post: Call, workflow_id: string) {
  const { baseUrl } = await startAiEndpoint(t, (_call, response) => void response.writeHead(401).end('{}'))
  const skills = [{ skill_id: 'sk_1001', verify: true }]
  await accepted(post('/mandates', { workflow_id, title: 'Mason', company_name: 'Metro', skills }))
  const writer = openWriter({ baseUrl, apiKey: 'expired', model: 'any' }, context)
  await openPreparer({ ...context, writer }).prepareAll()
}

async function verifyStudents(app: TestApp, orgId: string) {
  const calls = verificationCalls(app, orgId, await app.given.sessionKey(orgId))
  const skills = ['sk_1001', 'sk_1016']
  const reviewed = await calls.requestReview({ skills })
  const decisions = [
    { skillId: skills[0], endorsed: true, rating: 4 },
    { skillId: skills[1], endorsed: false },
  ]
  await expectOk(calls.submitReview(reviewed.session, reviewed.token, { decisions }))
  const declined = await calls.requestReview({ skills, student: { externalStudentId: 'stu-2' } })
  await expectOk(calls.submitReview(declined.session, declined.token, { declined: true, reason: 'No time' }))
  await expectOk(
    calls.generateAssessment(
      await calls.openPreparedSession('assessment', { student: { externalStudentId: 'stu-3' } }),
    ),
  )
}

/** Awaits a successful response and returns its data. */
async function accepted(response: Promise<TestResponse>): Promise<any> {
  const { status, body } = await response
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`)
  return body.data
}

function examples(): Map<string, object> {
  const section = reference.slice(reference.indexOf('\n## Examples\n'))
  const all = [...section.matchAll(/^### `([a-z_.]+)`\n\n```json\n(.*?)^```$/gms)]
  return new Map(all.map(([, type, text]) => [type!, JSON.parse(text!)]))
}

/** Properties whose exact value readers of an example rely on. */
const ENUM_PROPERTIES = new Set([
  'type',
  'mode',
  'status',
  'reason',
  'created_via',
  'verificationMethod',
  'outcome',
  'verdict',
])

/** Describes a value by property names, types and prefixes of ids; a list by the union of its entries. */
function shape(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return [value.map((entry) => shape(entry)).reduce(union, undefined)]
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shape(inner, key)]))
  if (typeof value !== 'string') return value === null ? 'null' : typeof value
  if (ENUM_PROPERTIES.has(name)) return value
  if (/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/.test(value)) return 'a time'
  return /^((WF_)?[A-Z]{2}_)[A-Z0-9]{26}$/.exec(value)?.[1] ?? (/^s[ks]_\d+$/.test(value) ? 'a skill' : 'string')
}

function union(one: any, other: any): unknown {
  const areObjects = [one, other].every((each) => each !== null && typeof each === 'object' && !Array.isArray(each))
  if (!areObjects)
    return one === undefined || JSON.stringify(one) === JSON.stringify(other) ? other : `${one} or ${other}`
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return Object.fromEntries(
    names.map((key) => [key, key in one && key in other ? union(one[key], other[key]) : (one[key] ?? other[key])]),
  )
}

const shown = examples()
const getRecordedEvents = oncePerFile(recordOneOfEachType)

test('events.md has an example of every event type', () => {
  assert.deepEqual([...shown.keys()].sort(), [...eventTypes].sort())
})

for (const type of eventTypes) {
  test(`the example of ${type} in events.md has the properties of a real event`, async () => {
    const recorded = await getRecordedEvents()
    assert.ok(recorded.has(type), `${type} was recorded`)
    assert.deepEqual(shape(shown.get(type)), shape(recorded.get(type)))
  })
}
