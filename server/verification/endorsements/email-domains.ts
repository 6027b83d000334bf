import { readFile } from 'node:fs/promises'
import { domainToASCII } from 'node:url'
import { ConfigError } from '../../config.ts'
import { errorText } from '../../platform/error-text.ts'
import { domainOf } from '../reviews/mailboxes.ts'

/** Classifies the domains of email addresses. */
export interface EmailDomains {
  /** Returns true for a service where anyone can open a mailbox. */
  isFreeMail(address: string): boolean
  /** Returns true for a service of temporary mailboxes or anonymous aliases. */
  isDisposable(address: string): boolean
}

const DATA_FOLDER = new URL('../../../data/email/', import.meta.url)
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/

/** Loads the lists of the project, and adds the disposable domains of the operator's own file. */
export async function openEmailDomains(disposableDomainsFile: string | undefined): Promise<EmailDomains> {
  const freeMailDomains = parseDomains(await readFile(new URL('free-mail-domains.txt', DATA_FOLDER), 'utf8'))
  const disposableDomains = parseDomains(await readFile(new URL('disposable-domains.txt', DATA_FOLDER), 'utf8'))
  if (disposableDomainsFile !== undefined) {
    for (const domain of parseDomains(await readOwnFile(disposableDomainsFile))) disposableDomains.add(domain)
  }
  return {
    isFreeMail: (address) => includesDomain(freeMailDomains, domainOf(address)),
    isDisposable: (address) => includesDomain(disposableDomains, domainOf(address)),
  }
}

async function readOwnFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new ConfigError([
      `DISPOSABLE_DOMAINS_FILE: cannot read ${path} (${errorText(error)}); create the file, or remove the variable`,
    ])
  }
}

/** Parses a list with one domain per line. Empty lines and text after a # are ignored. */
function parseDomains(text: string): Set<string> {
  const domains = new Set<string>()
  text.split('\n').forEach((line, index) => {
    const entry = line.replace(/#.*/, '').trim().toLowerCase()
    if (entry === '') return
    const domain = domainToASCII(entry)
    if (!DOMAIN.test(domain)) {
      throw new ConfigError([
        `DISPOSABLE_DOMAINS_FILE: line ${index + 1}: ${JSON.stringify(entry.slice(0, 80))} is not a domain; write one domain per line, such as example.com`,
      ])
    }
    domains.add(domain)
  })
  return domains
}

/** Returns true if the list contains the domain or one of its parent domains. */
function includesDomain(domains: Set<string>, domain: string): boolean {
  for (let rest = domain; rest.includes('.'); rest = rest.slice(rest.indexOf('.') + 1)) {
    if (domains.has(rest)) return true
  }
  return false
}

/**
 * Returns whether an address belongs to the organisation of a website: both have the same registrable domain, such as `metro.co.in`.
 * Domains below which anyone can register a name, such as `github.io`, count as public suffixes.
 */
export async function isAddressOfWebsite(address: string, website: string): Promise<boolean> {
  const { getDomain } = await import('tldts') // loaded on first use, because it slows the start of the server
  const options = { allowPrivateDomains: true }
  const websiteDomain = getDomain(new URL(website).hostname, options)
  return websiteDomain !== null && websiteDomain === getDomain(domainOf(address), options)
}
