import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { isNotPaused, type PausedOrganisations } from '../access/service-switch.ts'
import type { Context } from '../context.ts'
import { recordEvents } from '../events/record.ts'
import type { EventType } from '../events/types.ts'
import { storeItemSets } from '../items/item-sets.ts'
import { NotMeasurableError, SkillItemSource } from '../items/skill-item-source.ts'
import { type Clock, MINUTE, SECOND } from '../platform/clock.ts'
import type { Database, Tx } from '../platform/database/database.ts'
import { isDatabaseUnavailable } from '../platform/database/outage.ts'
import {
  deleteDeadLetter,
  isNoDeadLetter,
  nextDeadLetterRetry,
  recordDeadLetter,
} from '../platform/jobs/dead-letters.ts'
import { type DuePoller, startDuePoller } from '../platform/jobs/due-poller.ts'
import type { Language } from '../platform/text/languages.ts'
import { WriterError, type WriterErrorReason } from '../questions/writer-error.ts'
import { skillsToVerify } from './body.ts'
import type { StoredFlow } from './flow.ts'
import { FlowWriter, type WrittenFlow } from './flow-writer.ts'
import { languageWarnings } from './languages.ts'
import { fullMandateRecord } from './mandate-record.ts'
import { type Mandate, type MandateRow, mandateColumns, mandateFromRow } from './mandate-rows.ts'
import { MANDATE_TO_PREPARE } from './mandates.ts'

export type PreparationDeps = Pick<Context, 'db' | 'clock' | 'log' | 'metrics' | 'catalogue' | 'writer' | 'keyring'>

export interface PreparerOptions {
  slowBatchMs?: number
}

export interface Preparer {
  /** Starts preparing due mandates in the background. */
  start(): void
  /** Prepares all due mandates and resolves when none is left. */
  prepareAll(): Promise<void>
  /** Stops the preparation and releases claimed mandates. */
  stop(): Promise<void>
}

/** How long the claim of a mandate is valid without renewal. */
export const LEASE_MS = 6 * SECOND
const LEASE_RENEWAL_INTERVAL_MS = 2 * SECOND
/** Delay after a notification, so that mandates created together are prepared together. */
const BATCH_WINDOW_MS = 100
/** The first attempt to prepare a mandate runs immediately, the others after 1, 2, 4, 5, 5… seconds. */
const MAX_RETRY_DELAY_MS = 5 * SECOND
/** Attempts are repeated for at least this long, and at least this often: an outage may begin while a mandate waits in the queue. */
const GIVE_UP_AFTER_MS = 2 * MINUTE
export const MIN_ATTEMPTS = 8
/** A timeout takes more than a minute, so fewer attempts are enough. */
const MIN_ATTEMPTS_WITH_TIMEOUT = 3

/**
 * The built-in writer takes milliseconds, so mandates are processed in batches to save round trips. An AI endpoint is slow, so
 * several workers wait for it concurrently.
 */
const CONCURRENCY = { 'built-in': { workers: 1, batchSize: 100 }, ai: { workers: 4, batchSize: 1 } } as const

/**
 * If a batch takes longer than this, another worker is started until the batch is done. Otherwise a few requests that an AI endpoint does
 * not respond to would delay all other mandates until they time out.
 */
const SLOW_BATCH_MS = 3 * SECOND
const MAX_BACKUP_WORKERS = 12

interface ClaimedMandate {
  mandate: Mandate
  languages: Language[]
  attempts: number
}

/** Creates and starts a preparer, which runs until it is stopped. */
export function startPreparation(deps: PreparationDeps, options?: PreparerOptions): Preparer {
  const preparer = openPreparer(deps, options)
  preparer.start()
  return preparer
}

