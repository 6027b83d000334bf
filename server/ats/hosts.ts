import type { Mode } from '../access/keys.ts'
import { invalid } from '../api/invalid.ts'
import { type Config, isLocalOnly } from '../config.ts'
import { hostError, isPortOfOtherProtocol, type TargetRules } from '../webhooks/target-rules.ts'
import type { AtsAdapter } from './adapter.ts'

/** Returns the rules for the addresses that reports may be sent to: those of webhooks. */
export function targetRules(config: Config): TargetRules {
  return { allow: config.webhookAllow, onLoopback: isLocalOnly(config) }
}

/**
 * Returns why reports must not be sent to a URL; undefined if they may. Only the hosts of the ATS are allowed, over HTTPS. The operator can
 * allow others (WEBHOOK_ALLOW), and in TEST mode a server that listens only on loopback may call its own machine.
 */
export function reportUrlError(
  text: string,
  { domains, title }: AtsAdapter,
  mode: Mode,
  config: Config,
): string | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || /[\s\\#]/.test(text)) return 'must be an absolute https URL'
  if (url.username || url.password) return 'must not contain a user name or password'
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const rules = targetRules(config)
  const isAtsHost = domains.some((domain) => host === domain || host.endsWith(`.${domain}`))
  if (isAtsHost) return url.protocol === 'https:' && url.port === '' ? undefined : 'must be an https URL without a port'
  const isExtraHost = isAllowedByOperator(host, rules) || isOwnMachine(host, mode, rules)
  if (!isExtraHost) return `must be a URL of ${title} (${domains.join(', ')}); got the host ${host}`
  if (mode === 'live' && url.protocol !== 'https:') return 'must be an https URL'
  if (isPortOfOtherProtocol(url)) return `must not use port ${url.port}, which is reserved for another protocol`
  return hostError(host, mode, rules)
}

function isAllowedByOperator(host: string, { allow }: TargetRules): boolean {
  return allow.some((entry) => entry.toLowerCase() === host)
}

function isOwnMachine(host: string, mode: Mode, { onLoopback }: TargetRules): boolean {
  return mode === 'test' && onLoopback && (host === 'localhost' || host === '127.0.0.1' || host === '::1')
}

/** Rejects an order whose results could not be reported. */
export function requireReportUrl(path: string, text: string, adapter: AtsAdapter, mode: Mode, config: Config): void {
  const message = reportUrlError(text, adapter, mode, config)
  if (message) throw invalid([{ path, message }])
}
