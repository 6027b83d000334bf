import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { secretsEqual } from '../../platform/secret-comparison.ts'

/** Rejects requests without the admin key. */
export function requireAdmin(
  { adminKey }: Pick<Context, 'adminKey'>,
  { headers }: { headers: Record<string, unknown> },
): void {
  const sentKey = headers['x-api-key']
  if (typeof sentKey === 'string' && secretsEqual(sentKey, adminKey)) return
  throw problem('ACCESS_DENIED', 'Access denied: send the admin key in the x-api-key header.')
}
