import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { CONSOLE_API, signIn, signInMember } from '../../test/support/console.ts'
import { aCandidate, createCampaignPartner } from '../../test/support/partners.ts'
import { until } from '../../test/support/until.ts'
import { contactTestCandidate, yourDataCalls } from '../../test/support/your-data.ts'
import { setDndCheck } from '../campaigns/dnd/dnd-check.ts'
import { setDailyCap } from '../campaigns/spending/spending.ts'
import { handleConsoleJobs } from '../console/jobs.ts'
import { setOrganisationHold } from '../notices/settings.ts'
import { eraseOrganisation, getErasureProgress } from './erase-organisation.ts'
import { exportOrganisation } from './export-organisation.ts'

test('an operator exports an organisation and erases it after entering its name', async (t) => {
  const app = await startApp(t, { worker: handleConsoleJobs })
  const { partner, link } = await contactTestCandidate(app)
  const other = await contactTestCandidate(app)
  const operator = await signIn(app)
  const lines: string[] = []
  const counts = await exportOrganisation(app.context.db, app.context, partner.orgId, async (entry) => {
    lines.push(JSON.stringify(entry))
  })
  assert.equal(counts.people, 1)
  const exported = lines.join('\n')
  for (const text of ['Person 1', 'person1@example.com', '"table":"campaigns"', '"table":"credit_entries"'])
    assert.ok(exported.includes(text), text)
  assert.ok(!exported.includes(other.partner.orgId))

  const erase = (confirm_name: string) =>
    operator.post(`/operator/orgs/${partner.orgId}/erase`, { confirm_name, basis: 'End of contract' })
  assert.equal((await erase('Another name')).status, 400)
  const { name } = (await operator.get(`/operator/orgs?q=${partner.orgId}`)).body.data.items[0]
  const creditsBefore = await countRows('credit_entries')
  const getProgress = async () => (await operator.get(`/operator/orgs/${partner.orgId}/erasure`)).body.data
  assert.equal((await getProgress()).status, 'not_requested')
  const erased = await erase(name)
  assert.equal(erased.status, 202, JSON.stringify(erased.body))
  assert.deepEqual([erased.body.data.status, erased.body.data.people], ['running', 1])
  const { people_erased, people_held, erased_at } = await waitForErasure(app, operator, partner.orgId, 'erased')
  assert.deepEqual([people_erased, people_held, typeof erased_at], [1, 0, 'string'])
  const { items: entries } = (await operator.get(`/operator/audit?org_id=${partner.orgId}`)).body.data
  assert.deepEqual(
    entries
      .filter(({ action }: any) => action.startsWith('org.erase'))
      .map(({ action, actor }: any) => [action, actor]),
    [
      ['org.erase', 'server'],
      ['org.erase_requested', 'operator'],
    ],
  )
  assert.equal(await countRows('credit_entries'), creditsBefore)
  assert.equal(await countRows('mails'), 0)
  assert.equal((await partner.get('/results')).status, 401) // the key is revoked
  const switchedOn = await operator.put(`/operator/orgs/${partner.orgId}/service`, { on: true })
  assert.equal(switchedOn.status, 409)
  assert.match(switchedOn.body.error.message, /so its service stays off/)
  assert.equal((await fetch(new URL(new URL(link, app.url).pathname, app.url))).status, 410)
  assert.equal((await other.partner.get('/results')).body.data.items[0].candidate.name, 'Person 1')
  const again = await erase(name)
  assert.deepEqual([again.status, again.body.data.status], [202, 'erased'])

  async function countRows(table: string): Promise<number> {
    const { rows } = await app.context.db.pool.query(`select count(*)::int as n from ${table} where org_id = $1`, [
      partner.orgId,
    ])
    return rows[0].n
  }
})

test('the erasure deletes the DND check, the send rates and the spending settings', async (t) => {
  const app = await startApp(t, { worker: handleConsoleJobs })
  const { context, clock } = app
  const { orgId } = await app.fixtures.createOrg()
  const operator = await signIn(app)
  const url = 'https://dnd.example.com/check'
  const tables = ['dnd_checks', 'send_rates', 'spending_settings']
  await context.db.transaction(async (tx) => {
    await setDndCheck(tx, context.vault, clock, orgId, url)
    await setDailyCap(tx, clock, { orgId, mode: 'live' }, 100)
  })
  await context.db.pool.query(`insert into send_rates (org_id, channel, next_free_at) values ($1, 'sms', now())`, [
    orgId,
  ])
  assert.deepEqual(await countRows(), [1, 1, 1])
  const { name } = (await operator.get(`/operator/orgs?q=${orgId}`)).body.data.items[0]
  const erased = await operator.post(`/operator/orgs/${orgId}/erase`, { confirm_name: name, basis: 'End of contract' })
  assert.equal(erased.status, 202, JSON.stringify(erased.body))
  await waitForErasure(app, operator, orgId, 'erased')
  assert.deepEqual(await countRows(), [0, 0, 0])

  function countRows(): Promise<number[]> {
    return Promise.all(
      tables.map(async (table) => {
        const { rows } = await context.db.pool.query(`select count(*)::int as n from ${table} where org_id = $1`, [
          orgId,
        ])
        return rows[0].n
      }),
    )
  }
})

