import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { CONSOLE_API, signIn } from '../../../test/support/console.ts'
import { watchEventLoop } from '../../../test/support/event-loop.ts'
import { createPartner } from '../../../test/support/partners.ts'
import { until } from '../../../test/support/until.ts'
import { queueEmail } from '../../mail/mail.ts'
import { MINUTE } from '../../platform/clock.ts'

const TAXONOMY_CSV = `id,name,description,aliases,sub_skill,master_skill,verifiable
k1,Kite making,Makes kites of paper and split bamboo.,patang,Paper craft,Crafts,true
k3,,,,Paper craft,Crafts,
`

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  const { context, clock } = app
  const operator = await signIn(app)
  const get = async (path: string) => (await operator.get(path)).body.data
  return { app, context, clock, operator, get }
}

test('the operator creates an organisation, grants credits and switches the service', async () => {
  const { app, operator, get } = await setUp()
  const createResponse = await operator.post('/operator/orgs', { name: 'Metro Ltd' })
  assert.equal(createResponse.status, 201)
  const { org_id } = createResponse.body.data
  const grantResponse = await operator.post(`/operator/orgs/${org_id}/credits`, { mode: 'test', amount: 25 })
  assert.deepEqual(grantResponse.body.data, { mode: 'test', balance: 25 })
  const { items } = await get('/operator/orgs?q=metro')
  assert.deepEqual(items[0].credits, { test: 25, live: 0 })
  assert.equal((await get(`/orgs/${org_id}/test/credits/entries`)).items[0].reason, 'grant')
  assert.equal((await get(`/orgs/${org_id}/test/summary`)).credits, 25)
  const { on, state, since, reason } = (await operator.put('/operator/service', { on: false })).body.data
  assert.deepEqual([on, state, typeof since, reason], [false, 'off', 'string', null])
  const { key } = await app.fixtures.createOrg()
  assert.equal((await app.as(key).get('/shifts')).status, 503)
  await operator.put('/operator/service', { on: true })
  assert.equal((await app.as(key).get('/shifts')).status, 200)
  const actions = (await get(`/operator/audit?org_id=${org_id}`)).items.map(({ action }: any) => action)
  assert.deepEqual(actions, ['operator.read', 'operator.read', 'credits.grant', 'org.create'])
})

test('the operator approves and rejects skill requests', async () => {
  const { app, clock, operator, get } = await setUp()
  clock.advance(MINUTE)
  const { post, get: read } = await createPartner(app)
  const requestedSkill = (
    await post('/skill-requests', { name: 'Bamboo scaffolding tying', context: 'High-rise work' })
  ).body.data
  const otherRequest = (await post('/skill-requests', { name: 'Snake catching' })).body.data
  const { items } = await get('/operator/skill-requests')
  assert.deepEqual(
    items.map((request: any) => [request.request_id, request.context]),
    [
      [requestedSkill.request_id, 'High-rise work'],
      [otherRequest.request_id, null],
    ],
  )
  const subSkills = (await get('/operator/catalogue/sub-skills?q=scaffold')).items
  assert.match(subSkills[0].sub_skill_id, /^ss_\d+$/)
  const path = `/operator/skill-requests/${requestedSkill.request_id}`
  assert.equal((await operator.post(`${path}/approve`, { sub_skill_id: 'ss_99999999' })).status, 400)
  const approveResponse = await operator.post(`${path}/approve`, {
    sub_skill_id: subSkills[0].sub_skill_id,
    verifiable: true,
  })
  assert.deepEqual(approveResponse.body.data.resolved, [requestedSkill.request_id])
  assert.equal((await read(`/skills/${approveResponse.body.data.skill_id}`)).body.data.name, 'Bamboo scaffolding tying')
  assert.equal((await operator.post(`${path}/approve`, { sub_skill_id: subSkills[0].sub_skill_id })).status, 409)
  const rejectResponse = await operator.post(`/operator/skill-requests/${otherRequest.request_id}/reject`)
  assert.equal(rejectResponse.body.data.status, 'rejected')
})

