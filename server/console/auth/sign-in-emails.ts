import { type EmailDeps, queueEmail } from '../../mail/mail.ts'
import { DAY } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/queue.ts'
import { breakLinks } from '../../platform/text/links.ts'
import type { AuditSource } from '../audit.ts'
import { emailButton, emailHtml, emailParagraph } from '../email-parts.ts'
import { findProviderOf } from '../identity-providers/identity-providers.ts'
import { providerSignInUrl } from '../identity-providers/paths.ts'
import { listMemberships, type Member } from './members.ts'
import { findOperator } from './operators.ts'
import {
  createInvitation,
  createSignInLink,
  EMAIL_LINK_VALID_MS,
  INVITATION_VALID_MS,
  invitationUrl,
  signInUrl,
} from './sign-in-links.ts'

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

/**
 * Queues an email with a link that signs the member in. If members must use the identity provider of the organisation, the email links to
 * the sign-in page with the provider instead. The organisation must be locked, unless the member is new.
 */
export async function sendInvitation(tx: Tx, deps: EmailDeps, member: Member, organisation: string): Promise<void> {
  const { org_id, email, name, role } = member
  const publicUrl = deps.config.publicUrl!
  const organisationName = breakLinks(organisation)
  const subject = `You have been added to ${organisationName}`
  const intro = `You now have access to ${organisationName} on Attestry, with the role ${role}.`
  const provider = await findProviderOf(tx, org_id)
  const useProvider = provider?.required === true
  const link = useProvider
    ? providerSignInUrl(publicUrl, org_id)
    : invitationUrl(publicUrl, org_id, await createInvitation(tx, deps.clock, member))
  const instructions = useProvider
    ? `This organisation requires that you sign in with ${breakLinks(provider.name)}. Use this link:`
    : `Use this link to sign in. It works once and expires in ${INVITATION_VALID_MS / DAY} days. Do not share it.`
  const later = useProvider
    ? []
    : [
        `Later, or if the link does not work, open ${publicUrl}/console and enter ${email}. You will receive a new sign-in link by email.`,
      ]
  const greeting = name === null ? [] : [`Hello ${breakLinks(name)},`]
  const disclaimer = 'If you do not know why you received this email, you can ignore it.'
  await queueEmail(tx, deps, {
    kind: 'invitation',
    to: { ...(name === null ? {} : { name }), address: email },
    scope: { orgId: org_id, mode: 'live' },
    subject,
    text: [...greeting, intro, instructions, link, ...later, disclaimer].join('\n\n'),
    html: emailHtml(subject, [
      ...[...greeting, intro, instructions].map(emailParagraph),
      emailButton('Sign in', link),
      ...[...later, disclaimer].map(emailParagraph),
    ]),
  })
}

/** Queues an email to a new operator. It contains no sign-in link, which would expire too soon. */
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
