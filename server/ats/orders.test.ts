import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { SimulatedOrder } from '../../cli/simulated-ats/simulated-ats.ts'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { aPerson, connectAts, startAts, startReports } from '../../test/support/ats/connection.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { signInMember } from '../../test/support/console.ts'
import { createCampaignPartner, passTime } from '../../test/support/partners.ts'
import { TWILIO } from '../../test/support/provider.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import { until } from '../../test/support/until.ts'
import { findCandidacy } from '../campaigns/candidacy.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { recordOptOut } from '../campaigns/contact/opt-outs.ts'
import { saveCredentials } from '../channels/credentials.ts'
import { changePrivacySettings } from '../notices/settings.ts'
import { MINUTE } from '../platform/clock.ts'
import { type AdapterName, adapterNames } from './adapter.ts'
import { adapters } from './adapters.ts'
import { findOrderById } from './orders.ts'

const getApp = oncePerFile((t) => startApp(t))
const keyAdapters = ['greenhouse', 'ashby', 'workable'] as const

function isSigned(adapter: AdapterName): boolean {
  return adapters[adapter].verifySignature !== undefined
}

for (const adapter of adapterNames) {
  test(`${adapter}: an order is enrolled, assessed and reported`, async (t) => {
    const app = await getApp()
    startReports(t, app)
    const { ats, partner } = await startAts(t, app, adapter)
    const { mandate_id } = await partner.createMandate()

    await until(async () => {
      if (adapters[adapter].buildTestList) app.clock.advance(MINUTE)
      return (await ats.listTests()).length > 0
    })
    assert.deepEqual(await ats.listTests(), [{ id: mandate_id, name: 'Electrician, Metro Ltd' }])
    const order = await ats.order('order-1', mandate_id, aPerson(1))
    assert.equal(order.status, 200, order.message)
    await passTime(app, 10_000)
    await until(() => /^complete/i.test(order.state))

    const { body } = await partner.get('/results')
    assert.equal(body.data.items[0].status, 'completed')
    assert.equal(body.data.items[0].candidate.metadata.ats_order_id, order.assessmentId)
    assert.match(JSON.stringify(order.result), /Qualified. 3 of 3 skills verified/)
    assert.match(JSON.stringify(order.result), /"(partner_score|value|score)":100/)

    const undecided = await ats.order('order-2', mandate_id, aPerson(2, 11))
    await passTime(app, 20_000)
    await until(() => /^complete/i.test(undecided.state))
    const report = JSON.stringify(undecided.result)
    assert.match(report, /Undecided: .+ inconclusive \(\d of 8 correct\)/)
    assert.match(report, /inconclusive: not enough evidence \(\d of 8 correct\)/)
    assert.doesNotMatch(
      report,
      /"(partner_score|score)":\d|"numeric_score"/,
      'the score would be that of a failed candidate',
    )
    assert.deepEqual(ats.violations, [])
  })

  test(`${adapter}: an order that is sent again enrols and charges once`, async (t) => {
    const app = await getApp()
    const { ats, partner } = await startAts(t, app, adapter)
    const { mandate_id } = await partner.createMandate()

    const orders = await Promise.all(Array.from({ length: 5 }, () => ats.order('order-1', mandate_id, aPerson(1, 6))))

    assert.equal(new Set(orders.map(({ assessmentId }) => assessmentId)).size, 1)
    assert.equal((await partner.get('/credits')).body.data.balance, 999)
    assert.deepEqual(ats.violations, [])
  })

  test(`${adapter}: rejected orders cost nothing and state the reason`, async (t) => {
    const app = await getApp()
    startReports(t, app)
    const { ats, partner } = await startAts(t, app, adapter, { partner: { credits: 1 } })
    const checkRejection = async (order: SimulatedOrder, status: number, message: RegExp) => {
      // The message is in the response or, if the ATS does not show that, in a report.
      assert.equal(order.status, isSigned(adapter) ? 200 : status, order.message)
      await until(() => order.message)
      assert.match(order.message ?? '', message)
    }
    const mandate = await partner.createMandate()
    const archivedMandate = await partner.createMandate()
    await partner.remove(`/mandates/${archivedMandate.mandate_id}`)
    const rejections: [string, number, RegExp, string, object][] = [
      ['unknown test', 422, /does not exist/, 'JM_01ARZ3NDEKTSV4RRFFQ69G5FAV', {}],
      ['archived', 422, /archived/, archivedMandate.mandate_id, {}],
      [
        'unreachable',
        422,
        /neither a valid email address nor a valid phone number/,
        mandate.mandate_id,
        { email: 'none' },
      ],
    ]
    for (const [name, status, message, testId, overrides] of rejections) {
      const order = await ats.order(name.replaceAll(' ', '-'), testId, aPerson(1, 6, overrides))
      await checkRejection(order, status, message)
    }
    assert.equal((await ats.order('first', mandate.mandate_id, aPerson(1, 6))).status, 200)
    const duplicate = await ats.order('second', mandate.mandate_id, aPerson(1, 6))
    await checkRejection(duplicate, 409, /already being assessed for this test\. Wait for the result\.$/)
    const unpaid = await ats.order('third', mandate.mandate_id, aPerson(2, 6))
    await checkRejection(unpaid, 422, /No credits are left/)
    assert.equal((await partner.get('/credits')).body.data.balance, 0)
    assert.deepEqual(ats.violations, [])
  })
}

