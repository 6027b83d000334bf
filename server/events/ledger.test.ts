import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import type { OrgScope } from '../access/caller.ts'
import { DAY } from '../platform/clock.ts'
import { recordEvent, recordEvents } from './record.ts'

test('an event is sequenced once its transaction has committed, and never if it is rolled back', async (t) => {
  const { context, clock, fixtures } = await startApp(t)
  const { orgId } = await fixtures.createOrg()
  const scope = { orgId, mode: 'test' as const }

  await context.db.transaction((tx) => recordEvent(tx, scope, clock, 'mandate.ready', { mandate_id: 'JM_1' }))
  await assert.rejects(
    context.db.transaction(async (tx) => {
      await recordEvent(tx, scope, clock, 'mandate.ready', { mandate_id: 'JM_2' })
      throw new Error('rollback')
    }),
  )
  await context.events.flush(scope)

  const { rows } = await sql<{ data: string }>`select data from events`.execute(context.db.queries)
  assert.deepEqual(rows, [{ data: '{"mandate_id":"JM_1"}' }])
})

test('a reader that has seen sequence n never finds a new event below n, even with slow concurrent writers', async (t) => {
  const { context, clock, fixtures } = await startApp(t)
  const { orgId } = await fixtures.createOrg()
  const scope = { orgId, mode: 'live' as const }
  let isWriting = true
  const seenSequences: number[] = []

  const reader = (async () => {
    let lastSequence = 0
    const knownSequences = new Set<number>()
    while (true) {
      const hasStopped = !isWriting
      if (hasStopped) await context.events.sequence()
      const { rows } = await sql<{ sequence: number }>`select sequence from events order by sequence`.execute(
        context.db.queries,
      )
      for (const { sequence } of rows) {
        if (knownSequences.has(sequence)) continue
        assert.ok(sequence > lastSequence, `${sequence} appeared after ${lastSequence}`)
        knownSequences.add(sequence)
        seenSequences.push(sequence)
        lastSequence = sequence
      }
      if (hasStopped) return
    }
  })()
  const writers = Array.from({ length: 12 }, async (_, writer) => {
    for (let count = 0; count < 10; count++) {
      await context.db.transaction(async (tx) => {
        await recordEvents(tx, scope, clock, 'result.completed', [
          { writer, count },
          { writer, count },
        ])
        if (writer < 3) await sql`select pg_sleep(0.03)`.execute(tx) // a slow writer
      })
    }
  })
  await Promise.all(writers)
  isWriting = false
  await reader

  assert.equal(seenSequences.length, 240)
})

test('events that were recorded but not sequenced are sequenced by the next poll', async (t) => {
  const { context, clock, fixtures } = await startApp(t)
  const { orgId } = await fixtures.createOrg()
  const scope = { orgId, mode: 'test' as const }
  // The state after a crash between commit and notification.
  await sql`insert into event_outbox values ('EV_LOST', ${orgId}, 'test', 'mandate.ready', '{}', ${new Date(clock.now())})`.execute(
    context.db.queries,
  )

  // Polls run every five seconds; a busy machine takes longer.
  await context.events.wait(scope, undefined, 20_000, new AbortController().signal)

  const { rows } = await sql`select 1 from events where event_id = 'EV_LOST'`.execute(context.db.queries)
  assert.equal(rows.length, 1)
})

test('the days of events do not go back with the clock, in any shard', async (t) => {
  const { context, clock, fixtures } = await startApp(t)
  const start = clock.now()
  const scopes: OrgScope[] = []
  for (let index = 0; index < 4; index++) scopes.push({ orgId: (await fixtures.createOrg()).orgId, mode: 'live' })
  const recordForAll = async () => {
    for (const scope of scopes)
      await context.db.transaction((tx) => recordEvent(tx, scope, clock, 'mandate.ready', { mandate_id: 'JM_1' }))
    await Promise.all(scopes.map((scope) => context.events.flush(scope)))
  }
  await recordForAll()
  clock.set(start + DAY)
  await recordForAll()
  clock.set(start)
  await recordForAll()

  for (const { orgId } of scopes) {
    const { rows } = await sql<{ day: string }>`
      select day::text from events where org_id = ${orgId} order by sequence`.execute(context.db.queries)
    assert.deepEqual(
      rows.map(({ day }) => day),
      ['2026-03-11', '2026-03-12', '2026-03-12'],
    )
  }
})
