import { Command } from 'commander'
import { sql } from 'kysely'
import { pingRedis } from '../../server/access/rate-limits.ts'
import { type Config, readConfig } from '../../server/config.ts'
import { systemClock } from '../../server/platform/clock.ts'
import { countApisWithSeparateLimits } from '../../server/platform/database/process-heartbeat.ts'
import { createLog } from '../../server/platform/log.ts'
import { openStore } from '../../server/store.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { tryConnect } from '../try-connect.ts'

interface Finding {
  check: string
  state: 'ok' | 'warning' | 'failed'
  message: string
}

const STATE_MARKS = { ok: '✓', warning: '!', failed: '✗' }

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Check the configuration and the connections to the database, Redis, the mail server and the AI endpoint',
    )
    .addHelpText(...examples('doctor', 'doctor --json'))
    .action(async (_options: object, command: Command) => {
      const findings: Finding[] = []
      const add = (check: string, state: Finding['state'], message: string) => findings.push({ check, state, message })
      const config = readConfig(process.env) // throws a ConfigError with one line per invalid variable
      add('configuration', 'ok', 'all variables are valid')
      await checkDatabase(config, add)
      await checkRedis(config, add)
      await checkMail(config, add)
      await checkAi(config, add)
      checkExposure(config, add)
      print(command, findings, () =>
        findings.map(({ check, state, message }) => `${STATE_MARKS[state]} ${check.padEnd(14)} ${message}`).join('\n'),
      )
      if (findings.some(({ state }) => state === 'failed')) process.exitCode = 1
    })
}

type Add = (check: string, state: Finding['state'], message: string) => void

async function checkDatabase(config: Config, add: Add) {
  const kind = config.databaseUrl ? 'external' : `embedded in ${config.dataDir}`
  const log = createLog('silent')
  await using opened = new AsyncDisposableStack()
  try {
    const { db } = await openStore(config, 'command', { log, clock: systemClock }, opened)
    const { rows } = await sql<{ version: string; size: string }>`
      select current_setting('server_version') as version, pg_size_pretty(pg_database_size(current_database())) as size`.execute(
      db.queries,
    )
    const { version, size } = rows[0]!
    if (Number.parseInt(version, 10) < 15)
      add('database', 'failed', `PostgreSQL ${version} is too old; version 15 or later is required`)
    else
      add(
        'database',
        'ok',
        `PostgreSQL ${version}, ${kind}, ${size}; migrations applied; secrets can be decrypted with the master key`,
      )
    const unshared = await countApisWithSeparateLimits(db, Date.now())
    if (unshared > 1)
      add(
        'rate limits',
        'warning',
        `${unshared} api processes run without REDIS_URL, so each counts rate limits separately`,
      )
  } catch (error) {
    add('database', 'failed', `${kind}: ${(error as Error).message}`)
  }
}

async function checkRedis({ redisUrl }: Config, add: Add) {
  if (!redisUrl) return add('redis', 'ok', 'not configured; each process counts rate limits separately')
  const error = await pingRedis(redisUrl)
  if (error) add('redis', 'failed', `not reachable: ${error}; until it is, each process counts rate limits separately`)
  else add('redis', 'ok', 'reachable')
}

async function checkMail({ smtpUrl }: Config, add: Add) {
  if (!smtpUrl) return add('mail', 'ok', 'not configured')
  const error = await tryConnect(smtpUrl, { 'smtp:': 587, 'smtps:': 465 })
  if (error) add('mail', 'failed', `the mail server is not reachable: ${error}`)
  else add('mail', 'ok', 'the mail server is reachable')
}

async function checkAi({ ai }: Config, add: Add) {
  if (!ai) return add('ai', 'ok', 'not configured')
  const error = await tryConnect(ai.baseUrl, { 'http:': 80, 'https:': 443 })
  if (error) add('ai', 'failed', `the endpoint is not reachable: ${error}`)
  else add('ai', 'ok', `the endpoint is reachable; model ${ai.model}`)
}

function checkExposure(config: Config, add: Add) {
  if (!config.requireHttps && config.host !== '127.0.0.1' && config.host !== 'localhost' && config.host !== '::1') {
    add(
      'https',
      'warning',
      `REQUIRE_HTTPS is off although HOST=${config.host} is not a loopback address, so requests are not encrypted`,
    )
  }
  if (config.adminKey && config.adminKey.length < 24)
    add('admin key', 'warning', 'ADMIN_API_KEY is shorter than 24 characters')
}
