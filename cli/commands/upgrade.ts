import { Command } from 'commander'
import pg from 'pg'
import packageJson from '../../package.json' with { type: 'json' }
import { readDiskSpace } from '../../server/backlogs.ts'
import { type Config, readConfig } from '../../server/config.ts'
import { formatWait } from '../../server/platform/clock.ts'
import { type ConnectionSettings, connectionSettings } from '../../server/platform/database/connection-settings.ts'
import { readMigrations, SchemaTooNewError } from '../../server/platform/database/migrate.ts'
import { resolvePrimary } from '../../server/platform/database/primary.ts'
import { readUpgradePlan, type UpgradePlan } from '../../server/platform/database/upgrade-plan.ts'
import { errorText } from '../../server/platform/error-text.ts'
import { createLog } from '../../server/platform/log.ts'
import { startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { nameDatabase, requireDatabase, withStore } from '../store.ts'

interface Finding {
  check: string
  state: 'ok' | 'warning' | 'failed'
  message: string
}

interface Report {
  version: string
  ready: boolean
  pending_migrations: string[]
  estimated_seconds: number
  findings: Finding[]
}

const STATE_MARKS = { ok: '✓', warning: '!', failed: '✗' }
const MIN_POSTGRES_MAJOR = 15
const CONNECT_TIMEOUT_MS = 10_000
/** Free space for the write-ahead log and temporary files, in addition to the tables that are processed. */
const EXTRA_DISK_BYTES = 512 * 1024 ** 2

export function upgradeCommand(): Command {
  return new Command('upgrade')
    .description(
      'Check whether the database can be upgraded to this version, and apply the missing migrations. Interrupted upgrades continue when the command is repeated',
    )
    .option('--check', 'only check, and change nothing')
    .addHelpText(...examples('upgrade --check', 'upgrade --check --json', 'upgrade'))
    .action(async ({ check = false }: { check?: boolean }, command: Command) => {
      const config = readConfig(process.env) // throws a ConfigError with one line per invalid variable
      requireDatabase(config)
      nameDatabase(config)
      const report = await checkUpgrade(config)
      if (!report.ready) process.exitCode = 1
      if (check || !report.ready) return print(command, report, () => formatReport(report))
      await withStore(async () => {})
      print(command, { ...report, upgraded: true }, () =>
        [formatReport(report), '', `The database is up to date with version ${packageJson.version}.`].join('\n'),
      )
    })
}

async function checkUpgrade(config: Config): Promise<Report> {
  const report: Report = {
    version: packageJson.version,
    ready: false,
    pending_migrations: [],
    estimated_seconds: 0,
    findings: [],
  }
  const add = (check: string, state: Finding['state'], message: string) =>
    report.findings.push({ check, state, message })
  await using opened = new AsyncDisposableStack()
  try {
    const pool = await connect(config, opened)
    await checkServer(pool, add)
    const plan = await readUpgradePlan(pool, await readMigrations())
    report.pending_migrations = plan.pending
    report.estimated_seconds = Math.ceil(plan.estimatedSeconds)
    addMigrations(plan, add)
    addLocks(plan, add)
    await addDisk(config, pool, plan, add)
  } catch (error) {
    add(error instanceof SchemaTooNewError ? 'version' : 'database', 'failed', errorText(error))
  }
  report.ready = !report.findings.some(({ state }) => state === 'failed')
  return report
}

type AddFinding = (check: string, state: Finding['state'], message: string) => void

/** Connects as the owner of the tables, and applies no migrations. */
async function connect(config: Config, opened: AsyncDisposableStack): Promise<pg.Pool> {
  const settings = await findConnection(config, opened)
  const pool = new pg.Pool({
    ...settings,
    max: 1,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: `attestry upgrade ${process.pid}`,
  })
  pool.on('error', () => {}) // reported by the next query
  opened.defer(() => pool.end())
  return pool
}

async function findConnection(config: Config, opened: AsyncDisposableStack): Promise<ConnectionSettings> {
  if (config.databaseUrl)
    return resolvePrimary(connectionSettings(config.databaseOwnerUrl ?? config.databaseDirectUrl ?? config.databaseUrl))
  const log = createLog('warn', { write: (line) => process.stderr.write(line) })
  const postgres = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    role: 'command',
    log: ({ level, message, ...rest }) => log[level](rest, message),
  })
  opened.defer(() => postgres.stop())
  return postgres.connection
}

