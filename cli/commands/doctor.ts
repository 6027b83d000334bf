import { Command } from 'commander'
import { sql } from 'kysely'
import { pingRedis } from '../../server/access/rate-limits.ts'
import { MAX_COUNTED_ROWS, readBacklogs, readDiskSpace } from '../../server/backlogs.ts'
import { type Config, isLocalOnly, isLoopback, readConfig } from '../../server/config.ts'
import { maxConnectionsOf, readConnectionLimit } from '../../server/connection-budget.ts'
import { listOperators } from '../../server/console/auth/operators.ts'
import { formatWait, systemClock } from '../../server/platform/clock.ts'
import { type ConnectionSettings, connectionSettings } from '../../server/platform/database/connection-settings.ts'
import type { Database, Queries } from '../../server/platform/database/database.ts'
import {
  countApisWithSeparateLimits,
  liveProcesses,
  totalConnections,
} from '../../server/platform/database/process-heartbeat.ts'
import { openReplica } from '../../server/platform/database/replica.ts'
import { errorText } from '../../server/platform/error-text.ts'
import { createLog } from '../../server/platform/log.ts'
import { openStore } from '../../server/store.ts'
import { openEmailDomains } from '../../server/verification/endorsements/email-domains.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { nameDatabase, requireDatabase } from '../store.ts'
import { tryConnect } from '../try-connect.ts'

interface Finding {
  check: string
  /** `off`: not configured or not running, and optional. */
  state: 'ok' | 'off' | 'warning' | 'failed'
  message: string
}

const STATE_MARKS = { ok: '✓', off: '–', warning: '!', failed: '✗' }

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Check the configuration, the connections to the database, Redis, the mail server and the AI endpoint, the server processes, and webhook endpoints',
    )
    .addHelpText(...examples('doctor', 'doctor --json'))
    .action(async (_options: object, command: Command) => {
      const findings: Finding[] = []
      const addFinding = (check: string, state: Finding['state'], message: string) =>
        findings.push({ check, state, message })
      const config = readConfig(process.env) // throws a ConfigError with one line per invalid variable
      requireDatabase(config)
      nameDatabase(config)
      addFinding('configuration', 'ok', 'all variables are valid')
      await checkDatabase(config, addFinding)
      await checkRedis(config, addFinding)
      await checkMail(config, addFinding)
      await checkAi(config, addFinding)
      checkExposure(config, addFinding)
      await checkEmailDomains(config, addFinding)
      print(command, findings, () =>
        findings.map(({ check, state, message }) => `${STATE_MARKS[state]} ${check.padEnd(14)} ${message}`).join('\n'),
      )
      if (findings.some(({ state }) => state === 'failed')) process.exitCode = 1
    })
}

type AddFinding = (check: string, state: Finding['state'], message: string) => void

async function checkDatabase(config: Config, addFinding: AddFinding) {
  const location = describeLocation(config)
  const log = createLog('silent')
  await using opened = new AsyncDisposableStack()
  try {
    const { db, connection } = await openStore(config, 'command', { log, clock: systemClock }, opened)
    const { rows } = await sql<{ version: string; size: string }>`
      select current_setting('server_version') as version, pg_size_pretty(pg_database_size(current_database())) as size`.execute(
      db.queries,
    )
    const { version, size } = rows[0]!
    if (Number.parseInt(version, 10) < 15)
      addFinding('database', 'failed', `PostgreSQL ${version} is too old; version 15 or later is required`)
    else
      addFinding(
        'database',
        'ok',
        `PostgreSQL ${version}, ${location}, ${size}; migrations applied; secrets can be decrypted with the master key`,
      )
    await checkRole(db.queries, addFinding)
    await checkConnections(db, config, addFinding)
    await checkReplica(connection, config, addFinding)
    await checkBacklogs(db.queries, config, addFinding)
    const { rows: keyStatuses } = await sql<{ status: string; master_keys: number }>`
      select status, count(distinct master_key_id)::int as master_keys from data_keys group by status`.execute(
      db.queries,
    )
    if (keyStatuses.length > 1)
      addFinding(
        'data key',
        'warning',
        'a rotation of the data key was interrupted; run `npx attestry master-key rotate --data-key` to complete it',
      )
    else if (keyStatuses.some(({ master_keys }) => master_keys > 1))
      addFinding(
        'master key',
        'warning',
        'a rotation of the master key is not finished, so the old key is still valid; run `npx attestry master-key finish` when every process has the new key',
      )
    await checkOperators(db.queries, config, addFinding)
    await checkProcesses(db, addFinding)
    await checkEndpoints(db.queries, addFinding)
    const apiCount = await countApisWithSeparateLimits(db, Date.now())
    if (apiCount > 1)
      addFinding(
        'rate limits',
        'warning',
        `${apiCount} api processes run without REDIS_URL, so each counts rate limits separately; set REDIS_URL`,
      )
  } catch (error) {
    addFinding('database', 'failed', `${location}: ${errorText(error)}`)
  }
}