for (const adapter of keyAdapters) {
  test(`${adapter}: a key sees only the tests of its organisation, mode and adapter`, async (t) => {
    const app = await getApp()
    const { ats, partner, key } = await startAts(t, app, adapter)
    const own = await partner.createMandate()
    const other = await createCampaignPartner(app)
    const foreign = await other.createMandate()
    const live = await createCampaignPartner(app, { mode: 'live', orgId: partner.orgId })
    const liveMandate = await live.createMandate()

    assert.deepEqual(
      (await ats.listTests()).map(({ id }) => id),
      [own.mandate_id],
    )
    for (const { mandate_id } of [foreign, liveMandate]) {
      const order = await ats.order(`order-${mandate_id}`, mandate_id, aPerson(1))
      assert.equal(order.status, 422)
      assert.match(order.message ?? '', /does not exist/)
    }
    for (const otherAdapter of keyAdapters.filter((name) => name !== adapter))
      assert.equal((await listWith(app, otherAdapter, key)).status, 401)
  })
}

test('keys are accepted as the user name of Basic authentication and as a Bearer token', async () => {
  const app = await getApp()
  const { scope } = await createCampaignPartner(app)
  const { key } = await connectAts(app, scope, 'greenhouse')
  const bearer = await app.fetch('/ats/greenhouse/list_tests', { headers: { authorization: `Bearer ${key}` } })
  assert.equal(bearer.status, 200)
  assert.equal((await listWith(app, 'greenhouse', key)).status, 200)
  assert.ok(key.length < 171)
  for (const authorization of ['', 'Basic', 'Bearer x', `Basic ${key}`, `Bearer ${key}x`, 'Digest a']) {
    const response = await app.fetch('/ats/greenhouse/list_tests', { headers: { authorization } })
    assert.equal(response.status, 401, authorization)
    assert.match(response.body.message, /API key is missing/)
  }
})

