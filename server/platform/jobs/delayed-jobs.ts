import { sql } from 'kysely'
import { announce, type Database, type Tx } from '../database/database.ts'
import type { Log } from '../log.ts'

/** Jobs that start later are announced by nobody when their time comes. */
export interface Alarm {
  /** Some job has got another time, or will have within so many milliseconds. */
  look(within?: number): void
  stop(): Promise<void>
}

export interface AlarmOptions {
  db: Database
  log: Log
  /** The queue has a job whose time has come. */
  due: (queue: string) => void
  /** The queue has a job whose process gives no sign of life, or that takes too long. */
  lost: (queue: string) => Promise<void>
}

const TOPIC = 'jobs_put_off'
/** Milliseconds between looks for what was not announced; longer where looking takes long. */
const EVERY = 5000
const SHARE = 50
/** Milliseconds: what is told together is looked for once. */
const GATHER = 50
/** Milliseconds until a job that was lost has got another time. */
const AGAIN = 500

/** To be told in the transaction that gives a job another time. */
export function tellOfTime(tx: Tx): void {
  announce(tx, TOPIC)
}

/** One look at all queues, in place of every worker of each of them asking every second. */
export function setAlarm({ db, log, due, lost }: AlarmOptions): Alarm {
  let timer: NodeJS.Timeout | undefined
  let nextLook = Number.POSITIVE_INFINITY
  let looking: Promise<void> | undefined
  let stopped = false
  db.onCommitted(TOPIC, () => lookIn(GATHER))
  lookIn(0)
  return {
    look: (within = GATHER) => lookIn(within),
    async stop() {
      stopped = true
      clearTimeout(timer)
      await looking
    },
  }

  /** Unless that is done sooner anyway. */
  function lookIn(milliseconds: number) {
    const at = performance.now() + milliseconds
    if (stopped || at >= nextLook) return
    nextLook = at
    clearTimeout(timer)
    timer = setTimeout(() => {
      nextLook = Number.POSITIVE_INFINITY
      if (looking) return lookIn(GATHER)
      looking = lookNow().finally(() => {
        looking = undefined
      })
    }, milliseconds)
    timer.unref()
  }

  async function lookNow() {
    const started = performance.now()
    try {
      for (const { queue, dueIn, isLost } of await readQueues(db)) {
        if (isLost) {
          await lost(queue)
          lookIn(AGAIN)
        }
        if (dueIn === null) continue
        if (dueIn <= 0) due(queue)
        else lookIn(dueIn)
      }
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'jobs that are due could not be looked for yet')
    }
    lookIn(Math.max(EVERY, SHARE * (performance.now() - started)))
  }
}

interface QueueTimes {
  queue: string
  /** Milliseconds until a job may start. */
  dueIn: number | null
  isLost: boolean
}

async function readQueues(db: Database): Promise<QueueTimes[]> {
  const { rows } = await sql<QueueTimes>`
    select q.name as queue, next.due_in::float as "dueIn", coalesce(q.name = any (lost.names), false) as "isLost"
    from pgboss.queue q
    cross join lateral (
      select extract(epoch from min(j.start_after) - now()) * 1000 as due_in from pgboss.job j
      where j.name = q.name and j.state < 'active' and not j.blocked
    ) as next
    cross join (
      select array_agg(distinct j.name) as names from pgboss.job j
      where j.state = 'active' and (j.started_on + j.expire_seconds * interval '1 second' < now()
        or j.heartbeat_on + j.heartbeat_seconds * interval '1 second' < now())
    ) as lost
    where q.name not like '\\_\\_%'`.execute(db.queries)
  return rows
}
