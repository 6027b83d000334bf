import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { httpsSkipReason, startHttpsServer } from '../../../test/support/https-server.ts'
import { aCandidate, createCampaignPartner } from '../../../test/support/partners.ts'
import { startProvider, WHATSAPP } from '../../../test/support/provider.ts'
import { until } from '../../../test/support/until.ts'
import { saveCredentials } from '../../channels/credentials.ts'
import { MINUTE } from '../../platform/clock.ts'
import { contactNow, startContactEngine } from '../contact/engine.ts'
import { findDndCheck, removeDndCheck, requireDndUrl, setDndCheck } from './dnd-check.ts'
import { runDndChecks } from './run-checks.ts'

interface Received {
  headers: IncomingMessage['headers']
  body: string
}

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t, { config: { webhookAllow: ['localhost'] } })
  const { context, clock } = app
  const provider = await startProvider(t)
  const received: Received[] = []
  const service: { respond: (numbers: { id: string; phone: string }[], response: ServerResponse) => void } = {
    respond: () => {},
  }
  const server = await startHttpsServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    received.push({ headers: request.headers, body })
    service.respond(JSON.parse(body).numbers, response)
  })
  t.after(() => server.close())

  /** Creates a LIVE organisation with a DND check and enrols candidates at noon. */
  async function enrol(count: number, hasCheck = true) {
    clock.set('2026-03-11T06:30:00.000Z')
    provider.received.length = 0
    received.length = 0
    service.respond = (numbers, response) =>
      response.end(JSON.stringify({ results: numbers.map(({ id }) => ({ id, blocked: false })) }))
    const partner = await createCampaignPartner(app, { mode: 'live' })
    const setCheck = (url = `${server.url}/check`) =>
      context.db.transaction((tx) => setDndCheck(tx, context.vault, clock, partner.orgId, url))
    await context.db.transaction((tx) =>
      saveCredentials(tx, context.vault, clock, partner.orgId, 'whatsapp', {
        ...WHATSAPP,
        base_url: provider.url,
        per_second: 1000,
      }),
    )
    const secret = hasCheck ? await setCheck() : ''
    const mandate = await partner.createMandate({ channels: ['whatsapp'] })
    const { campaign } = await partner.createCampaign(
      mandate.mandate_id,
      Array.from({ length: count }, (_, index) => aCandidate(index + 1)),
    )
    const campaignPath = `/campaigns/${campaign.campaign_id}`
    return {
      ...partner,
      secret,
      setCheck,
      check: () => findDndCheck(context.db.queries, partner.orgId),
      counts: async () => (await partner.get(campaignPath)).body.data.counts,
      async dndResults() {
        const { items } = (await partner.get(`${campaignPath}/candidates?limit=100`)).body.data
        return Promise.all(
          items.map(async ({ candidate_id }: any) => {
            const record = await partner.get(`${campaignPath}/candidates/${candidate_id}/contact-record`)
            return record.body.data.dnd_check
          }),
        )
      },
    }
  }
  const runChecks = () => runDndChecks(context, { ca: server.certificate })
  return { app, context, clock, provider, received, service, enrol, runChecks }
})

const options = { skip: httpsSkipReason }

