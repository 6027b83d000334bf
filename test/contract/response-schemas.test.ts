import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Compile } from 'typebox/compile'
import { addSkill } from '../../server/catalogue/store.ts'
import { ADMIN_KEY, type StartAppOptions, startApp, type TestApp } from '../support/app.ts'
import { inviteCandidate } from '../support/candidate.ts'
import { signIn, signInMember } from '../support/console.ts'
import { aTestNumberCandidate, createCampaignPartner, createPartner, passTime } from '../support/partners.ts'
import { verificationCalls } from '../support/verification.ts'

/**
 * Compares every successful response with the response schema of its route; undeclared properties are errors. This is needed for
 * responses that are not serialized by their schema: prebuilt JSON of skills and lookups, the console, and the candidate page.
 */
function createResponseChecker() {
  const mismatches: string[] = []
  const checkedRoutes = new Set<string>()
  const validators = new Map<unknown, ReturnType<typeof Compile>>()
  const extend: StartAppOptions['extend'] = (app) => {
    app.addHook('onSend', async (request, reply, payload) => {
      const { method, url, schema } = request.routeOptions
      const declaredSchema = (schema?.response as Record<number, object> | undefined)?.[reply.statusCode]
      if (!declaredSchema) return
      const validator = validators.get(declaredSchema) ?? Compile(withoutExtraProperties(declaredSchema) as never)
      validators.set(declaredSchema, validator)
      const body: unknown = JSON.parse(decode(payload, reply.getHeader('content-encoding')))
      checkedRoutes.add(`${method} ${url}`)
      for (const { instancePath, message } of validator.Errors(body).slice(0, 3))
        mismatches.push(`${method} ${url} ${instancePath}: ${message}`)
    })
  }
  return { extend, mismatches, checkedRoutes }
}

/** Returns the text of a response body, which the console compresses. */
function decode(payload: unknown, encoding: unknown): string {
  if (encoding === 'br') return brotliDecompressSync(payload as Buffer).toString()
  return encoding === 'gzip' ? gunzipSync(payload as Buffer).toString() : String(payload)
}

/** Returns a copy of a schema that rejects properties that are not declared. */
function withoutExtraProperties(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutExtraProperties)
  if (node === null || typeof node !== 'object') return node
  const copy: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(node)) {
    copy[key] =
      key === 'properties'
        ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutExtraProperties(each)]))
        : withoutExtraProperties(value)
  }
  const { type, additionalProperties, patternProperties } = copy
  if (type === 'object' && additionalProperties === undefined && !patternProperties) copy.additionalProperties = false
  return copy
}

/** Adds skills whose JSON needs escaping, with and without values in the optional fields. */
async function addSkills({ context, clock }: TestApp) {
  const sharedFields = { subNumber: 201, source: 'csv' as const, description: '', aliases: [] }
  const skillWithAllFields = {
    name: 'Schweißen "MAG" \\ 焊接',
    description: 'Line 1\nLine 2 – तार',
    aliases: ['वेल्डिंग', 'Tab\there'],
    verifiable: true,
  }
  await context.db.transaction(async (tx) => {
    await addSkill(tx, clock, { ...sharedFields, ...skillWithAllFields, sourceId: 'schema-1' })
    await addSkill(tx, clock, { ...sharedFields, name: 'Zzyzx tying', sourceId: 'schema-2' })
  })
  await context.catalogue.refresh()
}

async function expectStatus(response: Promise<{ status: number; body: any }>, status = 200) {
  const { status: actual, body } = await response
  assert.equal(actual, status, JSON.stringify(body))
  return body
}

test('prebuilt JSON responses match their schemas', async (t) => {
  const { extend, mismatches, checkedRoutes } = createResponseChecker()
  const app = await startApp(t, { extend, config: { trustProxy: ['127.0.0.1'] } })
  await addSkills(app)
  const { get } = await createPartner(app)

  const searchResponse = await expectStatus(get(`/skills/search?q=${encodeURIComponent('Schweißen')}`))
  assert.equal(searchResponse.data.items[0].name, 'Schweißen "MAG" \\ 焊接')
  assert.ok((await expectStatus(get('/skills/search?q=zzyzx'))).data.items.length > 0)
  const firstPage = await expectStatus(get('/skills/search?q=welding&limit=1'))
  assert.notEqual(firstPage.data.next_cursor, null)
  await expectStatus(get(`/skills/search?q=welding&limit=1&cursor=${firstPage.data.next_cursor}`))
  assert.deepEqual((await expectStatus(get('/skills/search?q=qqqqqqqqqq'))).data, { items: [], next_cursor: null })
  for (const path of [
    '/skills?limit=3',
    '/skills?sub_skill_id=ss_201&limit=100',
    '/skills?master_skill_id=ms_999999999',
    '/locations?q=pune',
    '/locations?q=qqqqqqqq',
    '/countries',
    '/employment-types',
    '/shifts',
  ])
    await expectStatus(get(path))

  let address = 0
  const getFromVisitor = (path: string) =>
    expectStatus(app.fetch(path, { headers: { 'x-forwarded-for': `198.51.100.${++address}`, 'x-api-key': ADMIN_KEY } }))
  const publicSearchResponse = await getFromVisitor(`/api/skills/search?keyword=${encodeURIComponent('Schweißen')}`)
  assert.equal(publicSearchResponse.data[0].skill_name, 'Schweißen "MAG" \\ 焊接')
  assert.equal((await getFromVisitor('/api/skills/search?keyword=qqqqqqqqqq')).count, 0)
  for (const path of [
    '/api/skills/search?keyword=welding&page=2&limit=1',
    '/api/skills?limit=50',
    '/api/skills?sub_skill_id=ss_201&page=2&limit=1',
    '/api/skills?master_skill_id=ms_999999999',
  ])
    await getFromVisitor(path)

  assert.deepEqual(mismatches, [])
  assert.equal(checkedRoutes.size, 8)
})

