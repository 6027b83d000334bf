import { hash, timingSafeEqual } from 'node:crypto'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'

/** Refuses whoever does not send the admin key. Compared as digests, which take the same time whatever was sent. */
export function requireAdmin(
  { adminKey }: Pick<Context, 'adminKey'>,
  { headers }: { headers: Record<string, unknown> },
): void {
  const given = headers['x-api-key']
  const digest = (text: string) => hash('sha256', text, 'buffer')
  if (typeof given === 'string' && timingSafeEqual(digest(given), digest(adminKey))) return
  throw problem('ACCESS_DENIED', 'Access denied: this route needs the admin key in x-api-key.')
}
