import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { contactNow } from '../../server/campaigns/contact/engine.ts'
import { LoadedSkills } from '../../server/catalogue/loaded-skills.ts'
import { recordEvent } from '../../server/events/record.ts'
import { createMandate } from '../../server/mandates/mandates.ts'
import { HOUR, MINUTE } from '../../server/platform/clock.ts'
import { deadLetterQueues } from '../../server/platform/jobs/dead-letters.ts'
import { aMandate, prepareMandates, startApp, type TestApp } from '../support/app.ts'
import { signIn } from '../support/console.ts'
import { nodeOptions } from '../support/node-options.ts'
import {
  aCandidate,
  aTestNumberCandidate,
  createCampaignPartner,
  createPartner,
  passTime,
} from '../support/partners.ts'
import { databaseEnv } from './server-process.ts'

const runFile = promisify(execFile)

async function runCli({ context }: TestApp, ...args: string[]) {
  const cliPath = new URL('../../cli/main.ts', import.meta.url).pathname
  const { stdout } = await runFile(process.execPath, [...nodeOptions, cliPath, ...args], {
    env: { ...process.env, ...databaseEnv(context.config) },
  })
  return stdout
}

async function damageConversation({ context }: TestApp, candidateId: string) {
  const { rows } = await sql<{ conversation: string }>`
    with before as (select candidate_id, conversation from candidate_progress where candidate_id = ${candidateId} for update)
    update candidate_progress p set conversation = '{"step": 1, "poin' from before where p.candidate_id = before.candidate_id
    returning before.conversation`.execute(context.db.queries)
  return rows[0]!.conversation
}

async function restoreConversation({ context }: TestApp, candidateId: string, conversation: string) {
  await sql`update candidate_progress set conversation = ${conversation} where candidate_id = ${candidateId}`.execute(
    context.db.queries,
  )
}

