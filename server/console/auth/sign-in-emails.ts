import { type EmailDeps, queueEmail } from '../../mail/mail.ts'
import type { Tx } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/queue.ts'
import { breakLinks } from '../../platform/text/links.ts'
import type { AuditSource } from '../audit.ts'
import { emailButton, emailHtml, emailParagraph } from '../email-parts.ts'
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
  const subject = 'Your sign-in link'
  const intro = `Use this link to sign in to the Attestry console. It works once and expires in ${EMAIL_LINK_VALID_MS / 60_000} minutes. Do not share it.`
  const disclaimer = 'If you did not request this link, you can ignore this email.'
  await queueEmail(tx, deps, {
    kind: 'sign_in',
    to: { address: email },
    subject,
    text: [intro, link, disclaimer].join('\n\n'),
    html: emailHtml(subject, [emailParagraph(intro), emailButton('Sign in', link), emailParagraph(disclaimer)]),
  })
  return true
}

/** Queues an email that links to the sign-in page. It contains no sign-in link, which would expire too soon. */
export async function sendInvitation(tx: Tx, deps: EmailDeps, member: Member, organisation: string): Promise<void> {
  const link = `${deps.config.publicUrl}/console`
  const organisationName = breakLinks(organisation)
  const subject = `You have been added to ${organisationName}`
  const intro = `You now have access to ${organisationName} on Attestry, with the role ${member.role}.`
  const instructions = `To sign in, open ${link} and enter ${member.email}. You will receive a sign-in link by email.`
  await queueEmail(tx, deps, {
    kind: 'notice',
    to: { address: member.email },
    scope: { orgId: member.org_id, mode: 'live' },
    subject,
    text: [intro, instructions].join('\n\n'),
    html: emailHtml(subject, [
      emailParagraph(intro),
      emailParagraph(instructions),
      emailButton('Open the console', link),
    ]),
  })
}

/** Queues an email to a new operator. Like an invitation, it contains no sign-in link. */
export async function sendOperatorInvitation(tx: Tx, deps: EmailDeps, email: string): Promise<void> {
  const link = `${deps.config.publicUrl}/console`
  const subject = 'You are now an operator'
  const intro = 'You are now an operator of this Attestry server.'
  const instructions = `To sign in, open ${link} and enter ${email}. You will receive a sign-in link by email.`
  await queueEmail(tx, deps, {
    kind: 'notice',
    to: { address: email },
    subject,
    text: [intro, instructions].join('\n\n'),
    html: emailHtml(subject, [
      emailParagraph(intro),
      emailParagraph(instructions),
      emailButton('Open the console', link),
    ]),
  })
}
