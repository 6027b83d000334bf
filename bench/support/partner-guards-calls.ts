import { createHmac, hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HmacKey } from '../../server/access/hmac.ts'
import type { PartnerKey } from '../../server/access/keyring.ts'
import { MemoryLimiter } from '../../server/access/limits/memory.ts'
import { limitsFor } from '../../server/access/limits/table.ts'
import { checks } from '../../server/access/partner-guards.ts'
import type { Context } from '../../server/context.ts'
import { systemClock } from '../../server/platform/clock.ts'
import { parseJson } from '../../server/platform/http/json.ts'

// Calls the front door's own checks, without sockets, and prints the processor time of one call.
const HIGH = { rate: 1e6, burst: 1e6, minute: 1e9, day: 1e9 }
const secret = Buffer.from('VFN_SK_a-secret-of-the-usual-length-for-benches-0000')
const hmacKey = new HmacKey(secret)
const key: PartnerKey = {
  keyId: 'VFN_LIVE_ABCDEFGHJKMNPQRSTVWX',
  orgId: 'ORG_X',
  mode: 'live',
  scopes: new Set(['mandates:write']),
  secrets: () => [hmacKey],
  limits: limitsFor('live', { buckets: { key: HIGH, mandateWrites: HIGH, recruiter: HIGH } }),
  overrides: {},
  expiresAt: Number.POSITIVE_INFINITY,
  revoked: false,
}
const context = {
  clock: systemClock,
  keyring: {
    stale: () => undefined,
    partnerKey: (id: string) => (id === key.keyId ? key : undefined),
    serviceOff: () => false,
  },
  limits: { limiter: new MemoryLimiter({ saving: true }) },
} as unknown as Context
const body = Buffer.from(JSON.stringify({ title: 'Mason', description: 'x'.repeat(1950) }))
const timestamp = String(Math.floor(Date.now() / 1000))
const target = '/api/v1/partner/mandates'
const lines = `VFN1\n${timestamp}\nPOST\n${target}\nasha@example.com\nk-1\n${hash('sha256', body)}`
const signature = `v1=${createHmac('sha256', secret).update(lines).digest('hex')}`
const reply = { header() {} } as unknown as FastifyReply

// From the signature to the scope: what comes before needs a socket, what comes after a route.
const door = checks.filter(({ name }) =>
  ['authenticate', 'requireService', 'chargeLimits', 'requireScope'].includes(name),
)

function request(): FastifyRequest {
  return {
    headers: {
      'x-api-key': key.keyId,
      'x-timestamp': timestamp,
      'x-signature': signature,
      'x-on-behalf-of': 'asha@example.com',
      'idempotency-key': 'k-1',
    },
    raw: { method: 'POST', url: target },
    routeOptions: { config: { scope: 'mandates:write', limit: 'mandateWrites', idempotent: 'optional' } },
    rawBody: body,
    ip: '127.0.0.1',
  } as unknown as FastifyRequest
}

async function call(read: boolean) {
  const one = request()
  for (const check of door) {
    const pending = check(context, one, reply, one.routeOptions.config)
    if (pending) await pending
  }
  if (read) parseJson(one.rawBody)
}

async function measure(read: boolean): Promise<number> {
  for (let warm = 0; warm < 20_000; warm++) await call(read)
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    const before = process.cpuUsage()
    for (let calls = 0; calls < 20_000; calls++) await call(read)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 20_000)
  }
  return least
}

process.stdout.write(JSON.stringify({ door: await measure(false), read: await measure(true) }))
