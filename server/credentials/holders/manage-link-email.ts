import type { OrgScope } from '../../access/caller.ts'
import { findEmailBrand } from '../../branding/email-brand.ts'
import { brandEmail, buttonHtml, emailHtml, linkHtml, paragraphHtml, smallHtml } from '../../mail/email-html.ts'
import { type EmailDeps, type NewEmail, queueEmail } from '../../mail/mail.ts'
import type { PersonKey } from '../../people/identity/person-key.ts'
import type { Tx } from '../../platform/database/database.ts'
import { LANGUAGES } from '../../platform/text/languages.ts'
import { translator } from '../pages/texts.ts'

interface ManageLink {
  scope: OrgScope
  person: { personId: string; key: PersonKey }
  address: string
  url: string
  language: string
  /** The name of the organisation, for a person who has credentials of several ones. */
  organisation?: string
}

/** Emails a person the link with which they manage their credentials, in their language. Only its hash is stored elsewhere. */
export async function emailManageLink(
  tx: Tx,
  deps: EmailDeps,
  { scope, person, address, url, language, organisation }: ManageLink,
): Promise<void> {
  const translate = translator(LANGUAGES.find((each) => each === language) ?? 'en')
  const issuer = organisation && (scope.mode === 'test' ? `${organisation} (TEST)` : organisation)
  const subject = translate('consent_manage') + (issuer ? ` · ${issuer}` : '')
  const note = translate('consent_manage_note')
  const brand = await findEmailBrand(tx, deps.config, scope.orgId)
  const email: NewEmail = {
    kind: 'notice',
    to: { address },
    scope,
    people: [person],
    subject: `${subject} · Attestry`,
    text: [`${subject}:\n${url}`, note].join('\n\n'),
    html: emailHtml({
      language,
      title: subject,
      body: [
        buttonHtml(translate('consent_manage'), url, brand),
        smallHtml(linkHtml(url, brand)),
        paragraphHtml(note),
      ].join('\n'),
      brand,
    }),
  }
  await queueEmail(tx, deps, brandEmail(email, brand))
}
