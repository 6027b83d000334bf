import { hash, timingSafeEqual } from 'node:crypto'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'

/** Rejects requests without the admin key. Compares digests, so that the time does not depend on the key that was sent. */
export function requireAdmin(
  { adminKey }: Pick<Context, 'adminKey'>,
  { headers }: { headers: Record<string, unknown> },
): void {
  const sentKey = headers['x-api-key']
  const digest = (text: string) => hash('sha256', text, 'buffer')
  if (typeof sentKey === 'string' && timingSafeEqual(digest(sentKey), digest(adminKey))) return
  throw problem('ACCESS_DENIED', 'Access denied: send the admin key in the x-api-key header.')
}
