import { domainToASCII } from 'node:url'

/** How a provider maps addresses to mailboxes. */
interface Provider {
  /** Domains under which the same local part belongs to the same person. The first one represents the others. */
  domains: string[]
  /** Characters of the local part that the provider ignores. */
  ignored?: RegExp
  /** Separator between the mailbox and a tag, in addition to the plus sign. */
  tagSeparator?: string
  /** Whether `anything@name.domain` is delivered to `name@domain`. */
  hasSubdomainAddresses?: boolean
}

/**
 * The large providers whose aliases differ from plus tags. Google, Apple and Proton deliver all their domains to one mailbox.
 * Microsoft, Yahoo and Fastmail let one account have the same name on several domains: two people with the same name there are rare,
 * and the rules only ask for another address then.
 */
const PROVIDERS: Provider[] = [
  { domains: ['gmail.com', 'googlemail.com'], ignored: /\./g },
  { domains: ['icloud.com', 'me.com', 'mac.com'] },
  { domains: ['proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me'], ignored: /[._-]/g },
  { domains: ['outlook.com', 'hotmail.com', 'live.com', 'msn.com', 'windowslive.com'] },
  { domains: ['yahoo.com', 'ymail.com', 'rocketmail.com', 'myyahoo.com'], tagSeparator: '-' },
  { domains: ['fastmail.com', 'fastmail.fm'], hasSubdomainAddresses: true },
  ...['fastmail.net', 'fastmail.org', 'fastmail.us', 'fastmail.co.uk', 'fastmail.in', 'fastmail.de', 'sent.com'].map(
    (domain) => ({ domains: [domain], hasSubdomainAddresses: true }),
  ),
  {
    domains: ['yandex.ru', 'yandex.com', 'ya.ru', 'yandex.by', 'yandex.kz', 'yandex.ua', 'narod.ru'],
    ignored: /[.-]/g,
  },
]

const PROVIDER_BY_DOMAIN = new Map(
  PROVIDERS.flatMap((provider) => provider.domains.map((domain) => [domain, provider] as const)),
)
/** National domains of Yahoo, such as yahoo.co.in: separate mailboxes, with the tags of Yahoo. */
const NATIONAL_YAHOO_DOMAIN = /^yahoo\.(?:com?\.)?[a-z]{2}$/

/** Returns the domain of an address in ASCII and lower case. */
export function domainOf(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase()
  return domainToASCII(domain) || domain
}

/**
 * Returns the mailbox that an address is delivered to, as its shortest address: in lower case, without tag, and without the dots and
 * alternative domains of its provider. Addresses with the same mailbox belong to the same person for every rule.
 */
export function mailboxOf(address: string): string {
  const localPart = address.slice(0, address.lastIndexOf('@')).normalize('NFKC').toLowerCase()
  const domain = domainOf(address)
  const subdomainMailbox = mailboxOfSubdomain(domain)
  if (subdomainMailbox) return subdomainMailbox
  const provider = PROVIDER_BY_DOMAIN.get(domain)
  const tagSeparator = provider?.tagSeparator ?? (NATIONAL_YAHOO_DOMAIN.test(domain) ? '-' : undefined)
  let name = removeTag(localPart, '+')
  if (tagSeparator) name = removeTag(name, tagSeparator)
  if (provider?.ignored) name = name.replace(provider.ignored, '') || name
  return `${name}@${provider?.domains[0] ?? domain}`
}

/** Returns true if two addresses are delivered to the same mailbox. */
export function isSameMailbox(firstAddress: string, secondAddress: string): boolean {
  return mailboxOf(firstAddress) === mailboxOf(secondAddress)
}

/** Removes the separator and the text after it. A separator at the start belongs to the name. */
function removeTag(localPart: string, separator: string): string {
  const index = localPart.indexOf(separator, 1)
  return index < 0 ? localPart : localPart.slice(0, index)
}

/** Returns the mailbox of an address such as `anything@name.fastmail.com`. */
function mailboxOfSubdomain(domain: string): string | undefined {
  const dotIndex = domain.indexOf('.')
  const provider = PROVIDER_BY_DOMAIN.get(domain.slice(dotIndex + 1))
  if (!provider?.hasSubdomainAddresses) return undefined
  return `${domain.slice(0, dotIndex)}@${provider.domains[0]}`
}
