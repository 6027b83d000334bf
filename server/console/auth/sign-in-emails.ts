import type { FastifyRequest } from 'fastify'
import { type EmailDeps, queueEmail } from '../../mail/mail.ts'
import { pageLanguageOf } from '../../mail/unsubscribe-texts.ts'
import { DAY, MINUTE } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { runTransactionForAllOrganisations } from '../../platform/database/transaction-scope.ts'
import { defineJob } from '../../platform/jobs/queue.ts'
import { breakLinks } from '../../platform/text/links.ts'
import type { AuditSource } from '../audit.ts'
import { emailButton, emailHtml, emailParagraph } from '../email-parts.ts'
import { findProviderOf } from '../identity-providers/identity-providers.ts'
import { providerSignInUrl } from '../identity-providers/paths.ts'
import { type AccountLanguage, findInvitingLanguage, findLanguage } from './account-language.ts'
import { listMemberships, type Member } from './members.ts'
import { findOperator } from './operators.ts'
import { SIGN_IN_EMAIL_TEXTS } from './sign-in-email-texts.ts'
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
  /** The language of the sign-in page. Jobs that were queued by an earlier version have none. */
  language?: AccountLanguage
  /** Jobs that were queued by an earlier version have no source and no request ID. */
  source?: AuditSource
  requestId?: string
}

/**
 * Emails a sign-in link to a member or an operator, in their language, or else in that of the sign-in page. Returns false if no account has
 * the address.
 */
export async function sendSignInLink(
  tx: Tx,
  deps: EmailDeps,
  { email: submittedEmail, language: pageLanguage }: Pick<SignInRequest, 'email' | 'language'>,
): Promise<boolean> {
  const [membership] = await listMemberships(tx, submittedEmail)
  // Sent to the stored address: a different submitted address can have the same lower-case form.
  const email = membership?.email ?? (await findOperator(tx, submittedEmail))?.email
  if (email === undefined) return false
  const token = await createSignInLink(tx, deps.clock, email)
  const link = signInUrl(deps.config.publicUrl!, token)
  const language = (await findLanguage(tx, email)) ?? pageLanguage ?? 'en'
  const { subject, button, disclaimer, ...texts } = SIGN_IN_EMAIL_TEXTS[language].link
  const intro = texts.intro(EMAIL_LINK_VALID_MS / MINUTE)
  await queueEmail(tx, deps, {
    kind: 'sign_in',
    to: { address: email },
    subject,
    text: [intro, link, disclaimer].join('\n\n'),
    html: emailHtml(language, subject, [emailParagraph(intro), emailButton(button, link), emailParagraph(disclaimer)]),
  })
  return true
}

/** The person who adds a member or an operator, and the language of their page. */
export interface Inviter {
  email: string
  pageLanguage: AccountLanguage
}

export function inviterOf(request: FastifyRequest): Inviter {
  return { email: request.session.email, pageLanguage: pageLanguageOf(request) }
}

/**
 * Queues an email with a link that signs the member in. If members must use the identity provider of the organisation, the email links to
 * the sign-in page with the provider instead. The email is in the language of the member, or else in that of the organisation or of the
 * inviter's page. The organisation must be locked, unless the member is new.
 */
export async function sendInvitation(
  tx: Tx,
  deps: EmailDeps,
  member: Member,
  organisation: string,
  inviter: Inviter,
): Promise<void> {
  const { org_id, email, name, role } = member
  const publicUrl = deps.config.publicUrl!
  const organisationName = breakLinks(organisation)
  // The person may have chosen a language in another organisation.
  const chosen = await runTransactionForAllOrganisations(tx, () => findLanguage(tx, email))
  const language = chosen ?? (await findInvitingLanguage(tx, org_id, inviter.email)) ?? inviter.pageLanguage
  const { button, disclaimer, ...texts } = SIGN_IN_EMAIL_TEXTS[language].invitation
  const subject = texts.subject(organisationName)
  const intro = texts.intro(organisationName, role)
  const provider = await findProviderOf(tx, org_id)
  const useProvider = provider?.required === true
  const link = useProvider
    ? providerSignInUrl(publicUrl, org_id)
    : invitationUrl(publicUrl, org_id, await createInvitation(tx, deps.clock, member))
  const instructions = useProvider
    ? texts.useProvider(breakLinks(provider.name))
    : texts.useLink(INVITATION_VALID_MS / DAY)
  const later = useProvider ? [] : [texts.later(`${publicUrl}/console`, email)]
  const greeting = name === null ? [] : [texts.greeting(breakLinks(name))]
  await queueEmail(tx, deps, {
    kind: 'invitation',
    to: { ...(name === null ? {} : { name }), address: email },
    scope: { orgId: org_id, mode: 'live' },
    subject,
    text: [...greeting, intro, instructions, link, ...later, disclaimer].join('\n\n'),
    html: emailHtml(language, subject, [
      ...[...greeting, intro, instructions].map(emailParagraph),
      emailButton(button, link),
      ...[...later, disclaimer].map(emailParagraph),
    ]),
  })
}

/** Queues an email to a new operator. It contains no sign-in link, which would expire too soon. */
export async function sendOperatorInvitation(tx: Tx, deps: EmailDeps, email: string, inviter: Inviter): Promise<void> {
  const link = `${deps.config.publicUrl}/console`
  const language = (await findLanguage(tx, email)) ?? (await findLanguage(tx, inviter.email)) ?? inviter.pageLanguage
  const { subject, intro, button, ...texts } = SIGN_IN_EMAIL_TEXTS[language].operator
  const instructions = texts.instructions(link, email)
  await queueEmail(tx, deps, {
    kind: 'notice',
    to: { address: email },
    subject,
    text: [intro, instructions].join('\n\n'),
    html: emailHtml(language, subject, [
      emailParagraph(intro),
      emailParagraph(instructions),
      emailButton(button, link),
    ]),
  })
}
