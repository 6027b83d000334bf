import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { skillNumber } from '../catalogue/ids.ts'
import type { Context } from '../context.ts'
import { recordEvents } from '../events/record.ts'
import type { EventType } from '../events/types.ts'
import { type Clock, MINUTE, SECOND } from '../platform/clock.ts'
import type { Database, Tx } from '../platform/database/database.ts'
import { keepLookout, type Lookout } from '../platform/jobs/due-poller.ts'
import { WriterError, type WriterFault } from '../questions/writer-error.ts'
import type { Language } from '../workflows/workflows.ts'
import { toVerify } from './body.ts'
import type { Flow } from './flow.ts'
import { FlowWriter, TooFewQuestions, type WrittenFlow } from './flow-writer.ts'
import { languageWarnings } from './languages.ts'
import { wholeMandate } from './mandate-record.ts'
import { columns, type Mandate, type MandateRow, read } from './mandate-rows.ts'
import { MANDATE_TO_PREPARE } from './mandates.ts'

export type PreparingOptions = Pick<Context, 'db' | 'clock' | 'log' | 'metrics' | 'catalogue' | 'writer'>

export interface Preparer {
  /** Prepares what is there and whatever comes. */
  start(): void
  /** Prepares all that is due, and resolves when nothing more is. */
  settle(): Promise<void>
  /** Hands back what is under way. */
  stop(): Promise<void>
}

/** How long a claim holds without a sign of life. */
export const LEASE = 6 * SECOND
const SIGN_OF_LIFE = 2 * SECOND
/** After a nudge: what comes in together is prepared together. */
const GATHER = 100
/** The first at once, the others after a second, two, four…: two minutes in all. */
export const MOST_ATTEMPTS = 8
const LONGEST_DELAY = MINUTE

/**
 * The built-in writer takes milliseconds at most, so many mandates share the round trips to the database. An AI endpoint
 * takes long, so several wait for it side by side.
 */
const PACE = { 'built-in': { lanes: 1, batch: 100 }, ai: { lanes: 4, batch: 1 } } as const

interface Claimed {
  mandate: Mandate
  languages: Language[]
  attempts: number
}

/** Prepares mandates until it is stopped. */
export function startPreparing(options: PreparingOptions): Preparer {
  const preparer = openPreparer(options)
  preparer.start()
  return preparer
}

