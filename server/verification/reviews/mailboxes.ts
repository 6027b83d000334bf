import { domainToASCII } from 'node:url'

/** Domains of one provider, who leaves dots in names out of account. */
const GOOGLE = new Set(['gmail.com', 'googlemail.com'])

/**
 * Whether two addresses are one, or one of them is the other with a tag after a plus. Two different tags of one name may be two
 * people who share it, as in a team's mailbox.
 */
export function isSameMailbox(a: string, b: string): boolean {
  const [one, other] = [read(a), read(b)]
  return one.mailbox === other.mailbox && (one.tag === other.tag || one.tag === '' || other.tag === '')
}

function read(address: string) {
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1).toLowerCase()
  const host = domainToASCII(domain) || domain
  // A name that begins with its plus has nothing before it: there it is no tag.
  const [, name, tag] = /^(.[^+]*)(.*)$/s.exec(address.slice(0, at).normalize('NFKC').toLowerCase()) ?? ['', '', '']
  const mailbox = GOOGLE.has(host) ? `${name!.replaceAll('.', '')}@gmail.com` : `${name}@${host}`
  return { mailbox, tag: tag! }
}
