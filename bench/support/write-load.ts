import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { sign } from '../../sdk/index.ts'
import { setKeyLimits } from '../../server/access/key-limits.ts'
import { BUCKET_NAMES } from '../../server/access/limits/table.ts'
import { connectionSettings } from '../../server/platform/database/connection-settings.ts'
import { type Database, openDatabase } from '../../server/platform/database/database.ts'
import { aMandate } from '../../test/support/app.ts'
import { aTestNumberCandidate } from '../../test/support/partners.ts'
import { until } from '../../test/support/until.ts'
import { aReviewer, aStudent, BRICKLAYING } from '../../test/support/verification.ts'
import { ROOT } from './server-process.ts'

/** The test numbers that reply to messages. */
const TEST_NUMBER_COUNT = 11
const REQUEST_TIMEOUT_MS = 20_000
const RETRY_INTERVAL_MS = 100
const HIGH_RATES = { rate: 100_000, burst: 100_000, minute: 10_000_000, day: 100_000_000 }

/** Prerequisites of the load: keys without limits, credits, and a prepared mandate. */
interface LoadTarget {
  key: { keyId: string; secret: string }
  sessionKey: string
  workflowId: string
  mandateId: string
}

interface Failure {
  at: number
  url: string
  request: string
  reason: string
}

/** Acknowledged and failed requests. */
export interface LoadRecord {
  workflows: string[]
  mandates: string[]
  /** External IDs of candidates, each enrolled in a campaign of its own. */
  candidates: string[]
  /** Addresses of reviewers: each gets one email. */
  reviewers: string[]
  reads: number
  failures: Failure[]
  /** Times of acknowledged writes of each server. */
  acknowledgedAt: Map<string, number[]>
}

/** Creates the records that the load uses, with commands of the version in `folder` and requests to a running server. */
export async function prepareLoad(
  url: string,
  env: NodeJS.ProcessEnv,
  db: Database,
  folder = ROOT,
): Promise<LoadTarget> {
  const runCommand = async (...args: string[]): Promise<Record<string, string>> => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'cli/main.ts'), ...args, '--json'], {
      cwd: folder,
      env: { ...process.env, ...env },
    })
    return JSON.parse(stdout)
  }
  const { org_id } = await runCommand('org', 'create', '--name', 'Bench')
  const [created, session] = await Promise.all([
    runCommand('key', 'create', '--org', org_id!, '--mode', 'test'),
    runCommand('key', 'create', '--org', org_id!, '--mode', 'live', '--kind', 'session'),
    runCommand('credits', 'grant', '--org', org_id!, '--mode', 'test', '--amount', '1000000'),
  ])
  const key = { keyId: created.key_id!, secret: created.secret! }
  await db.transaction(async (tx) => {
    for (const bucket of BUCKET_NAMES) await setKeyLimits(tx, key.keyId, { bucket, rates: HIGH_RATES })
    await setKeyLimits(tx, key.keyId, { peoplePerDay: 1_000_000 })
  })
  await pause(1500) // the server applies new limits within a second
  const workflow = await sendPartnerRequest(url, key, 'POST', '/workflows', { name: 'Site hiring' })
  const workflowId = workflow.data.workflow_id!
  const mandate = await sendPartnerRequest(url, key, 'POST', '/mandates', aMandate(workflowId))
  const mandateId = mandate.data.mandate_id!
  await until(async () => {
    const { data } = await sendPartnerRequest(url, key, 'GET', `/mandates/${mandateId}`)
    return data.status === 'ready'
  })
  const sessionKey = Object.values(session).find((value) => /^VSK_LIVE_.{30,}/.test(value))!
  return { key, sessionKey, workflowId, mandateId }
}

/** The part of a response that the load reads. */
interface SuccessResponse {
  data: Record<string, string>
}

/** A response that is not a success. */
class RequestError extends Error {}

async function send(url: string, init: RequestInit): Promise<SuccessResponse> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
  const text = await response.text()
  if (response.ok) return JSON.parse(text)
  throw new RequestError(`${response.status} ${text.slice(0, 300)}`)
}

