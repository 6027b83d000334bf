import type { FastifyRequest } from 'fastify'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { secretsEqual } from '../../platform/secret-comparison.ts'

/** The name under which changes with the admin key are recorded. */
export const ADMIN_KEY_NAME = 'admin key'

/** Rejects requests without the admin key, and records requests with a wrong one. */
export async function requireAdmin(
  { adminKey, audit }: Pick<Context, 'adminKey' | 'audit'>,
  { id, ip, headers }: FastifyRequest,
): Promise<void> {
  const sentKey = headers['x-api-key']
  if (typeof sentKey === 'string' && secretsEqual(sentKey, adminKey)) return
  if (sentKey !== undefined)
    await audit.recordFailure({
      action: 'admin_key.fail',
      reason: 'wrong key',
      source: { address: ip, userAgent: headers['user-agent'] },
      requestId: id,
    })
  throw problem(
    'ACCESS_DENIED',
    sentKey === undefined
      ? 'Access denied: send the admin key in the x-api-key header.'
      : 'Access denied: the key in the x-api-key header is not the admin key (ADMIN_API_KEY) of this server.',
  )
}