function describeLocation({ databaseUrl, databaseDirectUrl, dataDir }: Config): string {
  if (databaseDirectUrl)
    return 'external (DATABASE_URL for a pooler in transaction mode, DATABASE_DIRECT_URL for locks and notifications)'
  return databaseUrl ? 'external (DATABASE_URL)' : `embedded in ${dataDir}`
}

/** Checks that the rights of the database role do not exceed the server's needs. */
async function checkRole(queries: Queries, addFinding: AddFinding) {
  const { rows } = await sql<{ name: string; is_superuser: boolean; bypasses_policies: boolean; owns_tables: boolean }>`
    select rolname as name, rolsuper as is_superuser, rolbypassrls as bypasses_policies,
      exists (select from pg_class where relowner = pg_roles.oid and relname = 'organisations') as owns_tables
    from pg_roles where rolname = current_user`.execute(queries)
  const { name, is_superuser, bypasses_policies, owns_tables } = rows[0]!
  const grounds = is_superuser ? 'is a superuser' : bypasses_policies ? 'bypasses row-level security' : undefined
  if (grounds)
    addFinding(
      'database role',
      'warning',
      `${name} ${grounds}, so the database does not limit what the server can do; connect with a role that has fewer rights (see docs/guides/run-in-production.md)`,
    )
  else if (owns_tables)
    addFinding(
      'database role',
      'ok',
      `${name} is not a superuser, but owns the tables, so row-level security does not limit it; set DATABASE_OWNER_URL to separate the two`,
    )
  else addFinding('database role', 'ok', `${name} is not a superuser and owns no tables`)
}

async function checkConnections(db: Database, config: Config, addFinding: AddFinding) {
  const limit = await readConnectionLimit(db.queries)
  const processes = await liveProcesses(db, Date.now())
  const total = totalConnections(processes)
  const perProcess = `a process with this configuration opens up to ${maxConnectionsOf(config)}${
    config.databaseDirectUrl ? ', not counting those of the pooler' : ''
  }`
  if (total > limit)
    addFinding(
      'connections',
      'warning',
      `${processes.length} processes can open ${total} connections, but the database accepts ${limit}; set a lower DATABASE_POOL_SIZE, or raise max_connections`,
    )
  else addFinding('connections', 'ok', `the processes open up to ${total} of ${limit} connections; ${perProcess}`)
}

async function checkEmailDomains({ disposableDomainsFile }: Config, addFinding: AddFinding) {
  if (!disposableDomainsFile) return
  try {
    await openEmailDomains(disposableDomainsFile)
    addFinding('email domains', 'ok', `${disposableDomainsFile} can be read`)
  } catch (error) {
    addFinding('email domains', 'failed', errorText(error))
  }
}

async function checkBacklogs(queries: Queries, config: Config, addFinding: AddFinding) {
  const backlogs = await readBacklogs(queries, Date.now())
  const lateBacklogs = backlogs.filter(({ isTooOld }) => isTooOld)
  for (const { rows, ageSeconds, meaning } of lateBacklogs)
    addFinding(
      'backlog',
      'warning',
      `${rows}${rows === MAX_COUNTED_ROWS ? ' or more' : ''} waiting (${meaning}), the oldest for ${formatWait(Math.ceil(ageSeconds))}; check that a process with the role worker is running, and read its log`,
    )
  if (lateBacklogs.length === 0) addFinding('backlog', 'ok', 'no background work is late')
  const deadLetterCount = backlogs.find(({ name }) => name === 'dead_letters')!.rows
  if (deadLetterCount > 0)
    addFinding(
      'dead letters',
      'warning',
      `${deadLetterCount} ${deadLetterCount === 1 ? 'row' : 'rows'} could not be processed; list them with \`npx attestry dead-letters list\``,
    )
  const space = await readDiskSpace(config)
  if (!space) return
  const freeText = `${formatGigabytes(space.freeBytes)} of ${formatGigabytes(space.totalBytes)} free`
  if (space.isTooSmall)
    addFinding(
      'disk',
      'warning',
      `${freeText} where DATA_DIR is; free disk space, because the database stops when the disk is full`,
    )
  else addFinding('disk', 'ok', freeText)
}

