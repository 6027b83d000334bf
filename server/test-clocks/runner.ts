import { type RawBuilder, sql } from 'kysely'
import { isNotPaused } from '../access/service-switch.ts'
import type { Context } from '../context.ts'
import { type Clock, realClock } from '../platform/clock.ts'
import type { Database, Queries, Tx } from '../platform/database/database.ts'
import { isDatabaseUnavailable } from '../platform/database/outage.ts'
import { startDuePoller } from '../platform/jobs/due-poller.ts'
import type { BackgroundActivity } from '../platform/jobs/queue.ts'
import { TEST_CLOCK_DUE, type TestClock } from './test-clocks.ts'

/** Work of a module at due times of a test clock. */
export interface TimedWork {
  /** SQL that selects `test_clock_id` and `due_at` of every row of the module that is attached to a test clock and can be processed. */
  dueTimes: () => RawBuilder<{ test_clock_id: string; due_at: Date }>
  /** Processes the due rows of a test clock. The time of the clock does not change during a transaction of `context.db`. */
  processDue: (context: Context, testClockId: string, isStopped: () => boolean) => Promise<void>
}

/** Number of due times after which the other test clocks are processed. */
const MAX_STEPS_PER_TURN = 50
/** Number of times that rows may still be due after they were processed: another process may have them locked. */
const MAX_IDLE_STEPS = 3

/**
 * Moves advancing test clocks from due time to due time, and processes the rows that are due at each. Any number of processes may run
 * this concurrently: a clock moves only while no transaction holds its time, and only if no row is due before.
 */
export function startTestClocks(context: Context, works: TimedWork[]): BackgroundActivity {
  const { db, clock, log, keyring } = context
  const poller = startDuePoller({
    clock,
    nextDueAt: async () => ((await listRunnable(context, works)).length > 0 ? clock.now() : undefined),
    work: (isStopped) => runTestClocks(context, works, isStopped),
    onError: (error) => log.warn({ err: error }, 'running test clocks failed, retrying'),
  })
  db.onCommitted(TEST_CLOCK_DUE, poller.wake)
  keyring.onPauseChanged(poller.wake)
  return { stop: poller.stop }
}

/** Runs all test clocks until none of them advances and none of their rows is due. */
export async function runTestClocks(
  context: Context,
  works: TimedWork[],
  isStopped: () => boolean = () => false,
): Promise<void> {
  await context.keyring.ensureFresh()
  const blockedIds = new Set<string>()
  for (;;) {
    const ids = (await listRunnable(context, works)).filter((id) => !blockedIds.has(id))
    if (ids.length === 0 || isStopped()) return
    for (const id of ids) {
      try {
        if (!(await runTestClock(context, works, id, isStopped))) blockedIds.add(id)
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error
        context.log.warn({ err: error, test_clock: id }, 'running a test clock failed, running the others and retrying')
        blockedIds.add(id)
      }
    }
  }
}

/** Lists the test clocks that advance or have due rows, those that waited longest first. Those of paused organisations wait. */
async function listRunnable({ db, keyring }: Context, works: TimedWork[]): Promise<string[]> {
  const { rows } = await sql<{ test_clock_id: string }>`
    select test_clock_id from test_clocks k
    where archived_at is null and ${isNotPaused(sql`k.org_id`, keyring.pausedOrganisations())} and (advancing_to is not null
      or exists (select from ${allDueTimes(works)} as due where due.test_clock_id = k.test_clock_id and due.due_at <= k.now_at))
    order by updated_at`.execute(db.queries)
  return rows.map(({ test_clock_id }) => test_clock_id)
}

function allDueTimes(works: TimedWork[]): RawBuilder<unknown> {
  return sql`(${sql.join(
    works.map(
      ({ dueTimes }, index) =>
        sql`select ${sql.lit(index)} as work, * from (${dueTimes()}) as rows_${sql.raw(String(index))}`,
    ),
    sql` union all `,
  )})`
}

/** Runs one test clock for a number of due times. Returns false if its due rows cannot be processed now. */
async function runTestClock(
  context: Context,
  works: TimedWork[],
  id: string,
  isStopped: () => boolean,
): Promise<boolean> {
  let idleSteps = 0
  let lastDueTime = Number.NaN
  for (let step = 0; step < MAX_STEPS_PER_TURN && !isStopped(); step++) {
    const move = await context.db.transaction((tx) => moveTestClock(tx, context.clock, works, id))
    if (move.dueWorks.length === 0) return true
    idleSteps = move.dueTime === lastDueTime ? idleSteps + 1 : 0
    lastDueTime = move.dueTime
    if (idleSteps > MAX_IDLE_STEPS) return false
    const clockContext = atTimeOf(context, id, move.time)
    for (const index of move.dueWorks) await works[index]!.processDue(clockContext, id, isStopped)
  }
  return true
}

interface Move {
  /** The time of the clock after the move. */
  time: number
  /** The earliest due time, and the works that have rows to process at the time of the clock. */
  dueTime: number
  dueWorks: number[]
}

/**
 * Moves a test clock to its next due time, or to the end of the advance if nothing is due before. While rows are due, the clock stands
 * still. The lock waits for all transactions that use the time of the clock.
 */
async function moveTestClock(tx: Tx, clock: Clock, works: TimedWork[], id: string): Promise<Move> {
  const { rows } = await sql<TestClock>`
    select * from test_clocks where test_clock_id = ${id} and archived_at is null for update`.execute(tx)
  if (!rows[0]) return { time: 0, dueTime: 0, dueWorks: [] }
  const { now_at, advancing_to } = rows[0]
  const dueTimes = await findDueTimes(tx, works, id)
  const dueTime = Math.min(...dueTimes.values())
  const now = now_at.getTime()
  const end = advancing_to?.getTime()
  if (dueTime > now && end !== undefined) {
    const time = Math.min(dueTime, end)
    // The advance ends once everything that is due at its end has been processed.
    const hasEnded = dueTime > end
    await sql`update test_clocks set now_at = ${new Date(time)}, advancing_to = ${hasEnded ? null : advancing_to},
      updated_at = ${new Date(realClock(clock).now())} where test_clock_id = ${id}`.execute(tx)
    return { time, dueTime, dueWorks: worksDueAt(time) }
  }
  return { time: now, dueTime, dueWorks: worksDueAt(now) }

  function worksDueAt(time: number): number[] {
    return [...dueTimes].filter(([, due]) => due <= time).map(([work]) => work)
  }
}

/** Returns the earliest due time of each work that has rows of a test clock, by the index of the work. */
async function findDueTimes(queries: Queries, works: TimedWork[], id: string): Promise<Map<number, number>> {
  const { rows } = await sql<{ work: number; due_at: Date }>`
    select work, min(due_at) as due_at from ${allDueTimes(works)} as due where test_clock_id = ${id} group by work`.execute(
    queries,
  )
  return new Map(rows.map(({ work, due_at }) => [work, due_at.getTime()]))
}

/**
 * Returns the context with the time of a test clock. Its transactions read the time again and keep it unchanged until they end: another
 * process may have moved the clock in the meantime.
 */
function atTimeOf(context: Context, id: string, initialTime: number): Context {
  let time = initialTime
  const clock: Clock = { now: () => time, real: context.clock }
  const db: Database = {
    ...context.db,
    transaction: (work) =>
      context.db.transaction(async (tx) => {
        const { rows } = await sql<{ now_at: Date }>`
          select now_at from test_clocks where test_clock_id = ${id} for share`.execute(tx)
        time = rows[0]!.now_at.getTime()
        return work(tx)
      }),
  }
  return { ...context, clock, db }
}