/** The rows that are `preparing` are its queue, which any number of processes may share. */
export function openPreparer(options: PreparingOptions): Preparer {
  const { db, clock, log, metrics, catalogue, writer } = options
  const { lanes, batch } = PACE[writer.kind]
  const flows = new FlowWriter(writer, catalogue)
  const stopping = new AbortController()
  const held = new Set<Claimed>()
  let wake: (() => void)[] = []
  let running: Promise<void>[] = []
  let living: NodeJS.Timeout | undefined
  let lookout: Lookout | undefined

  return {
    start() {
      living = setInterval(() => void holdOn().catch(report), SIGN_OF_LIFE)
      living.unref()
      lookout = keepLookout({ clock, soonest: () => soonest(db), work: async () => rouse(), report })
      db.onCommitted(MANDATE_TO_PREPARE, lookout.wake)
      running = Array.from({ length: lanes }, runLane)
    },
    async settle() {
      while (await prepareSome());
    },
    async stop() {
      stopping.abort()
      clearInterval(living)
      await lookout?.stop()
      rouse()
      await Promise.all(running)
    },
  }

  async function runLane() {
    while (!stopping.signal.aborted) {
      const roused = new Promise<void>((resolve) => wake.push(resolve))
      const prepared = await prepareSome().catch((error) => {
        report(error)
        return 0
      })
      if (prepared === batch) continue
      if (prepared === 0 && !stopping.signal.aborted) await roused
      await pause(GATHER, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  function rouse() {
    const sleepers = wake
    wake = []
    for (const resolve of sleepers) resolve()
  }

  /** How many there were to prepare. */
  async function prepareSome(): Promise<number> {
    const claimed = await claim(db, clock, batch)
    if (claimed.length === 0) return 0
    for (const each of claimed) held.add(each)
    const end = metrics.jobs.startTimer({ queue: 'prepare-mandate' })
    try {
      const written: Written[] = []
      for (const each of claimed) {
        const outcome = await write(each)
        if ('flow' in outcome) written.push(outcome)
        else await giveBack(each, outcome.error)
      }
      const missed = await keep(written)
      end({ outcome: written.length - missed === claimed.length ? 'done' : 'failed' })
    } finally {
      for (const each of claimed) held.delete(each)
    }
    return claimed.length
  }

  /** All at once; where that does not go, one by one, so that one of them keeps none of the others waiting. */
  async function keep(written: Written[]): Promise<number> {
    try {
      await db.transaction((tx) => finish(tx, clock, written))
      return 0
    } catch (error) {
      if (written.length === 1) await giveBack(written[0]!.claimed, error)
      if (written.length <= 1) return 1
    }
    let missed = 0
    for (const each of written) missed += await keep([each])
    return missed
  }

  async function write(claimed: Claimed): Promise<Written | { error: unknown }> {
    const { mandate, languages } = claimed
    try {
      stopping.signal.throwIfAborted() // it may have been claimed at the very moment
      await takeUpSkills(catalogue, mandate)
      const { mandate_id: mandateId, flow_version: flowVersion, body } = mandate
      const result = await flows.write({ mandateId, flowVersion, body, languages, signal: stopping.signal })
      return { claimed, ...result }
    } catch (error) {
      return { error }
    }
  }

  /** After a fault: again in a while, or failed where that was the last attempt or another one would end alike. */
  async function giveBack(claimed: Claimed, error: unknown) {
    const { mandate, attempts } = claimed
    if (stopping.signal.aborted) return postpone(db, claimed, clock.now(), attempts - 1)
    log.warn({ err: error, mandate_id: mandate.mandate_id, attempts }, 'a mandate could not be prepared')
    const hopeless =
      error instanceof WriterError ? !error.passing : error instanceof TooFewQuestions && writer.kind === 'built-in'
    if (hopeless || attempts >= MOST_ATTEMPTS)
      return db.transaction((tx) => fail(tx, clock, claimed, reasonOf(error, attempts)))
    const delay = Math.min(LONGEST_DELAY, SECOND * 2 ** (attempts - 1))
    return postpone(db, claimed, clock.now() + delay, attempts)
  }

  async function holdOn() {
    const ids = [...held].map(({ mandate }) => mandate.mandate_id)
    if (ids.length === 0) return
    await sql`update mandates set prepare_at = ${new Date(clock.now() + LEASE)}
      where mandate_id = any(${ids}) and status = 'preparing'`.execute(db.queries)
  }

  function report(error: unknown) {
    if (!stopping.signal.aborted) log.warn({ err: error }, 'mandates could not be prepared yet')
  }
}

interface Written extends WrittenFlow {
  claimed: Claimed
}

/** A skill that was added a moment ago may not have reached this process yet. */
async function takeUpSkills(catalogue: Catalogue, { body }: Mandate) {
  await catalogue.learn({ numbers: toVerify(body.skills).map((id) => skillNumber(id)!) })
}

/** When something is to be prepared next, or to be taken from a process that gives no sign of life. */
async function soonest(db: Database): Promise<number | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(prepare_at) as at from mandates where status = 'preparing'`.execute(db.queries)
  return rows[0]!.at?.getTime()
}

/** Takes what is due; whoever else looks meanwhile takes something else. */
async function claim(db: Database, clock: Clock, most: number): Promise<Claimed[]> {
  const now = clock.now()
  const { rows } = await sql<MandateRow & { languages: Language[]; attempts: number }>`
    update mandates set prepare_at = ${new Date(now + LEASE)}, attempts = attempts + 1
    from workflows
    where workflows.workflow_id = mandates.workflow_id and mandate_id = any (array(
      select mandate_id from mandates where status = 'preparing' and prepare_at <= ${new Date(now)}
      order by prepare_at limit ${most} for update skip locked))
    returning ${sql.join(columns.map((column) => sql.ref(column)))}, languages, attempts`.execute(db.queries)
  return rows.map(({ languages, attempts, ...row }) => ({ mandate: read(row), languages, attempts }))
}

/** Keeps what was written and says so; what was changed or archived in the meantime is left alone. */
async function finish(tx: Tx, clock: Clock, written: Written[]): Promise<void> {
  if (written.length === 0) return
  const now = new Date(clock.now())
  const given = written.map(({ claimed: { mandate }, flow, untold }) => ({
    id: mandate.mandate_id,
    flow_version: mandate.flow_version,
    flow: JSON.stringify(flow),
    warnings: languageWarnings(untold),
  }))
  const { rows } = await sql<MandateRow>`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as given (id text, flow_version int, flow text, warnings text[])
    ), ready as (
      update mandates set status = 'ready', failure = null, language_warnings = given.warnings, version = version + 1, updated_at = ${now}
      from given
      where mandate_id = any (array(
          select mandate_id from mandates where mandate_id = any (array(select id from given)) order by mandate_id for no key update))
        and mandate_id = given.id and mandates.flow_version = given.flow_version and status = 'preparing'
      returning ${sql.join(columns.map((column) => sql.ref(column)))}, given.flow
    ), kept as (
      insert into mandate_flows (mandate_id, flow_version, flow, created_at)
      select mandate_id, flow_version, flow, ${now} from ready
    )
    select ${sql.join(columns.map((column) => sql.ref(column.replace('mandates.', ''))))} from ready order by mandate_id`.execute(
    tx,
  )
  const flows = new Map(written.map(({ claimed: { mandate }, flow }) => [mandate.mandate_id, flow]))
  await tell(tx, clock, 'mandate.ready', rows.map(read), flows)
}

async function fail(tx: Tx, clock: Clock, { mandate }: Claimed, failure: string): Promise<void> {
  const changed = await tx
    .updateTable('mandates')
    .set({ status: 'failed', failure, version: sql`version + 1`, updated_at: new Date(clock.now()) })
    .where('mandate_id', '=', mandate.mandate_id)
    .where('flow_version', '=', mandate.flow_version)
    .where('status', '=', 'preparing')
    .returning(columns)
    .executeTakeFirst()
  if (changed) await tell(tx, clock, 'mandate.failed', [read(changed)])
}

async function tell(tx: Tx, clock: Clock, type: EventType, mandates: Mandate[], flows = new Map<string, Flow>()) {
  const owners = Map.groupBy(mandates, ({ org_id, mode }) => `${org_id} ${mode}`)
  for (const own of owners.values()) {
    const { org_id: orgId, mode } = own[0]!
    const records = own.map((mandate) => wholeMandate(mandate, flows.get(mandate.mandate_id) ?? null))
    await recordEvents(tx, { orgId, mode }, clock, type, records)
  }
}

async function postpone(db: Database, { mandate }: Claimed, until: number, attempts: number): Promise<void> {
  await db.queries
    .updateTable('mandates')
    .set({ prepare_at: new Date(until), attempts })
    .where('mandate_id', '=', mandate.mandate_id)
    .where('flow_version', '=', mandate.flow_version)
    .where('status', '=', 'preparing')
    .execute()
}

/** In words for partners: what went wrong inside is in the log. */
function reasonOf(error: unknown, attempts: number): string {
  if (error instanceof TooFewQuestions) return error.message
  const cause = error instanceof WriterError ? FAULTS[error.fault] : undefined
  const tried = attempts === 1 ? '' : ` in ${attempts} attempts`
  return `The questions could not be written${tried}: ${cause ?? 'something unexpected went wrong'}.`
}

const FAULTS: Partial<Record<WriterFault, string>> = {
  timeout: 'the AI endpoint took too long',
  unavailable: 'the AI endpoint could not be reached',
  rejected: 'the AI endpoint refused the call',
  refused: 'the AI model declined to write them',
  invalid: 'the AI endpoint gave no usable questions',
}
