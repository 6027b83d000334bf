import { statfs } from 'node:fs/promises'
import { sql } from 'kysely'
import { Gauge } from 'prom-client'
import { isPausedCampaign } from './campaigns/campaigns.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { coalesce } from './platform/coalesce.ts'
import type { Queries } from './platform/database/database.ts'
import { withDeadline } from './platform/deadline.ts'
import { isNoDeadLetter } from './platform/jobs/dead-letters.ts'
import { startPoller } from './platform/jobs/poller.ts'
import type { BackgroundActivity } from './platform/jobs/queue.ts'
import type { Metrics } from './platform/metrics.ts'

/** Work that waits for an engine, and the age at which an operator is alarmed. */
const backlogs = {
  events: { maxAgeSeconds: 60, meaning: 'recorded events that are not sequenced' },
  deliveries: { maxAgeSeconds: 300, meaning: 'webhook deliveries whose attempt is overdue' },
  reports: { maxAgeSeconds: 300, meaning: 'reports to applicant tracking systems whose attempt is overdue' },
  contacts: { maxAgeSeconds: 600, meaning: 'candidates whose contact is overdue' },
  sends: { maxAgeSeconds: 600, meaning: 'messages to candidates and reviewers whose send is overdue' },
  credentials: { maxAgeSeconds: 600, meaning: 'sessions and candidates whose credentials are due' },
  mandates: { maxAgeSeconds: 600, meaning: 'mandates that are being prepared' },
  dead_letters: { maxAgeSeconds: Number.POSITIVE_INFINITY, meaning: 'rows that could not be processed' },
} as const
type BacklogName = keyof typeof backlogs

interface Backlog {
  name: BacklogName
  /** Number of waiting rows, at most MAX_COUNTED_ROWS. */
  rows: number
  /** How long the oldest row has been waiting; 0 if there is none. */
  ageSeconds: number
  /** Whether the age needs the attention of an operator. */
  isTooOld: boolean
  meaning: string
}

/** Counting stops at this number of rows, so that reading a long backlog takes little time. */
export const MAX_COUNTED_ROWS = 10_000
const DATABASE_TIMEOUT_MS = 2000
const CHECK_INTERVAL_MS = 15_000
/** An operator is alarmed if less than this part of the disk, and less than MIN_FREE_BYTES, is free. */
const MIN_FREE_RATIO = 0.1
const MIN_FREE_BYTES = 5 * 1024 ** 3

/** Reads how much work is waiting for each engine. */
export async function readBacklogs(queries: Queries, now: number): Promise<Backlog[]> {
  const time = new Date(now)
  const { rows } = await sql<{ name: BacklogName; rows: number; since: Date | null }>`
    select 'events' as name, count(*)::int as rows, min(created_at) as since
    from (
      select created_at from event_outbox where ${isNoDeadLetter('events', sql`event_id`)} limit ${MAX_COUNTED_ROWS}
    ) as waiting
    union all
    select 'deliveries', count(*)::int, min(next_attempt_at) from (
      select next_attempt_at from webhooks w cross join lateral (
        select next_attempt_at from webhook_deliveries d
        where d.webhook_id = w.webhook_id and d.status = 'pending' and d.next_attempt_at <= ${time}
        order by next_attempt_at limit ${MAX_COUNTED_ROWS}
      ) as due where w.status in ('enabled', 'failing') limit ${MAX_COUNTED_ROWS}
    ) as waiting
    union all
    select 'reports', count(*)::int, min(next_attempt_at) from (
      select next_attempt_at from ats_reports r where state = 'pending' and next_attempt_at <= ${time}
        and not exists (select from ats_reports e where e.order_id = r.order_id and e.state = 'pending' and e.number < r.number)
      order by next_attempt_at limit ${MAX_COUNTED_ROWS}
    ) as waiting
    union all
    select 'contacts', count(*)::int, min(due_at) from (
      select due_at from contacts
      where due_at <= ${time} and not held and not restricted and ${isNoDeadLetter('contacts', sql`candidate_id`)} order by due_at limit ${MAX_COUNTED_ROWS}
    ) as waiting
    union all
    select 'sends', count(*)::int, min(due_at) from (
      select m.due_at from messages m join campaigns g using (campaign_id)
      where m.state = 'queued' and m.due_at <= ${time} and not ${isPausedCampaign} and g.test_clock_id is null
      union all
      select m.due_at from review_messages m
      where m.state = 'queued' and m.due_at <= ${time}
        and not exists (select from organisations o where o.org_id = m.org_id and o.paused_since is not null)
        and not exists (select from service_switch where paused_since is not null)
      order by due_at limit ${MAX_COUNTED_ROWS}
    ) as waiting
    union all
    select 'credentials', count(*)::int, min(issue_due_at) from (
      select issue_due_at from credential_consents
      where issue_due_at <= ${time} and ${isNoDeadLetter('issue-credentials', sql`source_id`)}
        and not exists (select from organisations o where o.org_id = credential_consents.org_id and o.paused_since is not null)
        and not exists (select from service_switch where paused_since is not null)
      order by issue_due_at limit ${MAX_COUNTED_ROWS}
    ) as waiting
    union all
    select 'mandates', count(*)::int, min(updated_at) from (
      select updated_at from mandates
      where status = 'preparing' and ${isNoDeadLetter('prepare-mandate', sql`mandate_id`)} limit ${MAX_COUNTED_ROWS}
    ) as waiting
    union all
    select 'dead_letters', count(*)::int, min(first_failed_at) from dead_letters`.execute(queries)
  return rows.map(({ name, rows: count, since }) => {
    const ageSeconds = since === null ? 0 : Math.max(0, (now - since.getTime()) / 1000)
    return {
      name,
      rows: count,
      ageSeconds,
      isTooOld: ageSeconds > backlogs[name].maxAgeSeconds,
      meaning: backlogs[name].meaning,
    }
  })
}

