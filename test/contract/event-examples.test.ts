import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { contactNow } from '../../server/campaigns/contact/engine.ts'
import { rejectRequest } from '../../server/catalogue/skill-requests.ts'
import { issueDueCredentials } from '../../server/credentials/engine.ts'
import { eventTypes } from '../../server/events/types.ts'
import { updateItemStatistics } from '../../server/items/statistics-job.ts'
import { openPreparer } from '../../server/mandates/preparation.ts'
import { HOUR } from '../../server/platform/clock.ts'
import { loadBank } from '../../server/questions/bank/bank.ts'
import { openWriter } from '../../server/questions/open-writer.ts'
import { storeExpiredStatuses } from '../../server/verification/jobs.ts'
import { startAiEndpoint } from '../support/ai-endpoint.ts'
import { aMandate, prepareMandates, startApp, type TestApp } from '../support/app.ts'
import type { Call, TestResponse } from '../support/call.ts'
import { type Cleanup, oncePerFile } from '../support/cleanup.ts'
import { decide } from '../support/issued-credentials.ts'
import { insertResponses } from '../support/item-responses.ts'
import { aCandidate, aTestNumberCandidate, createCampaignPartner, passTime } from '../support/partners.ts'
import { expectOk, verificationCalls } from '../support/verification.ts'

const referenceText = readFileSync(new URL('../../docs/reference/events.md', import.meta.url), 'utf8')

/** Causes an event of every type through the APIs, and returns the events that a partner reads, by type. */
async function recordOneOfEachType(t: Cleanup): Promise<Map<string, object>> {
  const app = await startApp(t)
  const caller = await createCampaignPartner(app)
  const workflow_id = (await expectData(caller.post('/workflows', { name: 'Site hiring' }))).workflow_id
  const { mandate_id } = await expectData(caller.post('/mandates', aMandate(workflow_id)))
  await prepareMandates(app.context)
  await caller.createCampaign(mandate_id, [aTestNumberCandidate(1), aTestNumberCandidate(5), aTestNumberCandidate(6)])
  await passTime(app, 10_000)
  await failPreparation(t, app, caller.post, workflow_id)
  await retireItem(app, caller.orgId)
  const { request_id } = await expectData(caller.post('/skill-requests', { name: 'Dhokra casting' }))
  await app.context.db.transaction((tx) => rejectRequest(tx, app.clock, request_id))
  const { webhook_id } = await expectData(caller.post('/webhooks', { url: 'https://hooks.example.com/attestry' }))
  await expectData(caller.post(`/webhooks/${webhook_id}/test`))
  await verifyStudents(app, caller.orgId)
  await erasePerson(caller, aTestNumberCandidate(6).phone)

  const eventsByType = new Map<string, object>()
  for (const key of [caller.key, await app.fixtures.createPartnerKey(caller.orgId)]) {
    const { items } = await expectData(app.as(key).get('/events?acknowledged=all&limit=100'))
    for (const { delivery: _, ...event } of items) eventsByType.set(event.type, event)
  }
  eventsByType.set('campaign.paused', await reachSpendCap(app))
  return eventsByType
}

/** Contacts a LIVE candidate of a campaign that may not spend anything, and returns the event that it was paused. */
async function reachSpendCap(app: TestApp): Promise<object> {
  const { createMandate, createCampaign, get } = await createCampaignPartner(app, { mode: 'live' })
  const { mandate_id } = await createMandate({ channels: ['whatsapp'] })
  app.clock.set('2026-03-13T06:30:00.000Z')
  await createCampaign(mandate_id, [aCandidate(1)], { spend_cap: 0 })
  await contactNow(app.context)
  const { items } = await expectData(get('/events?types=campaign.paused'))
  const [{ delivery: _, ...event }] = items
  return event
}

/** Makes the preparation of a mandate fail: the AI endpoint rejects the key. */
async function failPreparation(t: Cleanup, { context }: TestApp, post: Call, workflow_id: string) {
  const { baseUrl } = await startAiEndpoint(t, (_call, response) => void response.writeHead(401).end('{}'))
  const skills = [{ skill_id: 'sk_1001', verify: true }]
  await expectData(post('/mandates', { workflow_id, title: 'Mason', company_name: 'Metro', skills }))
  const writer = openWriter({ baseUrl, apiKey: 'expired', model: 'any' }, context)
  await openPreparer({ ...context, writer }).prepareAll()
}

/** Makes able people choose a distractor of an item that the mandate asks. */
async function retireItem(app: TestApp, orgId: string) {
  const [item] = (await loadBank()).itemsOf(2001)
  await insertResponses(app, { orgId, itemId: item!.id, skillNumber: 2001, count: 150, pattern: 'miskeyed' })
  await updateItemStatistics(app.context)
}

async function erasePerson({ get, post }: { get: Call; post: Call }, phone: string) {
  const { items } = await expectData(get(`/people?phone=${encodeURIComponent(phone)}`))
  const reason = { basis: 'GDPR Article 17(1)(b)', requested_by: 'data subject' }
  await expectData(post(`/people/${items[0].person_id}/erase`, reason))
}

