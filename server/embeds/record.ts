import type { CreatedEmbedSession } from './embed-sessions.ts'

/** Returns a created session as the partner API shows it. */
export function embedSessionRecord({ embedId, view, origin, url, expiresAt }: CreatedEmbedSession) {
  return { embed_id: embedId, view, origin, url, expires_at: expiresAt.toISOString() }
}