test('only the orders of the same connection can be read and cancelled', async (t) => {
  const app = await getApp()
  const { ats, partner } = await startAts(t, app, 'ashby')
  const { mandate_id } = await partner.createMandate()
  const { assessmentId } = await ats.order('order-1', mandate_id, aPerson(1, 6))
  const second = await connectAts(app, partner.scope, 'ashby')
  const response = await app.fetch('/ats/ashby/assessment.cancel', {
    method: 'POST',
    headers: { authorization: `Bearer ${second.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ assessment_id: assessmentId }),
  })
  assert.equal(response.status, 422)
  assert.match(response.body.message, /not found/)
})

test('a curated list limits the tests of a connection', async (t) => {
  const app = await getApp()
  const partner = await createCampaignPartner(app)
  const [offered, hidden] = [await partner.createMandate(), await partner.createMandate()]
  const { key } = await connectAts(app, partner.scope, 'workable', { input: { mandate_ids: [offered.mandate_id] } })
  const { body } = await listWith(app, 'workable', key)
  assert.deepEqual(
    body.tests.map(({ id }: { id: string }) => id),
    [offered.mandate_id],
  )
  const order = await app.fetch('/ats/workable/assessments', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      test_id: hidden.mandate_id,
      callback_url: 'https://www.workable.com/callback/1',
      candidate: { first_name: 'A', last_name: 'B', email: 'a@example.com' },
    }),
  })
  assert.equal(order.status, 422)
  t.diagnostic(order.body.message)
})

test('results are reported only to hosts of the ATS', async () => {
  const app = await getApp()
  const live = await createCampaignPartner(app, { mode: 'live' })
  const { mandate_id } = await live.createMandate()
  const { key } = await connectAts(app, live.scope, 'greenhouse')
  const send = (url: string) =>
    app.fetch('/ats/greenhouse/send_test', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        partner_test_id: mandate_id,
        candidate: { first_name: 'A', last_name: 'B', email: 'a@example.com', phone_number: '098123 45678' },
        url,
      }),
    })
  for (const url of [
    'http://127.0.0.1/',
    'https://example.com/',
    'https://greenhouse.io.example.com/',
    'https://evilgreenhouse.io/',
    'http://app.greenhouse.io/1',
    'https://app.greenhouse.io:8443/1',
    'https://user@app.greenhouse.io/1',
    'https://169.254.169.254/',
  ]) {
    const response = await send(url)
    assert.equal(response.status, 400, url)
    assert.match(response.body.message, /^url: /)
  }
  const accepted = await send('https://app.greenhouse.io/integrations/testing_partners/take_home_tests/1')
  assert.equal(accepted.status, 200)
  const { queries } = app.context.db
  const order = (await findOrderById(queries, accepted.body.partner_interview_id))!
  assert.equal(order.consent_basis, 'The candidate agreed in the application form.')
  assert.equal((await findCandidacy(queries, order.candidate_id!))!.phone, '+919812345678')
})

test('a cancelled assessment is not continued, and can be ordered again', async (t) => {
  const app = await getApp()
  startReports(t, app)
  const { ats, partner } = await startAts(t, app, 'ashby')
  const { mandate_id } = await partner.createMandate()
  const order = await ats.order('application-1', mandate_id, aPerson(1))

  assert.equal(await ats.cancel!(order.assessmentId!), 200)
  await until(() => order.state === 'cancelled')
  assert.match(JSON.stringify(order.result), /cancelled_reason.*The assessment was cancelled/)
  assert.equal((await partner.get('/credits')).body.data.balance, 1000)
  await passTime(app, 3000)
  assert.equal((await partner.get('/results')).body.data.items[0].reason, 'stopped')
  assert.equal(await ats.cancel!(order.assessmentId!), 200)

  const secondOrder = await ats.order('application-1', mandate_id, aPerson(1))
  assert.notEqual(secondOrder.assessmentId, order.assessmentId)
  await passTime(app, 10_000)
  await until(() => secondOrder.state === 'complete')
  assert.deepEqual(ats.violations, [])
})

test('each end of an assessment is reported in the format of the ATS', async (t) => {
  const app = await getApp()
  startReports(t, app)
  const setups = await Promise.all(adapterNames.map((adapter) => startAts(t, app, adapter)))
  const expectedStates: Record<AdapterName, Record<number, string>> = {
    greenhouse: { 2: 'complete', 5: 'complete', 6: 'complete' },
    ashby: { 2: 'complete', 5: 'cancelled', 6: 'cancelled' },
    workable: { 2: 'completed', 5: 'rejected', 6: 'expired' },
    kombo: { 2: 'COMPLETED', 5: 'CANCELLED', 6: 'CANCELLED' },
  }
  const orders = []
  for (const { ats, partner } of setups) {
    const { mandate_id } = await partner.createMandate()
    for (const persona of [2, 5, 6])
      orders.push({ ats, persona, order: await ats.order(`order-${persona}`, mandate_id, aPerson(persona, persona)) })
  }
  await passTime(app, 10_000)
  for (const { ats, persona, order } of orders) {
    await until(
      () => !['ordered', 'started'].includes(order.state),
      20_000,
      () => `${ats.name} ${persona} ${order.state}`,
    )
    assert.equal(order.state, expectedStates[ats.name as AdapterName][persona], `${ats.name} ${persona}`)
    assert.doesNotMatch(JSON.stringify(order.result), /not asked \(not asked\)/)
  }
  for (const { ats } of setups) assert.deepEqual(ats.violations, [])
})

test('recruiters of Ashby can enter a phone number and a language', async (t) => {
  const app = await getApp()
  startReports(t, app)
  const { ats, partner, key } = await startAts(t, app, 'ashby')
  const { mandate_id } = await partner.createMandate({ languages: ['en', 'hi'] })
  assert.deepEqual(await ats.listCustomFields!(), ['phone', 'language'])
  const { body } = await app.fetch('/ats/ashby/assessment.customField.list', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  })
  const [phoneField, languageField] = body.fields
  assert.deepEqual(phoneField, { id: 'phone', name: 'Phone number', type: 'Phone', isRequired: false })
  assert.deepEqual([languageField.type, languageField.isRequired], ['ValueSelect', false])
  assert.deepEqual(languageField.possible_values.slice(0, 2), [
    { key: 'en', value: 'English' },
    { key: 'hi', value: 'Hindi' },
  ])
  const person = aPerson(1, 1, { phone: '99900 00001', language: 'hi' })
  const order = await ats.order('application-1', mandate_id, person)
  assert.equal(order.status, 200, order.message)
  const { candidate_id } = (await findOrderById(app.context.db.queries, order.assessmentId!))!
  const candidate = (await findCandidacy(app.context.db.queries, candidate_id!))!
  assert.deepEqual([candidate.phone, candidate.state.language], ['+919990000001', 'hi'])
  await passTime(app, 10_000)
  await until(() => order.state === 'complete')
  assert.deepEqual(ats.violations, [])

  const { person_id } = (await partner.get('/people?phone=%2B919990000001')).body.data.items[0]
  const exportedName = async () => {
    const { sections } = (await partner.get(`/people/${person_id}/export`)).body.data
    const { records } = sections.find(({ name }: { name: string }) => name === 'orders')
    assert.deepEqual(
      records.map((record: any) => [record.order_id, record.candidate_id, record.applicant_tracking_system]),
      [[order.assessmentId, candidate_id, 'ashby']],
    )
    return records[0].name
  }
  const name = await exportedName()
  await partner.patch(`/people/${person_id}`, { email: 'corrected@example.com' })
  assert.equal(await exportedName(), name)
  await partner.patch(`/people/${person_id}`, { name: 'Asha Verma' })
  assert.equal(await exportedName(), 'Asha Verma')
})

test('Ashby may send null in place of additional fields', async (t) => {
  const app = await getApp()
  const { partner, key } = await startAts(t, app, 'ashby')
  const { mandate_id } = await partner.createMandate()
  const { email } = aPerson(1, 6)
  const response = await app.fetch('/ats/ashby/assessment.start', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      assessment_type_id: mandate_id,
      candidate: { ashby_id: 'c1', first_name: 'Asha', last_name: 'Verma', email },
      application: { ashby_id: 'a1', status: 'Active' },
      job: { ashby_id: 'j1', name: 'Electrician' },
      additional_fields: null,
    }),
  })
  assert.equal(response.status, 200, JSON.stringify(response.body))
})

test('errors that Greenhouse reports are stored with the order, without addresses', async (t) => {
  const app = await getApp()
  const { ats, partner, key, connectionId } = await startAts(t, app, 'greenhouse')
  const { mandate_id } = await partner.createMandate()
  const { assessmentId } = await ats.order('order-1', mandate_id, aPerson(1, 6))
  const report = (sentKey: string, error: string) =>
    app.fetch('/ats/greenhouse/response_error', {
      method: 'POST',
      headers: { authorization: `Bearer ${sentKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ api_call: 'test_status', errors: [error], partner_interview_id: assessmentId }),
    })
  const { key: otherKey } = await connectAts(app, partner.scope, 'greenhouse')
  assert.equal((await report(key, 'No application of asha@example.com')).status, 200)
  assert.equal((await report(otherKey, 'Not your order')).status, 200)
  const owner = await signInMember(app, partner.orgId, 'owner')
  const { body } = await owner.get(`/orgs/${partner.orgId}/test/ats/connections/${connectionId}/orders`)
  assert.deepEqual(body.data.items[0].ats_errors, ['No application of …'])
})

