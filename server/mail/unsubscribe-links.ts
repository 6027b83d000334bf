import type { Config } from '../config.ts'
import { randomToken } from '../platform/ids.ts'

/** A personal link that stops emails to a mailbox. Only a hash of its token is stored. */
export interface UnsubscribeLink {
  token: string
  url: string
}

const TOKEN_BYTES = 24

export function createUnsubscribeLink(config: Pick<Config, 'publicUrl'>): UnsubscribeLink {
  const token = randomToken(TOKEN_BYTES)
  return { token, url: unsubscribeUrl(config, token) }
}

export function unsubscribeUrl({ publicUrl }: Pick<Config, 'publicUrl'>, token: string): string {
  return `${publicUrl ?? ''}/unsubscribe/${token}`
}

/** Addresses that say that replies are not read. */
const NO_REPLY_PATTERN = /(^|<)(no|do-?not|donot)[-_.]?reply[^@]*@/i

/**
 * Returns the headers with which email programs offer to unsubscribe: by one POST request (RFC 8058), and by email if somebody or the
 * hook for inbound emails reads the address.
 */
export function unsubscribeHeaders(
  { mailFrom, mailBounce, mailHookToken }: Pick<Config, 'mailFrom' | 'mailBounce' | 'mailHookToken'>,
  url: string | undefined,
): Record<string, string> {
  if (url === undefined) return {}
  const readAddress =
    mailBounce && mailHookToken ? mailBounce : NO_REPLY_PATTERN.test(mailFrom) ? undefined : addressOf(mailFrom)
  const token = url.slice(url.lastIndexOf('/') + 1)
  const mailto = readAddress ? `, <mailto:${encodeURI(readAddress)}?subject=unsubscribe%20${token}>` : ''
  return { 'List-Unsubscribe': `<${url}>${mailto}`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}

function addressOf(mailbox: string): string {
  return /<([^<>]+)>\s*$/.exec(mailbox)?.[1] ?? mailbox.trim()
}
