import pg from 'pg'
import { withDeadline } from '../deadline.ts'
import type { ConnectionSettings, DatabaseHost } from './connection-settings.ts'
import { destroySocket } from './destroy-socket.ts'
import { ReadOnlyDatabaseError } from './read-only.ts'

const PROBE_TIMEOUT_MS = 5_000
/** How long the other servers may take to respond after the first one that accepts writes. */
const OTHERS_TIMEOUT_MS = 500

type Hosts = readonly DatabaseHost[]

const primaries = new WeakMap<Hosts, Promise<DatabaseHost>>()

/** Returns the server that accepts writes. It is searched for again after `forgetPrimary`. */
export function findPrimary(hosts: Hosts): Promise<DatabaseHost> {
  const known = primaries.get(hosts)
  if (known) return known
  const search = probeAll(hosts, () => forgetPrimary(hosts, search))
  primaries.set(hosts, search)
  search.catch(() => forgetPrimary(hosts, search))
  return search
}

/** Makes the next connection search for the primary, because the known one failed. */
export function forgetPrimary(hosts: Hosts, failed = primaries.get(hosts)): void {
  if (primaries.get(hosts) === failed) primaries.delete(hosts)
}

/** Returns settings that name the primary only. */
export async function resolvePrimary(settings: ConnectionSettings): Promise<ConnectionSettings> {
  if (!settings.hosts) return settings
  const { hosts, ...others } = settings
  return { ...others, connectionString: (await findPrimary(hosts)).connectionString }
}

interface Primary {
  host: DatabaseHost
  timeline: string
}

/**
 * Probes all servers at the same time, so that an unresponsive one delays the search by at most half a second. If several accept writes,
 * because a former primary was started again, the one with the latest timeline is used: each promotion of a standby begins a new one. Calls
 * `onLaterPrimary` if a server with a later timeline responds after the search has ended.
 */
async function probeAll(hosts: Hosts, onLaterPrimary: () => void): Promise<DatabaseHost> {
  const found: Primary[] = []
  let chosen: Primary | undefined
  const errors: Error[] = []
  const othersTimedOut = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  const probes = hosts.map(async (host) => {
    try {
      const timeline = await readTimeline(host)
      found.push({ host, timeline })
      if (chosen && timeline > chosen.timeline) onLaterPrimary()
      timer ??= setTimeout(othersTimedOut.resolve, OTHERS_TIMEOUT_MS)
    } catch (error) {
      errors.push(error as Error)
    }
  })
  await Promise.race([Promise.all(probes), othersTimedOut.promise])
  clearTimeout(timer)
  chosen = found.toSorted((a, b) => (a.timeline > b.timeline ? -1 : 1))[0]
  if (chosen) return chosen.host
  throw new AggregateError(
    errors,
    `none of the ${hosts.length} database servers accepts writes: ${errors.map(({ message }) => message).join('; ')}`,
  )
}

/** Returns the timeline of a server, as text of a fixed length. Throws if the server does not accept writes. */
async function readTimeline({ connectionString }: DatabaseHost): Promise<string> {
  const client = new pg.Client({
    connectionString,
    application_name: 'attestry probe',
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await withDeadline(
      client.query<{ is_read_only: boolean; timeline: string }>(
        `select current_setting('transaction_read_only')::boolean as is_read_only,
           case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`,
      ),
      PROBE_TIMEOUT_MS,
    )
    const { is_read_only, timeline } = rows[0]!
    if (is_read_only) throw new ReadOnlyDatabaseError()
    return timeline
  } finally {
    destroySocket(client)
  }
}