test('the export has all rows of large tables', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  await app.context.db.pool.query(
    `insert into console_views (view_id, org_id, page, name, query, created_by, created_at)
     select 'VW_' || n, $1, 'results', 'View ' || n, '', 'asha@example.com', now() from generate_series(1, 1200) as n`,
    [orgId],
  )
  let views = 0
  await exportOrganisation(app.context.db, app.context, orgId, async (entry) => {
    if ('table' in entry && entry.table === 'console_views') views++
  })
  assert.equal(views, 1200)
})

test('an organisation with a legal hold is not erased, nor a person with one', async (t) => {
  const app = await startApp(t, { worker: handleConsoleJobs })
  const { partner, candidateId } = await contactTestCandidate(app)
  const operator = await signIn(app)
  const { name } = (await operator.get(`/operator/orgs?q=${partner.orgId}`)).body.data.items[0]
  const erase = () => operator.post(`/operator/orgs/${partner.orgId}/erase`, { confirm_name: name, basis: 'End' })
  await operator.put(`/orgs/${partner.orgId}/privacy/hold`, { reason: 'Audit' })
  assert.equal((await erase()).status, 409)
  await operator.put(`/orgs/${partner.orgId}/privacy/hold`, { reason: null })
  await app.context.db.pool.query(
    `update people set legal_hold = 'Lawsuit' where person_id = (select person_id from candidates where candidate_id = $1)`,
    [candidateId],
  )
  assert.equal((await erase()).status, 202)
  const progress = await waitForErasure(app, operator, partner.orgId, 'held')
  assert.deepEqual([progress.people_erased, progress.people_held, progress.erased_at], [0, 1, null])
  await app.context.db.pool.query('update people set legal_hold = null where org_id = $1', [partner.orgId])
  assert.equal((await getErasureProgress(app.context.db.queries, partner.orgId)).status, 'failed')
  assert.equal((await erase()).status, 202)
  assert.equal((await waitForErasure(app, operator, partner.orgId, 'erased')).people_erased, 1)
})

test('a person who cannot be erased does not prevent the erasure of others, and a legal hold prevents all', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  await partner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2), aCandidate(3)])
  const { db } = app.context
  const run = () =>
    eraseOrganisation(
      db,
      app.context,
      partner.orgId,
      { basis: 'End', requestedBy: 'test' },
      { onErased: async () => {} },
    )
  const setHold = (reason: string | null) =>
    db.transaction((tx) => setOrganisationHold(tx, app.clock, partner.orgId, reason))
  await setHold('Audit')
  const held = await run()
  assert.deepEqual([held.people_erased, held.people_held, held.erased_at], [0, 3, null])
  await setHold(null)

  // A second record of an erasure is rejected by the database.
  await db.pool.query(
    `insert into erasures (person_id, org_id, mode, basis, requested_by, records, erased_at)
     select min(person_id), org_id, mode, 'x', 'x', '{}', now() from people where org_id = $1 group by 2, 3`,
    [partner.orgId],
  )
  await assert.rejects(run(), /erasures_pkey/)
  assert.equal((await getErasureProgress(db.queries, partner.orgId)).people_erased, 2)
  await db.pool.query('delete from erasures where basis = $1', ['x'])
  assert.equal((await run()).people_erased, 3)
})

test('the breach list names the people of the affected records, with the data that is needed to inform them', async (t) => {
  const app = await startApp(t)
  const first = await contactTestCandidate(app)
  const second = await contactTestCandidate(app)
  const operator = await signIn(app)
  const csv = async (query: string) => {
    const { status, text } = await download(query)
    assert.equal(status, 200, text)
    return text.trim().split('\r\n').slice(1)
  }
  const lines = await csv(`?ids=${first.campaign.campaign_id}&tables=candidates,messages`)
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /,active,Person 1,\+919810000001,person1@example\.com,2,candidates messages/)
  const owner = await signInMember(app, first.partner.orgId, 'owner')
  const personId = /PER_\w+/.exec(lines[0]!)![0]
  const reason = { basis: 'GDPR Article 18', requested_by: 'the person' }
  const restricted = await owner.post(`/orgs/${first.partner.orgId}/test/people/${personId}/restrict`, reason)
  assert.equal(restricted.status, 200, JSON.stringify(restricted.body))
  assert.match((await csv(`?ids=${first.campaign.campaign_id}`))[0]!, /,restricted,Person 1,/)
  assert.equal((await csv(`?org=${second.partner.orgId}`)).length, 1)
  assert.equal((await csv('?from=2999-01-01T00:00:00Z')).length, 0)
  assert.equal((await csv('')).length, 2)
  assert.deepEqual(await csv('?tables=emails,credentials,orders'), [])
  await yourDataCalls(app, 'candidate', first.token).start('correct', 'phone', { email: 'new@example.com' })
  assert.match((await csv('?tables=emails'))[0]!, /Person 1,.*,1,emails$/)
  assert.equal((await download('?tables=names')).status, 400)

  async function download(query: string) {
    const response = await fetch(`${app.url}${CONSOLE_API}/operator/breach-list.csv${query}`, {
      headers: { cookie: operator.cookie },
    })
    return { status: response.status, text: await response.text() }
  }
})

/** Waits until the erasure of an organisation has a status, and returns its progress. */
async function waitForErasure(
  { context }: TestApp,
  operator: Awaited<ReturnType<typeof signIn>>,
  orgId: string,
  status: string,
) {
  await until(async () => (await getErasureProgress(context.db.queries, orgId)).status === status)
  return (await operator.get(`/operator/orgs/${orgId}/erasure`)).body.data
}
