import { domainToASCII } from 'node:url'

/** Google's domains, which ignore dots in the local part. */
const GOOGLE_DOMAINS = new Set(['gmail.com', 'googlemail.com'])

/**
 * Returns true if two addresses reach the same mailbox, even if one has a plus tag. Two different tags may be two people who
 * share a team mailbox.
 */
export function isSameMailbox(firstAddress: string, secondAddress: string): boolean {
  const [first, second] = [parseAddress(firstAddress), parseAddress(secondAddress)]
  return first.mailbox === second.mailbox && (first.tag === second.tag || first.tag === '' || second.tag === '')
}

/** Returns a form that is the same for all addresses of a mailbox: in lower case, without tags and without dots that are ignored. */
export function mailboxOf(address: string): string {
  return parseAddress(address).mailbox
}

function parseAddress(address: string) {
  const atIndex = address.lastIndexOf('@')
  const domain = address.slice(atIndex + 1).toLowerCase()
  const host = domainToASCII(domain) || domain
  // A leading plus belongs to the name.
  const [, name, tag] = /^(.[^+]*)(.*)$/s.exec(address.slice(0, atIndex).normalize('NFKC').toLowerCase()) ?? [
    '',
    '',
    '',
  ]
  const mailbox = GOOGLE_DOMAINS.has(host) ? `${name!.replaceAll('.', '')}@gmail.com` : `${name}@${host}`
  return { mailbox, tag: tag! }
}