async function checkServer(pool: pg.Pool, add: AddFinding) {
  const { rows } = await pool.query<{ version: string; is_standby: boolean; can_create: boolean }>(
    `select current_setting('server_version') as version, pg_is_in_recovery() as is_standby,
       has_schema_privilege('public', 'create') as can_create`,
  )
  const { version, is_standby, can_create } = rows[0]!
  if (Number.parseInt(version, 10) < MIN_POSTGRES_MAJOR)
    add(
      'database',
      'failed',
      `PostgreSQL ${version} is too old; upgrade it to version ${MIN_POSTGRES_MAJOR} or later first`,
    )
  else if (is_standby)
    add('database', 'failed', 'the database is a standby and accepts no writes; set DATABASE_URL to the primary')
  else if (!can_create)
    add(
      'database',
      'failed',
      'the role cannot create tables; set DATABASE_OWNER_URL to the role that owns the tables, and run the command again',
    )
  else add('database', 'ok', `PostgreSQL ${version} accepts connections and writes`)
}

function addMigrations({ pending, unknown, isRolling, isNew, estimatedSeconds, tables }: UpgradePlan, add: AddFinding) {
  if (unknown.length > 0)
    add(
      'version',
      'warning',
      `a newer version has applied ${unknown.join(', ')}; version ${packageJson.version} can still run, but start the newer version`,
    )
  else add('version', 'ok', `this is version ${packageJson.version}, and the database has no newer migrations`)
  if (pending.length === 0) return add('migrations', 'ok', 'all migrations are applied')
  add('migrations', 'ok', `${pending.length} would be applied: ${pending.join(', ')}`)
  if (isNew) return add('processes', 'ok', 'the database is empty')
  if (isRolling) add('processes', 'ok', 'processes of the running version can keep running during the upgrade')
  else
    add(
      'processes',
      'warning',
      'processes of the running version cannot use the new tables: stop all of them before the upgrade',
    )
  const largest = tables
    .filter(({ bytes }) => bytes > 0)
    .slice(0, 5)
    .map(({ name, bytes, rows }) => `${name} (${formatMegabytes(bytes)}, about ${rows} rows)`)
  add(
    'time',
    'ok',
    `about ${formatWait(Math.ceil(estimatedSeconds))}${largest.length > 0 ? `; processes whole tables: ${largest.join(', ')}` : ''}`,
  )
}

function addLocks({ blockers, isMigrating, pending }: UpgradePlan, add: AddFinding) {
  if (isMigrating)
    add('locks', 'warning', 'another process is applying migrations now; wait until it has finished, then check again')
  for (const { session, program, seconds, tables } of blockers)
    add(
      'locks',
      'warning',
      `session ${session} (${program}) has a transaction that is open for ${formatWait(seconds)}${tables.length > 0 ? ` and uses ${tables.join(', ')}` : ''}; it can block the upgrade, which then blocks requests: end this transaction first`,
    )
  if (!isMigrating && blockers.length === 0)
    add('locks', 'ok', pending.length > 0 ? 'no open transaction blocks the upgrade' : 'no migration is running')
}

async function addDisk(config: Config, pool: pg.Pool, { tables, pending }: UpgradePlan, add: AddFinding) {
  if (pending.length === 0) return
  // A rewritten table exists twice until the migration is committed.
  const neededBytes = EXTRA_DISK_BYTES + tables.reduce((sum, { bytes }) => sum + bytes, 0)
  const space = await readDiskSpace(config)
  if (!space) {
    const { rows } = await pool.query<{ bytes: string }>('select pg_database_size(current_database())::text as bytes')
    return add(
      'disk',
      'ok',
      `check that the database server has ${formatMegabytes(neededBytes)} free; the database has ${formatMegabytes(Number(rows[0]!.bytes))}`,
    )
  }
  const message = `${formatMegabytes(space.freeBytes)} are free where DATA_DIR is, and the upgrade can need ${formatMegabytes(neededBytes)}`
  if (space.freeBytes < neededBytes) add('disk', 'failed', `${message}; free disk space first`)
  else add('disk', 'ok', message)
}

function formatReport({ findings, ready, pending_migrations: pending }: Report): string {
  const lines = findings.map(({ check, state, message }) => `${STATE_MARKS[state]} ${check.padEnd(11)} ${message}`)
  const result = ready
    ? pending.length > 0
      ? 'The upgrade can start. Make a backup first: attestry backup'
      : 'There is nothing to upgrade.'
    : 'The upgrade cannot start. Nothing was changed.'
  return [...lines, '', result].join('\n')
}

function formatMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MB`
}
