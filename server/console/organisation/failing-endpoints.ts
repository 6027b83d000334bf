import type { Mode } from '../../access/keys.ts'
import { queueEmail } from '../../mail/mail.ts'
import type { Tx } from '../../platform/database/database.ts'
import { breakLinks } from '../../platform/text/links.ts'
import type { HealthDeps } from '../../webhooks/delivery/health.ts'
import { languageOf } from '../auth/account-language.ts'
import { emailButton, emailHtml, emailParagraph } from '../email-parts.ts'
import { NOTICE_TEXTS } from './notice-texts.ts'

/** Emails the owners of an organisation when all deliveries to one of its endpoints have failed for a day. */
export async function emailOwnersAboutFailingEndpoint(tx: Tx, deps: HealthDeps, webhookId: string): Promise<void> {
  const owners = await tx
    .selectFrom('webhooks as w')
    .innerJoin('organisations as o', 'o.org_id', 'w.org_id')
    .innerJoin('console_members as m', 'm.org_id', 'w.org_id')
    .select(['w.org_id', 'w.mode', 'w.url', 'o.name', 'm.email', 'm.language'])
    .where('w.webhook_id', '=', webhookId)
    .where('m.role', '=', 'owner')
    .orderBy('m.member_id')
    .execute()
  for (const { org_id: orgId, mode: storedMode, url, name: organisationName, email, language: stored } of owners) {
    const mode = storedMode as Mode
    const language = languageOf(stored)
    const { instructions, button, ...texts } = NOTICE_TEXTS[language].endpoint
    const name = breakLinks(organisationName)
    const link = `${deps.config.publicUrl}/console/${orgId}/${mode}/webhooks/${webhookId}`
    const subject = texts.subject(name)
    const intro = texts.intro(name, mode, url)
    await queueEmail(tx, deps, {
      kind: 'notice',
      to: { address: email },
      scope: { orgId, mode },
      subjectId: webhookId,
      subject,
      text: [intro, instructions, link].join('\n\n'),
      html: emailHtml(language, subject, [
        emailParagraph(intro),
        emailParagraph(instructions),
        emailButton(button, link),
      ]),
    })
  }
}