/** Creates a preparer. Its queue is the mandates with status `preparing`, which any number of processes can share. */
export function openPreparer(deps: PreparationDeps, { slowBatchMs = SLOW_BATCH_MS }: PreparerOptions = {}): Preparer {
  const { db, clock, log, metrics, catalogue, writer, keyring } = deps
  const { workers, batchSize } = CONCURRENCY[writer.kind]
  const flowWriter = new FlowWriter(writer, new SkillItemSource(db, writer, () => clock.now()))
  const stopController = new AbortController()
  const claimedMandates = new Set<ClaimedMandate>()
  let wakeCallbacks: (() => void)[] = []
  let runningWorkers: Promise<void>[] = []
  const backupWorkers = new Set<Promise<void>>()
  let renewalTimer: NodeJS.Timeout | undefined
  let poller: DuePoller | undefined

  return {
    start() {
      renewalTimer = setInterval(() => void renewLeases().catch(logError), LEASE_RENEWAL_INTERVAL_MS)
      renewalTimer.unref()
      poller = startDuePoller({
        clock,
        nextDueAt: () => findNextDueTime(db, keyring.pausedOrganisations()),
        work: async () => wakeWorkers(),
        onError: logError,
      })
      db.onCommitted(MANDATE_TO_PREPARE, poller.wake)
      keyring.onPauseChanged(poller.wake)
      runningWorkers = Array.from({ length: workers }, () => runWorker())
    },
    async prepareAll() {
      while (await prepareBatch());
    },
    async stop() {
      stopController.abort()
      clearInterval(renewalTimer)
      await poller?.stop()
      wakeWorkers()
      await Promise.all([...runningWorkers, ...backupWorkers])
    },
  }

  async function runWorker(isDone = () => false) {
    while (!stopController.signal.aborted && !isDone()) {
      const woken = new Promise<void>((resolve) => wakeCallbacks.push(resolve))
      const preparedCount = await prepareWithBackup().catch((error) => {
        logError(error)
        return 0
      })
      if (preparedCount === batchSize) continue
      if (preparedCount === 0 && !stopController.signal.aborted && !isDone()) await woken
      await sleep(BATCH_WINDOW_MS, undefined, { signal: stopController.signal }).catch(() => {})
    }
  }

  /** Prepares one batch. While it is slow, a backup worker prepares others. */
  async function prepareWithBackup(): Promise<number> {
    let isFinished = false
    const slowTimer = setTimeout(() => {
      if (backupWorkers.size >= MAX_BACKUP_WORKERS) return
      const backup = runWorker(() => isFinished).finally(() => backupWorkers.delete(backup))
      backupWorkers.add(backup)
    }, slowBatchMs)
    slowTimer.unref()
    try {
      return await prepareBatch()
    } finally {
      clearTimeout(slowTimer)
      isFinished = true
      if (backupWorkers.size > 0) wakeWorkers()
    }
  }

  function wakeWorkers() {
    const callbacks = wakeCallbacks
    wakeCallbacks = []
    for (const wake of callbacks) wake()
  }

  /** Prepares one batch of mandates and returns its size. */
  async function prepareBatch(): Promise<number> {
    await keyring.ensureFresh()
    const claimedBatch = await claimDueMandates(deps, batchSize, keyring.pausedOrganisations())
    if (claimedBatch.length === 0) return 0
    for (const each of claimedBatch) claimedMandates.add(each)
    const stopTimer = metrics.jobs.startTimer({ queue: 'prepare-mandate' })
    try {
      const writtenMandates: WrittenMandate[] = []
      for (const each of claimedBatch) {
        const outcome = await writeFlow(each)
        if ('flow' in outcome) writtenMandates.push(outcome)
        else await releaseOrFail(each, outcome.error)
      }
      const failedCount = await saveFlows(writtenMandates)
      stopTimer({ outcome: writtenMandates.length - failedCount === claimedBatch.length ? 'done' : 'failed' })
    } finally {
      for (const each of claimedBatch) claimedMandates.delete(each)
    }
    return claimedBatch.length
  }

  /** Saves all flows in one transaction, or one by one if that fails, so that one bad mandate does not block the others. */
  async function saveFlows(writtenMandates: WrittenMandate[]): Promise<number> {
    try {
      await db.transaction((tx) => markReady(tx, clock, writtenMandates))
      return 0
    } catch (error) {
      if (writtenMandates.length === 1) await releaseOrFail(writtenMandates[0]!.claimed, error)
      if (writtenMandates.length <= 1) return 1
    }
    let failedCount = 0
    for (const each of writtenMandates) failedCount += await saveFlows([each])
    return failedCount
  }

  async function writeFlow(claimed: ClaimedMandate): Promise<WrittenMandate | { error: unknown }> {
    const { mandate, languages } = claimed
    try {
      stopController.signal.throwIfAborted() // it may have been claimed during shutdown
      const { org_id: orgId, body, created_via: createdVia } = mandate
      const skills = await catalogue.load({ ids: skillsToVerify(body.skills) })
      const result = await flowWriter.write({
        orgId,
        body,
        createdVia,
        skills,
        languages,
        signal: stopController.signal,
      })
      return { claimed, ...result }
    } catch (error) {
      return { error }
    }
  }

  /**
   * Schedules a retry, or marks the mandate as failed after the last attempt or a permanent error. While the preparer is stopping,
   * releases the mandate without counting the attempt.
   */
  async function releaseOrFail(claimed: ClaimedMandate, error: unknown) {
    const { mandate, attempts } = claimed
    if (stopController.signal.aborted) return postponePreparation(db, claimed, clock.now(), attempts - 1)
    const isPermanent = error instanceof WriterError ? !error.isTransient : error instanceof NotMeasurableError
    const isTimeout = error instanceof WriterError && error.reason === 'timeout'
    const hasTriedEnough =
      attempts >= (isTimeout ? MIN_ATTEMPTS_WITH_TIMEOUT : MIN_ATTEMPTS) &&
      clock.now() - mandate.updated_at.getTime() >= GIVE_UP_AFTER_MS
    const isFinal = isPermanent || hasTriedEnough
    log.warn(
      { err: error, mandate_id: mandate.mandate_id, attempts },
      `preparing a mandate failed, ${isFinal ? 'giving up' : 'retrying'}`,
    )
    if (isFinal) return db.transaction((tx) => markFailed(tx, clock, claimed, failureMessage(error, attempts)))
    const delay = Math.min(MAX_RETRY_DELAY_MS, SECOND * 2 ** (attempts - 1))
    return postponePreparation(db, claimed, clock.now() + delay, attempts)
  }

  async function renewLeases() {
    const ids = [...claimedMandates].map(({ mandate }) => mandate.mandate_id)
    if (ids.length === 0) return
    await sql`update mandates set prepare_at = ${new Date(clock.now() + LEASE_MS)}
      where mandate_id = any(${ids}) and status = 'preparing'`.execute(db.queries)
  }

  function logError(error: unknown) {
    if (!stopController.signal.aborted) log.warn({ err: error }, 'polling for mandates to prepare failed, retrying')
  }
}