async function sendPartnerRequest(
  url: string,
  key: LoadTarget['key'],
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  idempotencyKey: string | undefined = body && randomUUID(),
): Promise<SuccessResponse> {
  const target = `/api/v1/partner${path}`
  const timestamp = Math.floor(Date.now() / 1000)
  const text = body && JSON.stringify(body)
  const signature = await sign({ secret: key.secret, timestamp, method, target, idempotencyKey, body: text })
  return send(url + target, {
    method,
    headers: {
      'x-api-key': key.keyId,
      'x-timestamp': String(timestamp),
      'x-signature': signature,
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    body: text ?? null,
  })
}

/**
 * Sends requests to all servers until it is stopped: workflows, mandates, campaigns with one simulated candidate, verification sessions up to the
 * request of a review, and reads of results and events. A failed partner request is repeated with its idempotency key, at the next server,
 * until it is acknowledged. A session in which a request failed is abandoned.
 */
export function startLoad(urls: string[], target: LoadTarget, writersPerServer: number, firstNumber = 0) {
  const record: LoadRecord = {
    workflows: [],
    mandates: [],
    candidates: [],
    reviewers: [],
    reads: 0,
    failures: [],
    acknowledgedAt: new Map(urls.map((url) => [url, []])),
  }
  let stopped = false
  let nextNumber = firstNumber
  const writers = urls.flatMap((_, first) => Array.from({ length: writersPerServer }, () => write(first)))
  return {
    record,
    async stop(): Promise<LoadRecord> {
      stopped = true
      await Promise.all(writers)
      return record
    },
  }

  async function write(first: number) {
    while (!stopped) {
      const number = nextNumber++
      const post = async (path: string, body: object) => (await repeat(first, 'POST', path, body)).data
      if (number % 4 === 0)
        record.workflows.push((await post('/workflows', { name: `Workflow ${number}` })).workflow_id!)
      else if (number % 4 === 1)
        record.mandates.push((await post('/mandates', aMandate(target.workflowId))).mandate_id!)
      else if (number % 4 === 2) {
        const candidate = aTestNumberCandidate((number % TEST_NUMBER_COUNT) + 1, {
          external_candidate_id: `load-${number}`,
        })
        await post('/campaigns', { mandate_id: target.mandateId, candidates: [candidate] })
        record.candidates.push(candidate.external_candidate_id)
        for (const path of ['/results?limit=20', '/events?limit=20']) {
          await repeat(first, 'GET', path)
          record.reads++
        }
      } else await requestReview(urls[first]!, number)
    }
  }

  async function repeat(first: number, method: 'GET' | 'POST', path: string, body?: object): Promise<SuccessResponse> {
    const idempotencyKey = body && randomUUID()
    for (let attempt = 0; ; attempt++) {
      const url = urls[(first + attempt) % urls.length]!
      try {
        const response = await sendPartnerRequest(url, target.key, method, path, body, idempotencyKey)
        if (body) record.acknowledgedAt.get(url)!.push(performance.now())
        return response
      } catch (error) {
        addFailure(url, `${method} ${path}`, error as Error)
        await pause(RETRY_INTERVAL_MS)
      }
    }
  }

  async function requestReview(url: string, number: number) {
    let request = '/verify'
    const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
      request = path
      const { data } = await send(`${url}/api/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': target.sessionKey, ...headers },
        body: JSON.stringify(body),
      })
      return data
    }
    try {
      const student = aStudent({ externalStudentId: `student-${number}`, email: `student-${number}@example.com` })
      const { sessionToken, serviceVerificationId } = await post('/verify', student)
      await post('/step1/storeskills/store', { sessionToken, skills: [{ skillId: BRICKLAYING }] })
      const method = { serviceVerificationId, verificationMethod: 'human' }
      await post('/step2/verification-method', method, { 'x-session-token': sessionToken! })
      await post('/step3/store-verification-items/store', { sessionToken, workExperienceIds: ['w-1'] })
      const email = `reviewer-${number}@example.org`
      await post('/storereviewerdetails/store', { serviceVerificationId, ...aReviewer({ email }) })
      record.reviewers.push(email)
    } catch (error) {
      addFailure(url, `POST ${request}`, error as Error)
      await pause(RETRY_INTERVAL_MS)
    }
  }

  function addFailure(url: string, request: string, error: Error) {
    const reason = error instanceof RequestError ? error.message : `${error.message} ${String(error.cause ?? '')}`
    record.failures.push({ at: performance.now(), url, request, reason })
  }
}

export function openLoadDatabase(url: string): Database {
  return openDatabase({ connection: connectionSettings(url), name: 'bench', maxConnections: 5, onError: () => {} })
}

interface LoadFindings {
  /** Acknowledged records that are not in the database. */
  lost: number
  duplicateMessages: number
  duplicateEmails: number
  /** Candidates and workflows that were created twice, and wrong sums of credits. */
  duplicateRecords: number
  emails: number
  /** Reviewers who got no email, because its outcome was not certain. */
  unsentEmails: number
}

/** Waits until everything that was acknowledged has been processed, and compares it with the database and the received emails. */
export async function checkLoad(db: Database, record: LoadRecord, receivedEmails: string[]): Promise<LoadFindings> {
  const count = async (query: ReturnType<typeof sql<{ count: number }>>) =>
    (await query.execute(db.queries)).rows[0]!.count
  const recipients = () => receivedEmails.flatMap((email) => /^To:.*?(reviewer-\d+@)/im.exec(email)?.[1] ?? [])
  await until(async () => {
    const waiting = await count(sql`
      select (select count(*) from mails where status = 'queued' and kind = 'review_request')::int
        + (select count(*) from mandates where status = 'preparing')::int + (select count(*) from event_outbox)::int as count`)
    return waiting === 0
  }, 120_000)
  const missing = (ids: string[], column: string, table: string) =>
    count(sql`select count(*)::int as count from unnest(${ids}::text[]) as acknowledged (id)
      where not exists (select from ${sql.table(table)} where ${sql.ref(column)} = id)`)
  const lost =
    (await missing(record.workflows, 'workflow_id', 'workflows')) +
    (await missing(record.mandates, 'mandate_id', 'mandates')) +
    (await missing(record.candidates, 'external_candidate_id', 'candidates'))
  const duplicateMessages = await count(sql`
    select count(*)::int as count from (select from messages where direction = 'out'
      group by candidate_id, channel, contact_step, conversation_step having count(*) > 1) as twice`)
  const duplicateRecords = await count(sql`
    select (select count(*) from (select from candidates group by external_candidate_id having count(*) > 1) as twice)::int
      + (select count(*) from (select from workflows group by name having count(*) > 1) as twice)::int
      + (select count(*) from credit_balances b where balance <>
        (select sum(amount) from credit_entries e where e.org_id = b.org_id and e.mode = b.mode))::int as count`)
  const emailed = new Set(recipients())
  return {
    lost,
    duplicateMessages,
    duplicateEmails: recipients().length - emailed.size,
    duplicateRecords,
    emails: emailed.size,
    unsentEmails: record.reviewers.filter((email) => !emailed.has(email.replace(/@.*/, '@'))).length,
  }
}