function formatGigabytes(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GB`
}

async function checkOperators(queries: Queries, config: Config, addFinding: AddFinding) {
  const operators = (await listOperators(queries)).filter(({ disabled_at }) => disabled_at === null)
  const localOperator = operators.find(({ email }) => email.endsWith('@localhost'))
  if (operators.length === 0)
    addFinding('operators', 'warning', 'there is no operator; add one with: npx attestry operator add EMAIL')
  else if (localOperator && !isLocalOnly(config))
    addFinding(
      'operators',
      'warning',
      `${localOperator.email} is an operator of a server that others can reach; add yourself, then run: npx attestry operator remove ${localOperator.email}`,
    )
  else addFinding('operators', 'ok', operators.map(({ email }) => email).join(', '))
}

/** Checks that processes serve requests and do background work. */
async function checkProcesses(db: Database, addFinding: AddFinding) {
  const processes = await liveProcesses(db, Date.now())
  const countRole = (role: string) => processes.filter(({ roles }) => roles.includes(role)).length
  const [apiCount, workerCount] = [countRole('api'), countRole('worker')]
  if (processes.length === 0) addFinding('processes', 'off', 'no server runs on this database')
  else if (workerCount === 0)
    addFinding(
      'processes',
      'warning',
      `${apiCount} api, no worker: nobody is contacted and no webhook is delivered; start a process with the role worker`,
    )
  else if (apiCount === 0)
    addFinding(
      'processes',
      'warning',
      `${workerCount} worker, no api: no request is served; start a process with the role api`,
    )
  else addFinding('processes', 'ok', `${apiCount} api, ${workerCount} worker`)
}

async function checkEndpoints(queries: Queries, addFinding: AddFinding) {
  const { rows } = await sql<{ count: number; oldest: Date | null }>`
    select count(*)::int as count, min(failing_since) as oldest from webhooks
    where status in ('enabled', 'failing') and failing_since is not null`.execute(queries)
  const { count, oldest } = rows[0]!
  if (count > 0)
    addFinding(
      'webhooks',
      'warning',
      `${count} ${count === 1 ? 'endpoint fails' : 'endpoints fail'}, the oldest since ${oldest!.toISOString()}; the operator console lists them (Status)`,
    )
}

async function checkReplica(
  primary: ConnectionSettings,
  { databaseReplicaUrl, databaseDirectUrl }: Config,
  addFinding: AddFinding,
) {
  if (!databaseReplicaUrl) return
  const replica = openReplica({
    connection: connectionSettings(databaseReplicaUrl),
    isPooled: databaseDirectUrl !== undefined,
    primary,
    name: 'attestry doctor',
    maxConnections: 1,
    clock: systemClock,
    log: createLog('silent'),
  })
  try {
    const { bytes, seconds } = await replica.readLag()
    const lag = bytes === 0 ? 'up to date' : `${bytes} bytes and ${seconds.toFixed(1)} seconds behind`
    addFinding('replica', 'ok', `a standby of the database, ${lag}`)
  } catch (error) {
    addFinding('replica', 'failed', `${errorText(error)}; until it can be used, all reads use the primary`)
  } finally {
    await replica.close()
  }
}

async function checkRedis({ redisUrl }: Config, addFinding: AddFinding) {
  if (!redisUrl) return addFinding('redis', 'off', 'not configured; each process counts rate limits separately')
  const error = await pingRedis(redisUrl)
  if (error)
    addFinding(
      'redis',
      'failed',
      `not reachable or not usable: ${error}; until it is, each process counts rate limits separately`,
    )
  else addFinding('redis', 'ok', 'reachable')
}

async function checkMail({ smtpUrl, mailFrom, mailBounce, mailHookToken }: Config, addFinding: AddFinding) {
  if (!smtpUrl) return addFinding('mail', 'off', 'not configured (SMTP_URL): emails are stored, not sent')
  const error = await tryConnect(smtpUrl, { 'smtp:': 587, 'smtps:': 465 })
  if (error) addFinding('mail', 'failed', `the mail server is not reachable: ${error}`)
  else addFinding('mail', 'ok', 'the mail server is reachable')
  if (mailFrom.endsWith('@localhost>'))
    addFinding('mail sender', 'warning', 'MAIL_FROM is not set, so most mail servers reject the emails; set it')
  if ((mailBounce === undefined) !== (mailHookToken === undefined))
    addFinding(
      'bounces',
      'warning',
      'MAIL_BOUNCE and MAIL_HOOK_TOKEN work together: set both, so that bounces and complaints are processed',
    )
}

async function checkAi({ ai }: Config, addFinding: AddFinding) {
  if (!ai) return addFinding('ai', 'off', 'not configured: the built-in bank supplies the questions')
  const error = await tryConnect(ai.baseUrl, { 'http:': 80, 'https:': 443 })
  if (error) addFinding('ai', 'failed', `the endpoint is not reachable: ${error}`)
  else addFinding('ai', 'ok', `the endpoint is reachable; model ${ai.model}`)
}

function checkExposure(config: Config, addFinding: AddFinding) {
  if (!config.requireHttps && !isLoopback(config.host)) {
    addFinding(
      'https',
      'warning',
      `REQUIRE_HTTPS is off and HOST=${config.host} is not a loopback address, so unencrypted requests from the network are accepted; set REQUIRE_HTTPS=true`,
    )
  }
  if (config.adminKey && config.adminKey.length < 24)
    addFinding(
      'admin key',
      'warning',
      'ADMIN_API_KEY is shorter than 24 characters; set a longer one (generate it with: openssl rand -base64 32)',
    )
  if (config.securityContacts.length === 0 && !isLocalOnly(config))
    addFinding(
      'security',
      'warning',
      'SECURITY_CONTACT is not set, so /.well-known/security.txt does not name a contact for reports of vulnerabilities; set it to an email address or an https URL',
    )
}
