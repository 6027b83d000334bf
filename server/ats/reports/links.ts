import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Context } from '../../context.ts'
import { DAY } from '../../platform/clock.ts'

/** How long the link in a report is valid. Recruiters get a new one by sending the report again. */
const REPORT_LINK_DAYS = 180

/** Returns a signed link to the report page of an order. The key belongs to the connection and is replaced when it is disconnected. */
export function reportUrl(
  { config }: Pick<Context, 'config'>,
  { orderId, linkKey, expiresAt }: { orderId: string; linkKey: string; expiresAt: number },
): string {
  const seconds = Math.floor(expiresAt / 1000)
  return `${config.publicUrl ?? ''}/reports/${orderId}.${seconds.toString(36)}.${signature(orderId, seconds, linkKey)}`
}

export function reportLinkExpiry(now: number): number {
  return now + REPORT_LINK_DAYS * DAY
}

/** The parts of a token, whose signature is not checked yet. */
export interface ReportToken {
  orderId: string
  expiresAtSeconds: number
  signature: string
}

const TOKEN_PATTERN = /^(AO_[A-Z0-9]{10,40})\.([0-9a-z]{1,9})\.([A-Za-z0-9_-]{43})$/

export function parseReportToken(token: string): ReportToken | undefined {
  const [, orderId, seconds, tokenSignature] = TOKEN_PATTERN.exec(token) ?? []
  if (orderId === undefined) return undefined
  return { orderId, expiresAtSeconds: Number.parseInt(seconds!, 36), signature: tokenSignature! }
}

export function isSignedBy(token: ReportToken, linkKey: string): boolean {
  const expected = signature(token.orderId, token.expiresAtSeconds, linkKey)
  return timingSafeEqual(Buffer.from(expected), Buffer.from(token.signature))
}

function signature(orderId: string, expiresAtSeconds: number, linkKey: string): string {
  return createHmac('sha256', linkKey).update(`report ${orderId} ${expiresAtSeconds}`).digest('base64url')
}
