import { createHmac, hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyUses } from '../../server/access/key-uses.ts'
import type { Keyring, PartnerKey } from '../../server/access/keyring.ts'
import { MemoryLimiter } from '../../server/access/limits/memory.ts'
import { combineLimits, limitsFor } from '../../server/access/limits/table.ts'
import { partnerChecks } from '../../server/access/partner-guards.ts'
import type { RateLimits } from '../../server/access/rate-limits.ts'
import type { Context } from '../../server/context.ts'
import { systemClock } from '../../server/platform/clock.ts'
import { HmacKey } from '../../server/platform/hmac.ts'
import { parseJson } from '../../server/platform/http/json.ts'

// Calls the partner guards without sockets and prints the CPU time per call in microseconds. Runs in a separate process, because
// CPU time is measured for the whole process.
const ROUNDS = 5
const CALL_COUNT = Number(process.argv[2])

const HIGH_RATES = { rate: 1e6, burst: 1e6, minute: 1e9, day: 1e9 }
const secret = Buffer.from('VFN_SK_a-secret-of-the-usual-length-for-benches-0000')
const hmacKey = new HmacKey(secret)
const keyLimits = limitsFor('live', { buckets: { key: HIGH_RATES, mandateWrites: HIGH_RATES, recruiter: HIGH_RATES } })
const key: PartnerKey = {
  keyId: 'VFN_LIVE_ABCDEFGHJKMNPQRSTVWX',
  orgId: 'ORG_X',
  mode: 'live',
  scopes: new Set(['mandates:write']),
  secrets: () => [hmacKey],
  limits: { ...keyLimits, shared: { id: 'ORG_X live', limits: combineLimits([keyLimits], 3) } },
  overrides: {},
  expiresAt: Number.POSITIVE_INFINITY,
  revoked: false,
  allowedAddresses: undefined,
}
const keyring: Keyring = {
  refreshIfStale: () => undefined,
  ensureFresh: () => undefined,
  partnerKey: (keyId) => (keyId === key.keyId ? key : undefined),
  sessionKey: () => undefined,
  atsKey: () => undefined,
  atsKeyOfConnection: () => undefined,
  limitFactor: () => 3,
  isServiceDisabled: () => false,
  isServicePaused: () => false,
  pausedOrganisations: () => [],
  onPauseChanged: () => {},
  refresh: async () => {},
  close() {},
}
const limits: RateLimits = {
  limiter: new MemoryLimiter({ trackChanges: true }),
  recordFailedAuthentication: () => Promise.reject(new Error('the guards rejected the request')),
  close: async () => {},
}
const keyUses: KeyUses = { record() {}, close: async () => {} }
const context = { clock: systemClock, keyring, keyUses, limits } as Context
const body = Buffer.from(JSON.stringify({ title: 'Mason', description: 'x'.repeat(1950) }))
const timestamp = String(Math.floor(Date.now() / 1000))
const target = '/api/v1/partner/mandates'
const stringToSign = `VFN1\n${timestamp}\nPOST\n${target}\nasha@example.com\nk-1\n${hash('sha256', body)}`
const signature = `v1=${createHmac('sha256', secret).update(stringToSign).digest('hex')}`
const reply = { header() {} } as unknown as FastifyReply

// The checks that run before these guards need a socket; the checks after them need a route.
const GUARD_NAMES = ['authenticate', 'requireServiceEnabled', 'chargeLimits', 'requireScope']
const guards = partnerChecks.filter(({ name }) => GUARD_NAMES.includes(name))
if (guards.length !== GUARD_NAMES.length)
  throw new Error(`partner-guards.ts no longer has the checks ${GUARD_NAMES.join(', ')}`)

function createRequest(): FastifyRequest {
  return {
    headers: {
      'x-api-key': key.keyId,
      'x-timestamp': timestamp,
      'x-signature': signature,
      'x-on-behalf-of': 'asha@example.com',
      'idempotency-key': 'k-1',
    },
    raw: { method: 'POST', url: target },
    originalUrl: target,
    routeOptions: { config: { scope: 'mandates:write', limit: 'mandateWrites', idempotent: 'optional' } },
    rawBody: body,
    ip: '127.0.0.1',
    tenant: { scope: undefined },
  } as unknown as FastifyRequest
}

async function callGuards(parse: boolean) {
  const request = createRequest()
  for (const guard of guards) {
    const pending = guard(context, request, reply, request.routeOptions.config)
    if (pending) await pending
  }
  if (parse) parseJson(request.rawBody)
}

async function measureGuards(parse: boolean): Promise<number> {
  for (let warmUp = 0; warmUp < CALL_COUNT; warmUp++) await callGuards(parse)
  let bestMicroseconds = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const cpuBefore = process.cpuUsage()
    for (let calls = 0; calls < CALL_COUNT; calls++) await callGuards(parse)
    const { user, system } = process.cpuUsage(cpuBefore)
    bestMicroseconds = Math.min(bestMicroseconds, (user + system) / CALL_COUNT)
  }
  return bestMicroseconds
}

process.stdout.write(JSON.stringify({ guardsOnly: await measureGuards(false), withParsing: await measureGuards(true) }))
