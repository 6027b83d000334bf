import { queueEmail } from '../../mail/mail.ts'
import type { Tx } from '../../platform/database/database.ts'
import { breakLinks } from '../../platform/text/links.ts'
import type { HealthDeps } from '../../webhooks/delivery/health.ts'
import { emailButton, emailHtml, emailParagraph } from '../email-parts.ts'

/** Emails the owners of an organisation when all deliveries to one of its endpoints have failed for a day. */
export async function emailOwnersAboutFailingEndpoint(tx: Tx, deps: HealthDeps, webhookId: string): Promise<void> {
  const owners = await tx
    .selectFrom('webhooks as w')
    .innerJoin('organisations as o', 'o.org_id', 'w.org_id')
    .innerJoin('console_members as m', 'm.org_id', 'w.org_id')
    .select(['w.org_id', 'w.mode', 'w.url', 'o.name', 'm.email'])
    .where('w.webhook_id', '=', webhookId)
    .where('m.role', '=', 'owner')
    .orderBy('m.member_id')
    .execute()
  for (const { org_id: orgId, mode, url, name: organisationName, email } of owners) {
    const name = breakLinks(organisationName)
    const link = `${deps.config.publicUrl}/console/${orgId}/${mode}/webhooks/${webhookId}`
    const subject = `A webhook endpoint of ${name} is failing`
    const intro = `All deliveries to the webhook endpoint ${url} of ${name} (${mode.toUpperCase()}) have failed for a day.`
    const instructions =
      'The endpoint stays enabled: events are stored for 30 days, and deliveries are retried. View its responses:'
    await queueEmail(tx, deps, {
      kind: 'notice',
      to: { address: email },
      scope: { orgId, mode: mode as 'test' | 'live' },
      subjectId: webhookId,
      subject,
      text: [intro, instructions, link].join('\n\n'),
      html: emailHtml(subject, [
        emailParagraph(intro),
        emailParagraph(instructions),
        emailButton('Open the endpoint', link),
      ]),
    })
  }
}