interface WrittenMandate extends WrittenFlow {
  claimed: ClaimedMandate
}

/** Returns the time at which the next mandate is due, the next lease expires, or a mandate that could not be read is retried. */
async function findNextDueTime(db: Database, paused: PausedOrganisations): Promise<number | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select least(
      (select min(prepare_at) from mandates where status = 'preparing' and ${isNotPaused(sql`org_id`, paused)}
        and ${isNoDeadLetter('prepare-mandate', sql`mandate_id`)}),
      ${nextDeadLetterRetry('prepare-mandate')}) as at`.execute(db.queries)
  return rows[0]!.at?.getTime()
}

/**
 * Claims due mandates; concurrent processes skip locked rows. Mandates of paused organisations wait, and a mandate that cannot be read
 * becomes a dead letter.
 */
async function claimDueMandates(
  deps: PreparationDeps,
  limit: number,
  paused: PausedOrganisations,
): Promise<ClaimedMandate[]> {
  const { db, clock } = deps
  const now = clock.now()
  const { rows } = await sql<MandateRow & { languages: Language[]; attempts: number; is_dead_letter: boolean }>`
    update mandates set prepare_at = ${new Date(now + LEASE_MS)}, attempts = attempts + 1
    from workflows
    where workflows.workflow_id = mandates.workflow_id and mandate_id = any (array(
      select mandate_id from mandates where status = 'preparing' and prepare_at <= ${new Date(now)}
        and ${isNotPaused(sql`org_id`, paused)} and ${isNoDeadLetter('prepare-mandate', sql`mandate_id`, now)}
      order by prepare_at limit ${limit} for update skip locked))
    returning ${sql.join(mandateColumns.map((column) => sql.ref(column)))}, languages, attempts,
      exists (select from dead_letters where queue = 'prepare-mandate' and subject_id = mandate_id) as is_dead_letter`.execute(
    db.queries,
  )
  const claimedMandates: ClaimedMandate[] = []
  for (const { languages, attempts, is_dead_letter, ...row } of rows) {
    const { mandate_id: id, org_id: orgId, mode } = row
    try {
      claimedMandates.push({ mandate: mandateFromRow(row), languages, attempts })
      if (is_dead_letter) await db.transaction((tx) => deleteDeadLetter(tx, 'prepare-mandate', id))
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error
      await recordDeadLetter(deps, 'prepare-mandate', { id, orgId, mode: mode as 'test' | 'live' }, error)
    }
  }
  return claimedMandates
}

/** Stores the flows and records the events; skips mandates that were changed or archived in the meantime. */
async function markReady(tx: Tx, clock: Clock, writtenMandates: WrittenMandate[]): Promise<void> {
  if (writtenMandates.length === 0) return
  const now = new Date(clock.now())
  const input = writtenMandates.map(({ claimed: { mandate }, flow, missingLanguages }) => ({
    id: mandate.mandate_id,
    flow_version: mandate.flow_version,
    flow: JSON.stringify(flow),
    warnings: languageWarnings(missingLanguages),
  }))
  await storeItemSets(
    tx,
    now,
    writtenMandates.flatMap(({ claimed: { mandate }, itemSets }) =>
      itemSets.map((itemSet) => ({ ...itemSet, orgId: mandate.org_id })),
    ),
  )
  const { rows } = await sql<MandateRow>`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(input)}::jsonb) as input (id text, flow_version int, flow text, warnings text[])
    ), ready as (
      update mandates set status = 'ready', failure = null, language_warnings = input.warnings, version = version + 1, updated_at = ${now}
      from input
      where mandate_id = any (array(
          select mandate_id from mandates where mandate_id = any (array(select id from input)) order by mandate_id for no key update))
        and mandate_id = input.id and mandates.flow_version = input.flow_version and status = 'preparing'
      returning ${sql.join(mandateColumns.map((column) => sql.ref(column)))}, input.flow
    ), stored as (
      insert into mandate_flows (mandate_id, flow_version, flow, created_at)
      select mandate_id, flow_version, flow, ${now} from ready
    )
    select ${sql.join(mandateColumns.map((column) => sql.ref(column.replace('mandates.', ''))))} from ready order by mandate_id`.execute(
    tx,
  )
  const flows = new Map(writtenMandates.map(({ claimed: { mandate }, flow }) => [mandate.mandate_id, flow]))
  await recordMandateEvents(tx, clock, 'mandate.ready', rows.map(mandateFromRow), flows)
}

async function markFailed(tx: Tx, clock: Clock, { mandate }: ClaimedMandate, failure: string): Promise<void> {
  const row = await tx
    .updateTable('mandates')
    .set({ status: 'failed', failure, version: sql`version + 1`, updated_at: new Date(clock.now()) })
    .where('mandate_id', '=', mandate.mandate_id)
    .where('flow_version', '=', mandate.flow_version)
    .where('status', '=', 'preparing')
    .returning(mandateColumns)
    .executeTakeFirst()
  if (row) await recordMandateEvents(tx, clock, 'mandate.failed', [mandateFromRow(row)])
}

/** Marks a mandate that cannot be read as failed. Without its content there is no event; replacing the mandate prepares it again. */
export async function failUnreadableMandate(tx: Tx, clock: Clock, mandateId: string): Promise<void> {
  const failure = 'The stored mandate cannot be read. Replace it, or create it again.'
  await sql`update mandates set status = 'failed', failure = ${failure}, version = version + 1, updated_at = ${new Date(clock.now())}
    where mandate_id = ${mandateId} and status = 'preparing'`.execute(tx)
}

async function recordMandateEvents(
  tx: Tx,
  clock: Clock,
  type: EventType,
  mandates: Mandate[],
  flows = new Map<string, StoredFlow>(),
) {
  const byOrganisation = Map.groupBy(mandates, ({ org_id, mode }) => `${org_id} ${mode}`)
  for (const group of byOrganisation.values()) {
    const { org_id: orgId, mode } = group[0]!
    const records = group.map((mandate) => fullMandateRecord(mandate, flows.get(mandate.mandate_id) ?? null))
    await recordEvents(tx, { orgId, mode }, clock, type, records)
  }
}

async function postponePreparation(
  db: Database,
  { mandate }: ClaimedMandate,
  until: number,
  attempts: number,
): Promise<void> {
  await db.queries
    .updateTable('mandates')
    .set({ prepare_at: new Date(until), attempts })
    .where('mandate_id', '=', mandate.mandate_id)
    .where('flow_version', '=', mandate.flow_version)
    .where('status', '=', 'preparing')
    .execute()
}

/** Returns the failure message for partners; details are in the log. */
function failureMessage(error: unknown, attempts: number): string {
  if (error instanceof NotMeasurableError) return error.message
  const cause = error instanceof WriterError ? WRITER_ERROR_MESSAGES[error.reason] : undefined
  const attemptsPhrase = attempts === 1 ? '' : ` after ${attempts} attempts`
  return `The questions could not be written${attemptsPhrase}: ${cause ?? 'an unexpected error occurred'}.`
}

const WRITER_ERROR_MESSAGES: Partial<Record<WriterErrorReason, string>> = {
  timeout: 'the AI endpoint timed out',
  unavailable: 'the AI endpoint could not be reached',
  rejected: 'the AI endpoint rejected the request',
  refused: 'the AI model declined to write them',
  invalid: 'the AI endpoint returned no usable questions',
}