interface DiskSpace {
  freeBytes: number
  totalBytes: number
  isTooSmall: boolean
}

/** Reads the free space of the disk with the embedded database; undefined with an external database, which this machine cannot see. */
export async function readDiskSpace({
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<DiskSpace | undefined> {
  if (databaseUrl !== undefined) return undefined
  const { bavail, blocks, bsize } = await statfs(dataDir)
  const [freeBytes, totalBytes] = [bavail * bsize, blocks * bsize]
  return {
    freeBytes,
    totalBytes,
    isTooSmall: freeBytes < MIN_FREE_BYTES && freeBytes < MIN_FREE_RATIO * totalBytes,
  }
}

/** Registers metrics of the backlogs and the disk. They are omitted while the database does not respond. */
export function observeBacklogs(
  { registry }: Pick<Metrics, 'registry'>,
  { db, clock, config }: Pick<Context, 'db' | 'clock' | 'config'>,
): void {
  const registers = [registry]
  // Both metrics are collected at the same time and share one query.
  const currentBacklogs = coalesce(() =>
    withDeadline(readBacklogs(db.queries, clock.now()), DATABASE_TIMEOUT_MS).catch((): Backlog[] => []),
  )
  new Gauge({
    name: 'attestry_backlog_rows',
    help: `Number of rows that wait for background work, by kind; at most ${MAX_COUNTED_ROWS}.`,
    labelNames: ['backlog'],
    registers,
    async collect() {
      const current = await currentBacklogs()
      this.reset()
      for (const { name, rows } of current) this.set({ backlog: name }, rows)
    },
  })
  new Gauge({
    name: 'attestry_backlog_oldest_seconds',
    help: 'How long the oldest row has been waiting for background work, by kind.',
    labelNames: ['backlog'],
    registers,
    async collect() {
      const current = await currentBacklogs()
      this.reset()
      for (const { name, ageSeconds } of current) this.set({ backlog: name }, ageSeconds)
    },
  })
  if (config.databaseUrl !== undefined) return
  new Gauge({
    name: 'attestry_disk_free_bytes',
    help: 'Free space of the disk with the embedded database.',
    registers,
    async collect() {
      const space = await readDiskSpace(config).catch(() => undefined)
      if (space) this.set(space.freeBytes)
    },
  })
}

/** Raises an alarm when a backlog becomes too old or the disk too full, once until it has recovered. */
export function watchBacklogs(
  { db, clock, config, log, metrics }: Pick<Context, 'db' | 'clock' | 'config' | 'log' | 'metrics'>,
  checkIntervalMs = CHECK_INTERVAL_MS,
): BackgroundActivity {
  const raisedAlarms = new Set<string>()
  const poller = startPoller({
    async poll() {
      for (const { name, rows, ageSeconds, isTooOld, meaning } of await readBacklogs(db.queries, clock.now()))
        report(`backlog_${name}`, isTooOld, { rows, seconds: Math.round(ageSeconds) }, `backlog is too old: ${meaning}`)
      const space = await readDiskSpace(config).catch(() => undefined)
      if (space) report('disk_full', space.isTooSmall, { free_bytes: space.freeBytes }, 'the disk is almost full')
      return checkIntervalMs
    },
    onError: (error) => log.warn({ err: error }, 'reading the backlogs failed, retrying'),
    retryDelayMs: checkIntervalMs,
  })
  poller.pollWithin(checkIntervalMs)
  return poller

  function report(alarm: string, isRaised: boolean, figures: object, message: string) {
    if (!isRaised) raisedAlarms.delete(alarm)
    if (!isRaised || raisedAlarms.has(alarm)) return
    raisedAlarms.add(alarm)
    metrics.alarms.inc({ alarm })
    log.error({ alarm, ...figures }, message)
  }
}