test('a taxonomy is imported after a dry run', async () => {
  const { app, context, clock, operator, get } = await setUp()
  clock.advance(MINUTE)
  const catalogueBefore = await get('/operator/catalogue')
  const uploadTaxonomy = (dry: boolean, body = TAXONOMY_CSV) =>
    app.fetch(`${CONSOLE_API}/operator/catalogue/imports?format=csv&file_name=kites.csv&dry_run=${dry}`, {
      method: 'POST',
      headers: {
        cookie: operator.cookie,
        'x-csrf-token': operator.csrf,
        'content-type': 'application/octet-stream',
      },
      body,
    })
  const waitForLatestImport = async () => {
    let latestImport: any
    await until(async () => {
      clock.advance(100)
      latestImport = (await get('/operator/catalogue/imports')).items[0]
      return latestImport.status !== 'running'
    })
    return latestImport
  }
  assert.equal((await uploadTaxonomy(true)).status, 202)
  const dryRunImport = await waitForLatestImport()
  assert.deepEqual([dryRunImport.status, dryRunImport.summary.added, dryRunImport.summary.refused], ['done', 1, 1])
  assert.equal((await get('/operator/catalogue')).skills, catalogueBefore.skills)
  await uploadTaxonomy(false)
  const { status, written, of } = await waitForLatestImport()
  assert.deepEqual([status, written, of], ['done', 4, 4])
  const catalogueAfter = await get('/operator/catalogue')
  assert.equal(catalogueAfter.skills, catalogueBefore.skills + 1)
  assert.ok(catalogueAfter.sources.some(({ source, skills }: any) => source === 'csv' && skills === 1))
  await uploadTaxonomy(false, 'not,a,taxonomy\n1,2,3\n')
  const failedImport = await waitForLatestImport()
  assert.equal(failedImport.status, 'failed')
  assert.doesNotMatch(failedImport.error, /\/tmp/)
  // Neither an unterminated line nor a very long file blocks the event loop.
  for (const [body, expected] of [
    [
      `id,name,description,aliases,sub_skill,master_skill,verifiable\n"${'x'.repeat(5_000_000)}`,
      /longer than 262,144 characters/,
    ],
    [
      `${TAXONOMY_CSV.split('\n')[0]}\n${Array.from({ length: 100_000 }, (_, index) => `k-${index},Kite ${index},,,Paper craft,Crafts,`).join('\n')}`,
      /"added":100000/,
    ],
  ] as const) {
    assert.equal((await uploadTaxonomy(true, body)).status, 202)
    const stopWatching = watchEventLoop()
    const finishedImport = await waitForLatestImport()
    const blockedMs = stopWatching()
    assert.match(JSON.stringify(finishedImport), expected)
    assert.ok(blockedMs < 500, `the event loop was blocked for ${blockedMs} ms of CPU time`)
  }
  await context.db.pool.query(
    `insert into catalogue_imports (import_id, format, file_name, dry_run, status, started_by, started_at, alive_at)
       values ('IM_Z', 'csv', 'x', false, 'running', 'operator', $1, $1)`,
    [new Date(clock.now())],
  )
  assert.equal((await uploadTaxonomy(true)).status, 409, 'one at a time')
  clock.advance(2 * MINUTE)
  assert.equal((await uploadTaxonomy(true)).status, 202, 'an import whose process died does not block the next one')
})

test('the import of a taxonomy is recorded', async () => {
  const { app, clock, operator, get } = await setUp()
  clock.advance(MINUTE)
  const query = 'format=csv&file_name=recorded.csv&dry_run=true'
  await until(async () => {
    const { status, body } = await app.fetch(`${CONSOLE_API}/operator/catalogue/imports?${query}`, {
      method: 'POST',
      headers: {
        cookie: operator.cookie,
        'x-csrf-token': operator.csrf,
        'content-type': 'application/octet-stream',
      },
      body: TAXONOMY_CSV,
    })
    if (status === 409) {
      clock.advance(100) // requests are limited
      return false // the import of an earlier test is still running
    }
    assert.equal(status, 202, JSON.stringify(body))
    return true
  })
  const [{ who, action, subject, details }] = (await get('/operator/audit?limit=1')).items
  assert.deepEqual([who, action], [operator.email, 'catalogue.import'])
  assert.deepEqual(details, { format: 'csv', file_name: 'recorded.csv', dry_run: true })
  await until(async () => {
    clock.advance(100)
    const { items } = await get('/operator/catalogue/imports')
    return items.find(({ import_id }: any) => import_id === subject).status === 'done'
  })
})

test('failed jobs are retried, and emails can be read', async () => {
  const { context, clock, operator, get } = await setUp()
  clock.advance(MINUTE)
  const emailId = await context.db.transaction((tx) =>
    queueEmail(tx, context, {
      kind: 'notice',
      to: { address: 'a@example.com' },
      subject: 'News',
      text: 'Hello',
      html: '<p>Hello</p>',
    }),
  )
  const waitingJobs = (await get('/operator/jobs?state=waiting&queue=send-mail')).items
  assert.deepEqual(waitingJobs[0].about, [emailId])
  const retryJob = (id: string) => operator.post(`/operator/jobs/send-mail/${id}/retry`)
  assert.equal((await retryJob(waitingJobs[0].job_id)).status, 409)
  await context.db.pool.query(
    `update pgboss.job set state = 'failed', output = '{"message": "the mail server is unreachable"}' where id = $1`,
    [waitingJobs[0].job_id],
  )
  const [failedJob] = (await get('/operator/jobs')).items
  assert.equal(failedJob.error, 'the mail server is unreachable')
  assert.equal((await get('/operator/queues')).items.find(({ queue }: any) => queue === 'send-mail').failed, 1)
  assert.equal((await retryJob(failedJob.job_id)).body.data.state, 'waiting')

  const { items } = await get('/operator/mails?kind=notice&status=queued')
  assert.equal(items[0].mail_id, emailId)
  assert.equal((await get(`/operator/mails/${emailId}`)).text, 'Hello')
})

test('active rate limits are listed', async () => {
  const { app, clock, get } = await setUp()
  clock.advance(MINUTE)
  const { key } = await app.fixtures.createOrg()
  // The clock does not advance, so every request after the burst is rejected. The hundredth rejection starts the cooldown.
  for (let n = 0; n < 140; n++) await app.as(key).post('/skill-requests', { name: '' })
  const { cooldowns } = await get('/operator/limits')
  assert.deepEqual(
    cooldowns.map(({ key_id, org_id }: any) => [key_id, org_id]),
    [[key.keyId, key.orgId]],
  )
  assert.equal(Date.parse(cooldowns[0].until), clock.now() + MINUTE)
  for (let n = 0; n < 21; n++)
    await app.fetch(`${CONSOLE_API}/sign-in/link`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"token":"guess"}',
    })
  const { visitors } = await get('/operator/limits')
  assert.deepEqual(
    visitors.map(({ rule }: any) => rule),
    ['console-sign-in'],
  )
})