test('errors that Greenhouse reports without naming a known order are shown with the connection', async (t) => {
  const app = await getApp()
  const { partner, key, connectionId } = await startAts(t, app, 'greenhouse')
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const report = (body: object) =>
    app.fetch('/ats/greenhouse/response_error', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const readError = async () => {
    const { body } = await viewer.get(`/orgs/${partner.orgId}/test/ats/connections/${connectionId}`)
    return [body.data.checks.ats_error, body.data.checks.ats_error_at]
  }
  assert.deepEqual(await readError(), [null, null])
  await report({ api_call: 'list_tests', errors: ['partner_test_name is blank', 'Sent by asha@example.com'] })
  const time = new Date(app.clock.now()).toISOString()
  assert.deepEqual(await readError(), ['list_tests: partner_test_name is blank; Sent by …', time])
  await report({ api_call: 'test_status', errors: ['Unknown'], partner_interview_id: 'AO_01ARZ3NDEKTSV4RRFFQ69G5FAV' })
  assert.equal((await readError())[0], 'Unknown')
})

test('the console shows what Greenhouse reads about an order, without the signature of the link', async (t) => {
  const app = await getApp()
  startReports(t, app)
  const { ats, partner, connectionId } = await startAts(t, app, 'greenhouse')
  const { mandate_id } = await partner.createMandate()
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const readOrder = async () => {
    const { body } = await viewer.get(`/orgs/${partner.orgId}/test/ats/connections/${connectionId}/orders`)
    return body.data.items[0]
  }
  const order = await ats.order('order-1', mandate_id, aPerson(1))
  assert.deepEqual((await readOrder()).status_read, { partner_status: 'sent' })
  await passTime(app, 10_000)
  await until(() => order.state === 'complete')
  const { partner_profile_url, ...rest } = order.result as { partner_profile_url: string }
  const { partner_profile_url: shownUrl, ...shown } = (await readOrder()).status_read
  assert.deepEqual(shown, rest)
  assert.equal(shownUrl, `${partner_profile_url.split('.').slice(0, -2).join('.')}…`)
})

for (const adapter of adapterNames)
  test(`${adapter}: recruiters are told that a campaign is paused, and orders continue when it is resumed`, async (t) => {
    const app = await getApp()
    startReports(t, app)
    const { ats, partner, connectionId } = await startAts(t, app, adapter)
    const { mandate_id } = await partner.createMandate()
    const viewer = await signInMember(app, partner.orgId, 'viewer')
    const path = `/orgs/${partner.orgId}/test/ats/connections/${connectionId}`
    const readPaused = async () => {
      const { items } = (await viewer.get(`${path}/orders`)).body.data
      const { paused_campaigns } = (await viewer.get(path)).body.data.checks
      return [items.map((each: { is_paused: boolean }) => each.is_paused), paused_campaigns]
    }
    const first = await ats.order('order-1', mandate_id, aPerson(1))
    const { campaign_id } = (await findOrderById(app.context.db.queries, first.assessmentId!))!
    assert.deepEqual(await readPaused(), [[false], []])
    assert.equal((await partner.post(`/campaigns/${campaign_id}/pause`)).status, 200)
    const second = await ats.order('order-2', mandate_id, aPerson(2))
    const paused = [{ campaign_id, test_name: 'Electrician, Metro Ltd', orders: 2 }]
    assert.deepEqual(await readPaused(), [[true, true], paused])

    for (const order of [first, second])
      if (adapters[adapter].reports.has('paused'))
        await until(() => /campaign is paused in Attestry/.test(JSON.stringify(order.result) ?? ''))
    assert.equal((await partner.post(`/campaigns/${campaign_id}/resume`)).status, 200)
    assert.deepEqual(await readPaused(), [[false, false], []])
    await passTime(app, 10_000)
    await until(() => [first, second].every(({ state }) => /^complete/i.test(state)))
    assert.deepEqual(ats.violations, [])
  })

test('test_status says that the campaign of an order is paused', async (t) => {
  const app = await getApp()
  const { ats, partner, key } = await startAts(t, app, 'greenhouse')
  const { mandate_id } = await partner.createMandate()
  const { assessmentId } = await ats.order('order-1', mandate_id, aPerson(1, 6))
  const { campaign_id } = (await findOrderById(app.context.db.queries, assessmentId!))!
  await partner.post(`/campaigns/${campaign_id}/pause`)
  const { body } = await app.fetch(`/ats/greenhouse/test_status?partner_interview_id=${assessmentId}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  assert.deepEqual(body, { partner_status: 'paused' })
})

test('candidates with a phone number are contacted on the channels of the workflow', async (t) => {
  const app = await getApp()
  startReports(t, app)
  const { ats, partner } = await startAts(t, app, 'workable')
  const { mandate_id } = await partner.createMandate()
  const order = await ats.order('order-1', mandate_id, aPerson(1, 1, { phone: '99900 00001' }))
  await passTime(app, 10_000)
  await until(() => order.state === 'completed')
  const { rows } = await sql<{ channel: string }>`
    select distinct channel from messages where org_id = ${partner.orgId}`.execute(app.context.db.queries)
  assert.deepEqual(rows, [{ channel: 'whatsapp' }])
})

test('a candidate who has opted out is rejected as unreachable and costs nothing', async (t) => {
  const app = await getApp()
  const { ats, partner } = await startAts(t, app, 'workable')
  const { mandate_id } = await partner.createMandate()
  const person = aPerson(1, 6)
  await app.context.db.transaction((tx) =>
    recordOptOut(tx, app.clock, {
      org_id: partner.orgId,
      mode: 'test',
      phone: null,
      email: person.email,
      test_clock_id: null,
    }),
  )
  const order = await ats.order('order-1', mandate_id, person)
  assert.equal(order.status, 422)
  assert.match(order.message ?? '', /opted out of messages/)
  assert.equal((await partner.get('/credits')).body.data.balance, 1000)
  assert.equal((await partner.get('/results')).body.data.items.length, 0)
})

test('in LIVE mode, an order without a declared basis for contacts is rejected with 422 and what to do', async () => {
  const app = await getApp()
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const { mandate_id } = await partner.createMandate({ channels: ['whatsapp'] })
  const { key } = await connectAts(app, partner.scope, 'workable')
  const place = () =>
    app.fetch('/ats/workable/assessments', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        test_id: mandate_id,
        callback_url: 'https://www.workable.com/callback/1',
        candidate: { first_name: 'Asha', last_name: 'Rao', email: 'asha@example.com', phone: '+919810000001' },
      }),
    })
  await app.context.db.transaction((tx) => changePrivacySettings(tx, app.clock, partner.orgId, { contact_basis: null }))
  const rejected = await place()
  assert.equal(rejected.status, 422, JSON.stringify(rejected.body))
  assert.match(rejected.body.message, /set the contact basis in the privacy settings/)
  assert.equal((await partner.get('/credits')).body.data.balance, 1000)
})

test('in LIVE mode, an order is rejected if no channel can send messages to the country of the candidate', async () => {
  const app = await getApp()
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const { mandate_id } = await partner.createMandate({ channels: ['sms'] })
  const { context, clock } = app
  await context.db.transaction((tx) =>
    saveCredentials(tx, context.vault, clock, partner.orgId, 'sms', { ...TWILIO, from: '+14155550100' }),
  )
  const { key } = await connectAts(app, partner.scope, 'workable')
  const place = (phone: string) =>
    app.fetch('/ats/workable/assessments', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        test_id: mandate_id,
        callback_url: 'https://www.workable.com/callback/1',
        candidate: { first_name: 'Asha', last_name: 'Rao', email: 'asha@example.com', phone },
      }),
    })
  const rejected = await place('+919810000001')
  assert.equal(rejected.status, 422, JSON.stringify(rejected.body))
  assert.match(rejected.body.message, /cannot be reached: SMS to India through Twilio .* Set up Exotel or Gupshup/)
  assert.equal((await partner.get('/credits')).body.data.balance, 1000)
  const accepted = await place('+14155552671')
  assert.equal(accepted.status, 200, JSON.stringify(accepted.body))
})

test('in LIVE mode, a candidate without a phone number gets an email, also if the workflow uses another channel', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, { config: { smtpUrl: smtp.url, publicUrl: 'https://verify.example.com' } })
  t.after(() => smtp.stop())
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const { mandate_id } = await partner.createMandate({ channels: ['whatsapp'] })
  const { key } = await connectAts(app, partner.scope, 'ashby')
  const response = await app.fetch('/ats/ashby/assessment.start', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-forwarded-proto': 'https' },
    body: JSON.stringify({
      assessment_type_id: mandate_id,
      candidate: { ashby_id: 'c1', first_name: 'Asha', last_name: 'Verma', email: 'asha@example.com' },
      application: { ashby_id: 'a1', status: 'Active' },
      job: { ashby_id: 'j1', name: 'Electrician' },
    }),
  })
  assert.equal(response.status, 200, JSON.stringify(response.body))
  await contactNow(app.context)
  await until(async () => {
    await contactNow(app.context)
    return smtp.received.length > 0
  })
  assert.match(smtp.received[0]!, /asha@example\.com/)
  assert.match(smtp.received[0]!.replaceAll('=\r\n', ''), /https:\/\/verify\.example\.com\/c\//)
})

test('requests of an ATS appear in the request log', async (t) => {
  const app = await startApp(t)
  const { scope } = await createCampaignPartner(app)
  const { key, keyId } = await connectAts(app, scope, 'greenhouse')
  await listWith(app, 'greenhouse', key)
  const entry = await until(async () => {
    const { rows } = await sql<{ api: string; key_id: string; route: string; status: number }>`
      select api, key_id, route, status from request_log`.execute(app.context.db.queries)
    return rows[0]
  })
  assert.deepEqual(entry, { api: 'ats', key_id: keyId, route: '/ats/greenhouse/list_tests', status: 200 })
})

/** Lists the tests with a key as the user name of Basic authentication. */
function listWith(app: TestApp, adapter: 'greenhouse' | 'ashby' | 'workable', key: string) {
  const paths = { greenhouse: 'list_tests', ashby: 'assessment.list', workable: 'tests' }
  return app.fetch(`/ats/${adapter}/${paths[adapter]}`, {
    method: adapter === 'ashby' ? 'POST' : 'GET',
    headers: { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
  })
}
