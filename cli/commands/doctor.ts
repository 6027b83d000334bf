import { Command } from 'commander'
import { sql } from 'kysely'
import { redisAnswers } from '../../server/access/rate-limits.ts'
import { type Config, readConfig } from '../../server/config.ts'
import { systemClock } from '../../server/platform/clock.ts'
import { unsharedApis } from '../../server/platform/database/process-heartbeat.ts'
import { createLog } from '../../server/platform/log.ts'
import { openStore } from '../../server/store.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { reachable } from '../reachable.ts'

interface Finding {
  check: string
  state: 'ok' | 'warning' | 'failed'
  message: string
}

const marks = { ok: '✓', warning: '!', failed: '✗' }

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check the configuration, the database, mail and AI')
    .addHelpText(...examples('doctor', 'doctor --json'))
    .action(async (_options: object, command: Command) => {
      const findings: Finding[] = []
      const add = (check: string, state: Finding['state'], message: string) => findings.push({ check, state, message })
      const config = readConfig(process.env) // a bad value ends here, each named in a line
      add('configuration', 'ok', 'every variable can be read')
      await examineDatabase(config, add)
      await examineRedis(config, add)
      await examineMail(config, add)
      await examineAi(config, add)
      examineExposure(config, add)
      print(command, findings, () =>
        findings.map(({ check, state, message }) => `${marks[state]} ${check.padEnd(14)} ${message}`).join('\n'),
      )
      if (findings.some(({ state }) => state === 'failed')) process.exitCode = 1
    })
}

type Add = (check: string, state: Finding['state'], message: string) => void

async function examineDatabase(config: Config, add: Add) {
  const kind = config.databaseUrl ? 'external' : `embedded in ${config.dataDir}`
  const log = createLog('silent')
  await using opened = new AsyncDisposableStack()
  try {
    const { db } = await openStore(config, 'guest', { log, clock: systemClock }, opened)
    const { rows } = await sql<{ version: string; size: string }>`
      select current_setting('server_version') as version, pg_size_pretty(pg_database_size(current_database())) as size`.execute(
      db.queries,
    )
    const { version, size } = rows[0]!
    if (Number.parseInt(version, 10) < 15)
      add('database', 'failed', `PostgreSQL ${version} is too old; 15 or newer is needed`)
    else
      add(
        'database',
        'ok',
        `PostgreSQL ${version}, ${kind}, ${size}; migrations applied; the master key opens the secrets`,
      )
    const unshared = await unsharedApis(db, Date.now())
    if (unshared > 1)
      add('rate limits', 'warning', `${unshared} api processes run without REDIS_URL: each counts on its own`)
  } catch (error) {
    add('database', 'failed', `${kind}: ${(error as Error).message}`)
  }
}

async function examineRedis({ redisUrl }: Config, add: Add) {
  if (!redisUrl) return add('redis', 'ok', 'not configured; rate limits are counted in the process')
  const fault = await redisAnswers(redisUrl)
  if (fault) add('redis', 'failed', `does not answer: ${fault}; limits are counted in each process until it does`)
  else add('redis', 'ok', 'answers')
}

async function examineMail({ smtpUrl }: Config, add: Add) {
  if (!smtpUrl) return add('mail', 'ok', 'not configured')
  const fault = await reachable(smtpUrl, { 'smtp:': 587, 'smtps:': 465 })
  if (fault) add('mail', 'failed', `the mail server cannot be reached: ${fault}`)
  else add('mail', 'ok', 'the mail server can be reached')
}

async function examineAi({ ai }: Config, add: Add) {
  if (!ai) return add('ai', 'ok', 'not configured')
  const fault = await reachable(ai.baseUrl, { 'http:': 80, 'https:': 443 })
  if (fault) add('ai', 'failed', `the endpoint cannot be reached: ${fault}`)
  else add('ai', 'ok', `the endpoint can be reached; model ${ai.model}`)
}

function examineExposure(config: Config, add: Add) {
  if (!config.requireHttps && config.host !== '127.0.0.1' && config.host !== 'localhost' && config.host !== '::1') {
    add(
      'https',
      'warning',
      `REQUIRE_HTTPS is off while HOST=${config.host} is not loopback: signatures travel in the clear`,
    )
  }
  if (config.adminKey && config.adminKey.length < 24)
    add('admin key', 'warning', 'ADMIN_API_KEY is shorter than 24 characters')
}