test('a candidate whose conversation cannot be read does not stop the contacts of other organisations', async (t) => {
  const app = await startApp(t)
  const damagedPartner = await createCampaignPartner(app)
  const otherPartner = await createCampaignPartner(app)
  const damagedMandate = await damagedPartner.createMandate()
  const otherMandate = await otherPartner.createMandate()
  const { campaign } = await damagedPartner.createCampaign(damagedMandate.mandate_id, [aCandidate(1), aCandidate(2)])
  const { body } = await damagedPartner.get(`/campaigns/${campaign.campaign_id}/candidates`)
  const [damagedId, discardedId] = body.data.items.map(({ candidate_id }: { candidate_id: string }) => candidate_id)
  const conversation = await damageConversation(app, damagedId)
  await damageConversation(app, discardedId)
  await otherPartner.createCampaign(otherMandate.mandate_id, [aTestNumberCandidate(1)])

  await passTime(app, 10_000)
  const [otherResult] = (await otherPartner.get('/results')).body.data.items
  assert.equal(otherResult.status, 'completed')

  const operator = await signIn(app)
  const listLetters = async () => (await operator.get('/operator/dead-letters')).body.data.items
  const letters = await listLetters()
  assert.deepEqual(letters.map(({ subject_id }: any) => subject_id).sort(), [damagedId, discardedId].sort())
  assert.deepEqual(
    [letters[0].queue, letters[0].org_id, letters[0].attempts, letters[0].error],
    ['contacts', damagedPartner.orgId, 1, 'the stored data is not valid JSON'],
  )
  assert.equal((await operator.get('/operator/now')).body.data.dead_letters, 2)
  assert.match((await app.fetch('/metrics')).body, /attestry_alarms_total\{alarm="dead_letter"\} 2/)
  assert.match(await runCli(app, 'dead-letters', 'list'), new RegExp(`contacts +${damagedId} +${damagedPartner.orgId}`))

  await restoreConversation(app, damagedId, conversation)
  await contactNow(app.context)
  assert.equal((await listLetters()).length, 2, 'not retried before its time')
  const retryResponse = await operator.post(`/operator/dead-letters/contacts/${damagedId}/retry`)
  assert.equal(retryResponse.status, 200)
  await contactNow(app.context)
  assert.deepEqual(
    (await listLetters()).map(({ subject_id }: any) => subject_id),
    [discardedId],
  )
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from messages where candidate_id = ${damagedId} and direction = 'out'`.execute(
    app.context.db.queries,
  )
  assert.equal(rows[0]!.count, 1, 'contacted once')

  const balance = async () => (await damagedPartner.get('/credits')).body.data.balance
  const balanceBefore = await balance()
  assert.match(await runCli(app, 'dead-letters', 'discard', 'contacts', discardedId), /discarded/)
  assert.deepEqual(await listLetters(), [])
  assert.equal(await balance(), balanceBefore + 1)
  const results = (await damagedPartner.get('/results')).body.data.items
  assert.deepEqual(
    results.filter(({ status }: any) => status !== 'pending').map(({ status, reason }: any) => [status, reason]),
    [['failed', 'unreachable']],
  )
  const missing = await operator.post(`/operator/dead-letters/contacts/${discardedId}/retry`)
  assert.equal(missing.status, 404)
  const actions = (await operator.get('/operator/audit')).body.data.items.map(({ action }: any) => action)
  assert.deepEqual(
    actions.filter((action: string) => action.startsWith('dead_letter')),
    ['dead_letter.discard', 'dead_letter.retry'],
  )
})

test('a dead letter is retried several times, and then waits for an operator', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(1)])
  const { body } = await partner.get(`/campaigns/${campaign.campaign_id}/candidates`)
  const candidateId = body.data.items[0].candidate_id
  await damageConversation(app, candidateId)
  await contactNow(app.context)
  const operator = await signIn(app)
  const readLetter = async () => (await operator.get('/operator/dead-letters')).body.data.items[0]
  for (const [index, delayMs] of [MINUTE, 5 * MINUTE, 30 * MINUTE, 4 * HOUR].entries()) {
    const letter = await readLetter()
    assert.equal(letter.attempts, index + 1)
    assert.equal(Date.parse(letter.retry_at), app.clock.now() + delayMs)
    app.clock.advance(delayMs)
    await contactNow(app.context)
  }
  const { attempts, retry_at } = await readLetter()
  assert.deepEqual([attempts, retry_at], [5, null])
})

test('a discarded reply of a test number is never sent', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const { campaign } = await partner.createCampaign(mandate_id, [aTestNumberCandidate(1)])
  const { body } = await partner.get(`/campaigns/${campaign.campaign_id}/candidates`)
  const [{ candidate_id }] = body.data.items
  await contactNow(app.context)
  const conversation = await damageConversation(app, candidate_id)
  app.clock.advance(MINUTE)
  await contactNow(app.context)
  const operator = await signIn(app)
  const listLetters = async () =>
    (await operator.get('/operator/dead-letters')).body.data.items.map(({ queue }: any) => queue).sort()
  assert.deepEqual(await listLetters(), ['contacts', 'test-replies'])
  assert.equal((await operator.post(`/operator/dead-letters/test-replies/${candidate_id}/discard`)).status, 200)
  await restoreConversation(app, candidate_id, conversation)
  await passTime(app, 10_000)
  assert.deepEqual(await listLetters(), ['contacts'])
  const { rows } = await sql`select from messages where candidate_id = ${candidate_id} and direction = 'in'`.execute(
    app.context.db.queries,
  )
  assert.equal(rows.length, 0)
  assert.equal((await partner.get('/results')).body.data.items[0].status, 'pending')
})

test('a mandate that cannot be read does not stop the preparation of others', async (t) => {
  const app = await startApp(t)
  const { context, clock, fixtures } = app
  const { scope, get } = await createPartner(app)
  const { workflow_id } = await fixtures.createWorkflow(scope)
  const deps = { clock, skills: new LoadedSkills(context.catalogue.current), writer: context.writer }
  const create = () => context.db.transaction((tx) => createMandate(tx, scope, deps, aMandate(workflow_id), 'api'))
  const damaged = await create()
  const intact = await create()
  await sql`update mandates set body = '{' where mandate_id = ${damaged.mandate_id}`.execute(context.db.queries)
  await prepareMandates(context)
  await prepareMandates(context)
  assert.equal((await get(`/mandates/${intact.mandate_id}`)).body.data.status, 'ready')
  const operator = await signIn(app)
  const { items } = (await operator.get('/operator/dead-letters')).body.data
  assert.deepEqual(
    items.map(({ queue, subject_id }: any) => [queue, subject_id]),
    [['prepare-mandate', damaged.mandate_id]],
  )

  const waiting = await create()
  const discarded = await operator.post(`/operator/dead-letters/prepare-mandate/${damaged.mandate_id}/discard`)
  assert.equal(discarded.status, 200)
  const { rows } = await sql<{ mandate_id: string; status: string; failure: string | null }>`
    select mandate_id, status, failure from mandates`.execute(context.db.queries)
  const failure = 'The stored mandate cannot be read. Replace it, or create it again.'
  assert.deepEqual(
    rows.map((row) => [row.mandate_id, row.status, row.failure]).sort(),
    [
      [damaged.mandate_id, 'failed', failure],
      [intact.mandate_id, 'ready', null],
      [waiting.mandate_id, 'preparing', null],
    ].sort(),
  )
})

test('an event that cannot be sequenced does not stop the events of other organisations', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const damagedPartner = await createPartner(app)
  const otherPartner = await createPartner(app)
  const webhook = await damagedPartner.post('/webhooks', { url: 'https://hooks.example.com/in' })
  assert.equal(webhook.status, 201, JSON.stringify(webhook.body))
  // A test event names its webhook in its data.
  await sql`insert into event_outbox (event_id, org_id, mode, type, data, created_at)
    values ('EV_0000000000', ${damagedPartner.orgId}, 'live', 'webhook.test', 'no JSON', ${new Date(clock.now())})`.execute(
    context.db.queries,
  )
  const eventId = await context.db.transaction((tx) =>
    recordEvent(tx, otherPartner.scope, clock, 'mandate.ready', { mandate_id: 'JM_1' }),
  )
  const { items } = (await otherPartner.get('/events')).body.data
  assert.deepEqual(
    items.map(({ event_id }: any) => event_id),
    [eventId],
  )
  await context.events.sequence() // also the shard of the other organisation
  assert.match(await runCli(app, 'dead-letters', 'list'), /events +EV_0000000000/)
  const operator = await signIn(app)
  assert.equal((await operator.post('/operator/dead-letters/events/EV_0000000000/discard')).status, 200)
  const { rows } = await sql`select 1 from event_outbox`.execute(context.db.queries)
  assert.equal(rows.length, 0)
})

test('every queue of dead letters is listed in the guide', async () => {
  const guide = await readFile(new URL('../../docs/guides/run-in-production.md', import.meta.url), 'utf8')
  for (const queue of deadLetterQueues) assert.ok(guide.includes(`\`${queue}\``), queue)
})