async function verifyStudents(app: TestApp, orgId: string) {
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const skills = ['sk_1001', 'sk_1016']
  const reviewToSubmit = await calls.requestReview({ skills })
  await expectOk(decide(calls, reviewToSubmit.session, { wanted: true }))
  const decisions = [
    { skillId: skills[0], endorsed: true, rating: 4 },
    { skillId: skills[1], endorsed: false },
  ]
  await expectOk(calls.submitReview(reviewToSubmit.session, reviewToSubmit.token, { decisions }))
  await issueDueCredentials(app.context)
  const [credential] = (await calls.getVerification(reviewToSubmit.session)).credentials
  const { post } = app.as(await app.fixtures.createPartnerKey(orgId))
  await expectData(post(`/credentials/${credential.credentialId}/revoke`, { reason: 'endorsement_withdrawn' }))
  const reviewToDecline = await calls.requestReview({ skills, student: { externalStudentId: 'stu-2' } })
  await expectOk(
    calls.submitReview(reviewToDecline.session, reviewToDecline.token, { declined: true, reason: 'No time' }),
  )
  await expectOk(
    calls.generateAssessment(
      await calls.openPreparedSession('assessment', { student: { externalStudentId: 'stu-3' } }),
    ),
  )
  const failing = await calls.openPreparedSession('assessment', { student: { externalStudentId: 'stu-4' } })
  for (let attempt = 0; attempt < 3; attempt++) {
    await expectOk(calls.generateAssessment(failing))
    await expectOk(calls.submitAnswers(failing, []))
  }
  await calls.openPreparedSession('human', { student: { externalStudentId: 'stu-5' } })
  app.clock.advance(25 * HOUR)
  await storeExpiredStatuses(app.context)
}

/** Awaits a successful response and returns its data. */
async function expectData(response: Promise<TestResponse>): Promise<any> {
  const { status, body } = await response
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`)
  return body.data
}

function readExamples(): Map<string, object> {
  const section = referenceText.slice(referenceText.indexOf('\n## Examples\n'))
  const matches = [...section.matchAll(/^### `([a-z_.]+)`\n\n```json\n(.*?)^```$/gms)]
  return new Map(matches.map(([, type, text]) => [type!, JSON.parse(text!)]))
}

/** Properties whose values in an example must equal those of a real event. */
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

/** Describes a value by property names, types and ID prefixes. A list is described by the merged shapes of its entries. */
function describeShape(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return [value.map((entry) => describeShape(entry)).reduce(mergeShapes, undefined)]
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, describeShape(inner, key)]))
  if (typeof value !== 'string') return value === null ? 'null' : typeof value
  if (ENUM_PROPERTIES.has(name)) return value
  if (/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/.test(value)) return 'a time'
  return /^((WF_)?[A-Z]{2}_)[A-Z0-9]{26}$/.exec(value)?.[1] ?? (/^s[ks]_\d+$/.test(value) ? 'a skill' : 'string')
}

function mergeShapes(first: any, second: any): unknown {
  const areObjects = [first, second].every((each) => each !== null && typeof each === 'object' && !Array.isArray(each))
  if (!areObjects)
    return first === undefined || JSON.stringify(first) === JSON.stringify(second) ? second : `${first} or ${second}`
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])]
  return Object.fromEntries(
    names.map((key) => [
      key,
      key in first && key in second ? mergeShapes(first[key], second[key]) : (first[key] ?? second[key]),
    ]),
  )
}

const examplesByType = readExamples()
const getRecordedEvents = oncePerFile(recordOneOfEachType)

const description = JSON.parse(readFileSync(new URL('../../openapi/partner.json', import.meta.url), 'utf8'))
const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }))
ajv.addSchema(description, 'partner')

/** Throws unless an event is valid under the schema of the webhook of its type in the OpenAPI description. */
function assertMatchesWebhook(type: string, event: object): void {
  const { schema } = description.webhooks[type].post.requestBody.content['application/json']
  const validate = ajv.compile({ $ref: `partner${schema.$ref}` })
  assert.ok(validate(event), `${type}: ${ajv.errorsText(validate.errors)}`)
}

test('events.md has an example of every event type', () => {
  assert.deepEqual([...examplesByType.keys()].sort(), [...eventTypes].sort())
})

for (const type of eventTypes) {
  test(`the example of ${type} in events.md has the properties of a real event`, async () => {
    const recordedEvents = await getRecordedEvents()
    assert.ok(recordedEvents.has(type), `${type} was recorded`)
    assert.deepEqual(describeShape(examplesByType.get(type)), describeShape(recordedEvents.get(type)))
    assertMatchesWebhook(type, recordedEvents.get(type)!)
    assertMatchesWebhook(type, examplesByType.get(type)!)
    const { example } = description.webhooks[type].post.requestBody.content['application/json']
    assert.deepEqual(example, examplesByType.get(type), 'the OpenAPI description shows the same example')
  })
}
