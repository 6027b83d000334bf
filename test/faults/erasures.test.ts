import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { MAX_CANDIDATES_PER_REQUEST } from '../../server/campaigns/enrolment.ts'
import { getErasureProgress } from '../../server/offboarding/erase-organisation.ts'
import type { Database } from '../../server/platform/database/database.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { createPartnerCalls } from '../support/call.ts'
import { TestClock } from '../support/clock.ts'
import { signIn } from '../support/console.ts'
import { aCandidate, createCampaignPartner } from '../support/partners.ts'
import { until } from '../support/until.ts'
import { startServerProcess } from './server-process.ts'

/** Run it with KILLS=20 before a release. */
const KILLS = Number(process.env.KILLS ?? 3)
const PEOPLE_PER_KILL = 12
const PARALLEL_CALLS = 4
const ERASURE = { basis: 'GDPR Article 17', requested_by: 'the person' }

test('killing the server while it erases people leaves nobody half-erased and loses no erasure', {
  timeout: 120_000 + KILLS * 60_000,
}, async (t) => {
  const clock = new TestClock(Date.now())
  const app = await startApp(t, { clock })
  const { db, config } = app.context
  const count = KILLS * PEOPLE_PER_KILL
  const { key } = await enrolTwice(app, count)
  const { rows } = await db.pool.query<{ person_id: string }>('select person_id from people order by random()')
  const waiting = rows.map(({ person_id }) => person_id)
  assert.equal(waiting.length, count)

  const acknowledged = new Set<string>()
  let erasedCount = 0
  for (let kill = 1; kill <= KILLS; kill++) {
    clock.set(Date.now())
    const { url, child } = await startServerProcess(t, config, { ROLES: 'api' })
    clock.set(Date.now())
    const partner = createPartnerCalls(url, key, clock)
    const exited = once(child, 'exit')
    const responded = Promise.withResolvers<void>()
    const startedAt = performance.now()
    const calls = Array.from({ length: PARALLEL_CALLS }, () => eraseUntilKilled(partner, responded.resolve))
    await responded.promise
    await pause(Math.random() * (performance.now() - startedAt))
    child.kill('SIGKILL')
    await Promise.all([exited, ...calls])
    const { erased, errors } = await checkPeople(db)
    assert.deepEqual(errors, [], `after kill ${kill}`)
    for (const personId of acknowledged)
      assert.ok(erased.has(personId), `${personId} was acknowledged and is not erased`)
    erasedCount = erased.size
  }
  assert.ok(acknowledged.size >= KILLS)
  t.diagnostic(`${KILLS} kills, ${acknowledged.size} erasures acknowledged, ${erasedCount} made, of ${count} people`)

  /** Erases people until the connection fails. A person whose call failed is erased again later. */
  async function eraseUntilKilled(
    partner: ReturnType<typeof createPartnerCalls>,
    onResponse: () => void,
  ): Promise<void> {
    for (;;) {
      const personId = waiting.shift()
      if (!personId) return onResponse()
      try {
        const { status, body } = await partner.post(`/people/${personId}/erase`, ERASURE)
        assert.equal(status, 200, JSON.stringify(body))
        acknowledged.add(personId)
        onResponse()
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        waiting.push(personId)
        return
      }
    }
  }
})

test('the erasure of an organisation continues after the server was killed', { timeout: 180_000 }, async (t) => {
  const clock = new TestClock(Date.now())
  const app = await startApp(t, { clock })
  const { db, config } = app.context
  const count = 300
  const { orgId } = await enrolTwice(app, count)
  const operator = await signIn(app)
  const { name } = (await operator.get(`/operator/orgs?q=${orgId}`)).body.data.items[0]
  const request = { confirm_name: name, basis: 'End of contract' }
  assert.equal((await operator.post(`/operator/orgs/${orgId}/erase`, request)).status, 202)
  const getProgress = () => getErasureProgress(db.queries, orgId)

  const { child } = await startServerProcess(t, config)
  await until(async () => (await getProgress()).people_erased > 0)
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
  const { erased, errors } = await checkPeople(db)
  assert.deepEqual(errors, [])
  assert.ok(erased.size < count, 'the server was killed too late')
  assert.equal((await getProgress()).status, 'running')

  await startServerProcess(t, config)
  await until(async () => (await getProgress()).status === 'erased', 120_000)
  const { people, people_erased } = (await operator.get(`/operator/orgs/${orgId}/erasure`)).body.data
  assert.deepEqual([people, people_erased], [count, count])
  assert.deepEqual((await checkPeople(db)).errors, [])
})

/** Enrols people in two campaigns each. */
async function enrolTwice(app: TestApp, count: number) {
  const partner = await createCampaignPartner(app, { credits: 2 * count, peoplePerDay: count })
  const { mandate_id } = await partner.createMandate()
  const candidates = Array.from({ length: count }, (_, index) => aCandidate(index))
  for (let start = 0; start < count; start += MAX_CANDIDATES_PER_REQUEST.test) {
    const batch = candidates.slice(start, start + MAX_CANDIDATES_PER_REQUEST.test)
    await partner.createCampaign(mandate_id, batch)
    await partner.createCampaign(mandate_id, batch)
  }
  return partner
}

/** Returns the erased people, and a line for each person who is neither complete nor erased. */
async function checkPeople(db: Database): Promise<{ erased: Set<string>; errors: string[] }> {
  const { rows } = await db.pool.query<{ person_id: string; is_erased: boolean } & Record<string, number>>(`
    select p.person_id, p.erased_at is not null as is_erased,
      (p.sealed_key is not null)::int as keys,
      (select count(*)::int from person_addresses a where a.person_id = p.person_id) as addresses,
      (select count(*)::int from candidates c where c.person_id = p.person_id and c.phone_index is not null) as indexes,
      (select count(*)::int from candidates c join candidate_progress using (candidate_id)
        where c.person_id = p.person_id and status = 'pending') as pending,
      (select count(*)::int from erasures e where e.person_id = p.person_id) as erasures,
      (select count(*)::int from (select data from event_outbox where type = 'person.erased'
        union all select data from events where type = 'person.erased') e
        where e.data::jsonb ->> 'person_id' = p.person_id) as events
    from people p`)
  const expected = {
    true: { keys: 0, addresses: 0, indexes: 0, pending: 0, erasures: 1, events: 1 },
    false: { keys: 1, addresses: 1, indexes: 2, pending: 2, erasures: 0, events: 0 },
  }
  const errors = rows.flatMap(({ person_id, is_erased, ...counts }) =>
    JSON.stringify(counts) === JSON.stringify(expected[`${is_erased}`])
      ? []
      : [`${person_id} ${is_erased ? 'erased' : 'not erased'}: ${JSON.stringify(counts)}`],
  )
  return { erased: new Set(rows.filter(({ is_erased }) => is_erased).map(({ person_id }) => person_id)), errors }
}
