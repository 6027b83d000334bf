import { problem } from '../../api/problem.ts'
import { type Clock, DAY } from '../clock.ts'
import type { App } from './server.ts'

const PATH = '/.well-known/security.txt'
/** RFC 9116 recommends less than a year. A copy expires in time if the operator changes the contact. */
const VALID_DAYS = 180

export interface SecurityTextOptions {
  clock: Clock
  config: { securityContacts: string[]; publicUrl: string | undefined }
}

/** Serves the contact for reports of vulnerabilities (RFC 9116). */
export function securityTextRoutes(app: App, { clock, config }: SecurityTextOptions): void {
  app.get(PATH, async (_request, reply) => {
    if (config.securityContacts.length === 0)
      throw problem('NOT_FOUND', 'This server has no security contact. Its operator can set SECURITY_CONTACT.')
    return reply.type('text/plain; charset=utf-8').send(renderSecurityText(config, clock.now()))
  })
}

function renderSecurityText({ securityContacts, publicUrl }: SecurityTextOptions['config'], now: number): string {
  // Rounded to the day, so that the file changes only once a day.
  const expiresAt = new Date(Math.floor(now / DAY + VALID_DAYS) * DAY)
  const lines = [
    ...securityContacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expiresAt.toISOString().replace('.000Z', 'Z')}`,
  ]
  // The standard allows only https URLs.
  if (publicUrl?.toLowerCase().startsWith('https://')) lines.push(`Canonical: ${publicUrl}${PATH}`)
  return `${lines.join('\n')}\n`
}
