import { type EmailDeps, queueEmail } from '../../mail/mail.ts'
import type { Tx } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/queue.ts'
import { escapeHtml } from '../../platform/text/escape-html.ts'
import { breakLinks } from '../../platform/text/links.ts'
import type { AuditSource } from '../audit.ts'
import { listMemberships, type Member } from './members.ts'
import { findOperator } from './operators.ts'
import { createSignInLink, EMAIL_LINK_VALID_MS, signInUrl } from './sign-in-links.ts'

/**
 * Job that emails a sign-in link. It is queued for every submitted address, and only the job checks whether a person has it: the
 * response takes the same time either way and does not reveal who has an account.
 */
export const emailSignInLink = defineJob<SignInRequest>('mail-sign-in-link', { retries: 3 })

export interface SignInRequest {
  email: string
  /** Jobs that were queued by an earlier version have no source and no request ID. */
  source?: AuditSource
  requestId?: string
}

/** Emails a sign-in link to a member or an operator. Returns false if nobody has the address. */
export async function sendSignInLink(tx: Tx, deps: EmailDeps, submittedEmail: string): Promise<boolean> {
  const [membership] = await listMemberships(tx, submittedEmail)
  // Sent to the stored address: a different submitted address can have the same lower-case form.
  const email = membership?.email ?? (await findOperator(tx, submittedEmail))?.email
  if (email === undefined) return false
  const token = await createSignInLink(tx, deps.clock, email)
  const link = signInUrl(deps.config.publicUrl!, token)
  const intro = `Use this link to sign in to the Attestry console. It works once and expires in ${EMAIL_LINK_VALID_MS / 60_000} minutes. Do not share it.`
  const disclaimer = 'If you did not request this link, you can ignore this email.'
  await queueEmail(tx, deps, {
    kind: 'sign_in',
    to: { address: email },
    subject: 'Your sign-in link',
    text: [intro, link, disclaimer].join('\n\n'),
    html: emailHtml([emailParagraph(intro), emailLink('Sign in', link), emailParagraph(disclaimer)]),
  })
  return true
}

/** Queues an email that links to the sign-in page. It contains no sign-in link, which would expire too soon. */
export async function sendInvitation(tx: Tx, deps: EmailDeps, member: Member, organisation: string): Promise<void> {
  const link = `${deps.config.publicUrl}/console`
  const organisationName = breakLinks(organisation)
  const intro = `You now have access to ${organisationName} on Attestry, with the role ${member.role}.`
  const instructions = `To sign in, open ${link} and enter ${member.email}. You will receive a sign-in link by email.`
  await queueEmail(tx, deps, {
    kind: 'notice',
    to: { address: member.email },
    scope: { orgId: member.org_id, mode: 'live' },
    subject: `You have been added to ${organisationName}`,
    text: [intro, instructions].join('\n\n'),
    html: emailHtml([emailParagraph(intro), emailParagraph(instructions), emailLink('Open the console', link)]),
  })
}

/** Queues an email to a new operator. Like an invitation, it contains no sign-in link. */
export async function sendOperatorInvitation(tx: Tx, deps: EmailDeps, email: string): Promise<void> {
  const link = `${deps.config.publicUrl}/console`
  const intro = 'You are now an operator of this Attestry server.'
  const instructions = `To sign in, open ${link} and enter ${email}. You will receive a sign-in link by email.`
  await queueEmail(tx, deps, {
    kind: 'notice',
    to: { address: email },
    subject: 'You are now an operator',
    text: [intro, instructions].join('\n\n'),
    html: emailHtml([emailParagraph(intro), emailParagraph(instructions), emailLink('Open the console', link)]),
  })
}

const PARAGRAPH_STYLE = 'margin:0 0 16px;font:16px/24px sans-serif;color:#1f2933'

export function emailParagraph(text: string) {
  return `<p style="${PARAGRAPH_STYLE}">${escapeHtml(text)}</p>`
}

export function emailLink(label: string, url: string) {
  return `<p style="${PARAGRAPH_STYLE}"><a href="${escapeHtml(url)}" style="color:#1d5fbf;font-weight:600">${escapeHtml(label)}</a></p>`
}

/** Returns a list of links; an empty string without links. */
export function emailLinkList(links: { label: string; url: string }[]) {
  if (links.length === 0) return ''
  const items = links.map(
    ({ label, url }) => `<li><a href="${escapeHtml(url)}" style="color:#1d5fbf">${escapeHtml(label)}</a></li>`,
  )
  return `<ul style="${PARAGRAPH_STYLE}">${items.join('')}</ul>`
}

export function emailHtml(parts: string[]) {
  return `<!doctype html><html lang="en"><body style="margin:0;padding:24px">${parts.join('\n')}</body></html>`
}
