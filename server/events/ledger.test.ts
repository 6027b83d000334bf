import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import { recordEvent, recordEvents } from './record.ts'

test('an event gets its place once its transaction has committed, and none when it has not', async (t) => {
  const { context, clock, given } = await startApp(t)
  const { orgId } = await given.org()
  const scope = { orgId, mode: 'test' as const }

  await context.db.transaction((tx) => recordEvent(tx, scope, clock, 'mandate.ready', { mandate_id: 'JM_1' }))
  await assert.rejects(
    context.db.transaction(async (tx) => {
      await recordEvent(tx, scope, clock, 'mandate.ready', { mandate_id: 'JM_2' })
      throw new Error('changed my mind')
    }),
  )
  await context.events.settle(scope)

  const { rows } = await sql<{ data: string }>`select data from events`.execute(context.db.queries)
  assert.deepEqual(rows, [{ data: '{"mandate_id":"JM_1"}' }])
})

test('a reader who has seen n never finds a new event below n, while many write and some take long', async (t) => {
  const { context, clock, given } = await startApp(t)
  const { orgId } = await given.org()
  const scope = { orgId, mode: 'live' as const }
  let writing = true
  const seen: number[] = []

  const reader = (async () => {
    let last = 0
    const known = new Set<number>()
    while (true) {
      const stopped = !writing
      if (stopped) await context.events.place()
      const { rows } = await sql<{ sequence: number }>`select sequence from events order by sequence`.execute(
        context.db.queries,
      )
      for (const { sequence } of rows) {
        if (known.has(sequence)) continue
        assert.ok(sequence > last, `${sequence} turned up after ${last}`)
        known.add(sequence)
        seen.push(sequence)
        last = sequence
      }
      if (stopped) return
    }
  })()
  const writers = Array.from({ length: 12 }, async (_, writer) => {
    for (let count = 0; count < 10; count++) {
      await context.db.transaction(async (tx) => {
        await recordEvents(tx, scope, clock, 'result.completed', [
          { writer, count },
          { writer, count },
        ])
        if (writer < 3) await sql`select pg_sleep(0.03)`.execute(tx) // one that takes long
      })
    }
  })
  await Promise.all(writers)
  writing = false
  await reader

  assert.equal(seen.length, 240)
})

test('what a process recorded and could not place is placed by the next look', async (t) => {
  const { context, clock, given } = await startApp(t)
  const { orgId } = await given.org()
  const scope = { orgId, mode: 'test' as const }
  // As after a crash between commit and placing: the row is there and nobody was told.
  await sql`insert into event_outbox values ('EV_LOST', ${orgId}, 'test', 'mandate.ready', '{}', ${new Date(clock.now())})`.execute(
    context.db.queries,
  )

  // Engines look by themselves every five seconds; a busy machine takes longer.
  await context.events.wait(scope, undefined, 20_000, new AbortController().signal)

  const { rows } = await sql`select 1 from events where event_id = 'EV_LOST'`.execute(context.db.queries)
  assert.equal(rows.length, 1)
})