test('responses of the console and the candidate page match their schemas', async (t) => {
  const { extend, mismatches, checkedRoutes } = createResponseChecker()
  const app = await startApp(t, { extend })
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate({ name: 'Site hiring', channels: ['sms'] })
  await partner.createCampaign(
    mandate_id,
    [aTestNumberCandidate(1), aTestNumberCandidate(2), aTestNumberCandidate(5), aTestNumberCandidate(8)],
    { name: 'April' },
  )
  await passTime(app, 4000)
  await expectStatus(partner.post('/workflows', { nome: 'x' }), 400)
  await expectStatus(partner.post('/skill-requests', { name: 'Kite flying', context: 'For a festival' }), 201)
  const calls = verificationCalls(app, partner.orgId, await app.fixtures.createSessionKey(partner.orgId, 'test'))
  await calls.requestReview()

  const owner = await signInMember(app, partner.orgId, 'owner')
  const orgPath = `/orgs/${partner.orgId}`
  for (const path of [
    '/sign-in',
    '/session',
    '/scopes',
    '/event-types',
    orgPath,
    `${orgPath}/members`,
    `${orgPath}/audit`,
  ])
    await expectStatus(owner.get(path))
  const created = await expectStatus(owner.post(`${orgPath}/test/keys`, { kind: 'partner' }), 201)
  const { key_id } = created.data
  await expectStatus(owner.post(`${orgPath}/test/keys`, { kind: 'session' }), 201)
  await expectStatus(owner.get(`${orgPath}/test/keys/${key_id}/limits`))
  await expectStatus(owner.post(`${orgPath}/test/keys/${key_id}/rotate`, {}))
  await expectStatus(owner.post(`${orgPath}/test/keys/${key_id}/revoke`))
  const listNames = ['keys', 'summary', 'requests', 'recruiter-results', 'phone', 'verifications']
  const dataByList: Record<string, any> = {}
  for (const path of listNames) dataByList[path] = (await expectStatus(owner.get(`${orgPath}/test/${path}`))).data
  for (const { candidate_id } of dataByList.phone.items) {
    await expectStatus(owner.get(`${orgPath}/test/candidates/${candidate_id}`))
    await expectStatus(owner.get(`${orgPath}/test/phone/${candidate_id}`))
  }
  const { verification_id } = dataByList.verifications.items[0]
  await expectStatus(owner.get(`${orgPath}/test/verifications/${verification_id}`))

  const operator = await signIn(app)
  for (const path of [
    '/session',
    '/operator/orgs',
    '/operator/service',
    '/operator/audit',
    '/operator/now',
    '/operator/queues',
    '/operator/jobs?state=waiting',
    '/operator/limits',
    '/operator/mail-filters',
    '/operator/skill-requests',
    '/operator/catalogue',
    '/operator/catalogue/sub-skills?q=wiring',
    '/operator/catalogue/imports',
    '/operator/catalogue/skills?q=wiring',
    '/operator/catalogue/skills/sk_1001',
    '/operator/catalogue/skills/sk_1001/use',
    '/operator/catalogue/groups?level=sub_skill',
    '/operator/catalogue/groups?level=master_skill',
  ])
    await expectStatus(operator.get(path))
  await expectStatus(operator.post(`/operator${orgPath}/credits`, { mode: 'test', amount: 5 }))
  await expectStatus(operator.post('/operator/orgs', { name: 'Another' }), 201)
  const emails = (await expectStatus(operator.get('/operator/mails'))).data.items
  for (const { mail_id } of emails) await expectStatus(operator.get(`/operator/mails/${mail_id}`))
  const [request] = (await expectStatus(operator.get('/operator/skill-requests'))).data.items
  await expectStatus(operator.post(`/operator/skill-requests/${request.request_id}/reject`))

  const { token } = await inviteCandidate(app)
  const candidatePath = `/api/v1/candidate/${token}`
  const candidateView = (await expectStatus(app.fetch(candidatePath))).data
  const send = (path: string, body: object) =>
    expectStatus(
      app.fetch(candidatePath + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  await send('/reply', { step: candidateView.step, value: 'yes', client_id: 'one', have: 0 })
  await send('/language', { language: 'hi' })

  assert.deepEqual(mismatches, [])
  const checkedPageRoutes = [...checkedRoutes].filter((route) => /\/(console|candidate)\//.test(route))
  assert.ok(checkedPageRoutes.length >= 36, `${checkedPageRoutes.length} routes checked`)
})