test(
  'blocked numbers are never contacted and their credits are refunded; the result is recorded',
  options,
  async () => {
    const { context, provider, received, service, enrol, runChecks } = await setUp()
    const partner = await enrol(3)
    service.respond = (numbers, response) =>
      response.end(JSON.stringify({ results: numbers.map(({ id, phone }) => ({ id, blocked: phone.endsWith('1') })) }))
    const balanceBefore = (await partner.get('/credits')).body.data.balance
    await runChecks()
    await contactNow(context)
    assert.deepEqual(provider.received.map(({ body }) => body.to.at(-1)).sort(), ['2', '3'])
    assert.deepEqual(await partner.counts(), { candidates: 3, pending: 2, completed: 0, declined: 0, failed: 1 })
    assert.equal((await partner.get('/credits')).body.data.balance, balanceBefore + 1)
    const results = await partner.dndResults()
    assert.deepEqual(results.map(({ blocked }: any) => blocked).sort(), [false, false, true])
    assert.equal(results[0].checked_at, '2026-03-11T06:30:00.000Z')
    const [{ headers, body }] = received as [Received]
    const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const key = Buffer.from(partner.secret.replace('whsec_', ''), 'base64')
    assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(content).digest('base64')}`)
    assert.equal(received.length, 1, 'one request for all candidates')
  },
)

test('while the service fails or its response is incomplete, nobody is contacted', options, async () => {
  const { context, clock, provider, received, service, enrol, runChecks } = await setUp()
  const partner = await enrol(2)
  const respondNormally = service.respond
  for (const respond of [
    (_: unknown, response: ServerResponse) => response.writeHead(500).end(),
    (_: unknown, response: ServerResponse) => response.end('not JSON'),
    (numbers: { id: string }[], response: ServerResponse) =>
      response.end(JSON.stringify({ results: [{ id: numbers[0]!.id, blocked: false }] })),
  ]) {
    service.respond = respond
    await runChecks()
    await contactNow(context)
    assert.equal(provider.received.length, 0)
    assert.ok((await partner.check())!.failing_since)
    clock.advance(6 * MINUTE)
  }
  await contactNow(context) // does not trust the certificate of the test
  assert.match((await partner.check())!.last_error!, /TLS/)
  assert.equal(received.length, 3)
  clock.advance(6 * MINUTE)
  service.respond = respondNormally
  await runChecks()
  await contactNow(context)
  assert.equal(provider.received.length, 2)
  const { failing_since, last_error, last_success_at } = (await partner.check())!
  assert.deepEqual([failing_since, last_error], [null, null])
  assert.ok(last_success_at)
})

test(
  'a check that is set up later applies to candidates who were not contacted yet, and removing it contacts them',
  options,
  async () => {
    const { context, provider, enrol, service } = await setUp()
    const partner = await enrol(1, false)
    service.respond = (_numbers, response) => void response.writeHead(500).end()
    await partner.setCheck()
    await contactNow(context)
    assert.equal(provider.received.length, 0)
    assert.equal(await context.db.transaction((tx) => removeDndCheck(tx, partner.orgId)), true)
    await contactNow(context)
    assert.equal(provider.received.length, 1)
    assert.deepEqual(await partner.dndResults(), [null])
  },
)

test('candidates who are enrolled while the check is removed are contacted without it', options, async () => {
  const { context, provider, enrol } = await setUp()
  const partner = await enrol(1)
  const { mandate_id } = await partner.createMandate({ channels: ['whatsapp'] })
  const { db } = context
  const { promise: enrolled, resolve: endRemoval } = Promise.withResolvers<void>()
  const { promise: removing, resolve: startEnrolment } = Promise.withResolvers<void>()
  const removal = db.transaction(async (tx) => {
    await removeDndCheck(tx, partner.orgId)
    startEnrolment()
    await enrolled
  })
  await removing
  let isEnrolled = false
  const enrolment = partner.createCampaign(mandate_id, [aCandidate(2)]).then(() => {
    isEnrolled = true
  })
  const isWaiting = async () =>
    (
      await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like '%dnd_checks%'`.execute(db.queries)
    ).rows.length > 0
  await until(async () => isEnrolled || (await isWaiting()))
  endRemoval()
  await Promise.all([removal, enrolment])
  await contactNow(context)
  assert.equal(provider.received.length, 2, 'the candidate who waited before, and the new one')
})

test('candidates who wait for a check that no longer exists are contacted', options, async () => {
  const { context, provider, received, enrol } = await setUp()
  const partner = await enrol(2)
  await sql`delete from dnd_checks where org_id = ${partner.orgId}`.execute(context.db.queries)
  await contactNow(context)
  assert.deepEqual([received.length, provider.received.length], [0, 2])
})

test('after an error all candidates of the organisation wait, and are then checked', options, async () => {
  const { clock, received, service, enrol, runChecks } = await setUp()
  const partner = await enrol(201)
  service.respond = (_numbers, response) => void response.writeHead(500).end()
  await runChecks()
  await runChecks()
  assert.equal(received.length, 1, 'the second batch is not requested')
  clock.advance(6 * MINUTE)
  service.respond = (numbers, response) =>
    response.end(JSON.stringify({ results: numbers.map(({ id }) => ({ id, blocked: true })) }))
  await runChecks()
  assert.deepEqual(
    received.map(({ body }) => JSON.parse(body).numbers.length),
    [200, 200, 1],
  )
  assert.equal((await partner.counts()).failed, 201)
})

test('a service that never responds does not delay the contacts of other organisations', async (t) => {
  const { context, provider, enrol } = await setUp()
  const sockets: Socket[] = []
  const silentServer = createServer((socket) => void sockets.push(socket.on('error', () => {})))
  await once(silentServer.listen(0, 'localhost'), 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    silentServer.close()
  })
  const slow = await enrol(1, false)
  await slow.setCheck(`https://localhost:${(silentServer.address() as AddressInfo).port}/check`)
  const engine = startContactEngine(context)
  t.after(() => engine.stop())
  await until(() => sockets.length > 0)
  const other = await enrol(1, false)
  await until(() => provider.received.length > 0)
  assert.equal((await slow.check())!.failing_since, null, 'the check is still running')
  assert.equal((await other.counts()).pending, 1)
  assert.equal(provider.received.length, 1)
})

test('the service must have an https URL outside private networks', async () => {
  const { context } = await setUp()
  await assert.rejects(requireDndUrl(context, 'http://dnd.example.com'), /https/)
  await assert.rejects(requireDndUrl(context, 'https://10.0.0.1/check'), /private/)
})
